"""Chromium, without a window, for tests that look at a page. One process per look, each with a profile of its own.

Whatever it asks of any network goes to a proxy on loopback, which writes it down and has nothing to give.
"""

import os
import shutil
import signal
import socketserver
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

_SECONDS = 60
_OPTIONS = (
    "--headless",
    "--no-sandbox",  # tests may run as root
    "--disable-gpu",
    "--disable-dev-shm-usage",  # containers have little of it
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--proxy-bypass-list=<-loopback>",  # loopback as well
)
# Whom Chromium asks for itself whatever the page is: the time, its updates, whether somebody is signed in.
_ITS_OWN = {
    "accounts.google.com",
    "android.clients.google.com",
    "clients2.google.com",
    "clientservices.googleapis.com",
    "optimizationguide-pa.googleapis.com",
    "redirector.gvt1.com",
    "safebrowsing.googleapis.com",
    "update.googleapis.com",
}


@dataclass(frozen=True)
class Chromium:
    program: str
    proxy: str
    _requests: list[str]  # the first line of each

    @property
    def hosts(self) -> list[str]:
        """Whom the pages have asked for something."""
        asked = [line.split(" ")[1] for line in self._requests if line.count(" ") == 2]
        hosts = [urlsplit(address if "//" in address else f"//{address}").hostname or address for address in asked]
        return [host for host in hosts if host not in _ITS_OWN]

    def dump(self, page: Path) -> str:
        """The document as it stands when it is loaded and its scripts have run."""
        return self._run(page, "--window-size=1400,1000", "--dump-dom").decode("utf-8")

    def take_picture(self, page: Path, *, width: int = 1200, height: int = 1000, is_dark: bool = False) -> bytes:
        """A PNG of the upper part."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "picture.png"
            dark = ["--force-dark-mode"] if is_dark else []
            self._run(page, f"--window-size={width},{height}", f"--screenshot={file}", *dark)
            return file.read_bytes()

    def _run(self, page: Path, *options: str) -> bytes:
        with tempfile.TemporaryDirectory(prefix="orcha-chromium-", ignore_cleanup_errors=True) as profile:
            own = (f"--user-data-dir={profile}", f"--proxy-server={self.proxy}")
            # It keeps caches and settings beside the profile as well.
            environment = {"PATH": os.environ["PATH"], "HOME": profile, "TMPDIR": profile, "LANG": "C.UTF-8"}
            return _run([self.program, *_OPTIONS, *own, *options, page.as_uri()], environment)


@contextmanager
def running_chromium() -> Iterator[Chromium]:
    requests: list[str] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            requests.append(self.rfile.readline(4096).decode("latin-1").strip())
            with suppress(ConnectionError):
                self.wfile.write(b"HTTP/1.1 503 Not here\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Chromium(find_chromium(), f"http://127.0.0.1:{proxy.server_address[1]}", requests)
        finally:
            proxy.shutdown()
            thread.join()


def find_chromium() -> str:
    """$CHROMIUM, or what is called chromium. Never a skip: a page that nobody has looked at is not tested."""
    wanted = os.environ.get("CHROMIUM") or "chromium"
    found = shutil.which(wanted)
    if found is None:
        raise AssertionError(
            f"There is no {wanted}: install Chromium with `apt-get install chromium`, or name one in $CHROMIUM."
        )
    return found


def _run(command: list[str], environment: dict[str, str]) -> bytes:
    """In a group of its own, because Chromium is many processes, and none may stay behind."""
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as child:
        try:
            output, complaints = child.communicate(timeout=_SECONDS)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
    assert child.returncode == 0, complaints.decode(errors="replace")[-2000:]
    return output
