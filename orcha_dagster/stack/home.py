"""The folder in which one Orcha stack keeps everything: its paths, its permissions and the lock that makes it the only
user of the folder. What runs inside it is the business of the supervisor."""

import fcntl
import hashlib
import os
import re
import stat
import tempfile
from pathlib import Path
from typing import IO

from orcha_dagster.domain.errors import ConfigurationError

# The kernel's limit for a socket's path is 104 bytes on macOS and 108 on Linux, with the closing zero.
_LONGEST_SOCKET_PATH = 100
_SOCKET_NAME = ".s.PGSQL.5432"
# Anything else needs quoting in a URL, and not every reader of the URL undoes that.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._-]+")


class HomeInUse(ConfigurationError):
    """Another process runs a stack in this home. `pid` is None for the moment between its lock and its first write."""

    def __init__(self, root: Path, pid: int | None) -> None:
        holder = f"process {pid}" if pid else "another process"
        super().__init__(
            f"The Orcha home {root} is in use by {holder}.",
            remedy="Stop that one first, or set ORCHA_HOME to another folder.",
        )
        self.pid = pid


class OrchaHome:
    """Paths below one root. Nothing exists before `prepare`."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().resolve()
        self.postgres_data = self.root / "postgres" / "data"
        self.postgres_socket = _socket_directory(self.root)
        self.logs = self.root / "logs"
        self.queue_state = self.root / "queue"
        self.objects = self.root / "objects"
        self.dagster_storage = self.root / "dagster"
        self.stack_env = self.root / "stack.env"
        self.lock = self.root / "stack.lock"
        self._held_lock: IO[str] | None = None

    def prepare(self) -> None:
        """Create every folder, for this user only."""
        self._make_private(self.root)
        for folder in (self.logs, self.queue_state, self.objects, self.dagster_storage, self.postgres_data.parent):
            self._make_private(folder)
        self._make_private(self.postgres_socket)
        _refuse_a_foreign_folder(self.postgres_socket)
        try:
            with tempfile.TemporaryFile(dir=self.root):
                pass
        except OSError as error:
            raise self._cannot_write(self.root, error) from error

    def acquire_lock(self) -> None:
        """Hold the home until this process ends or calls `release_lock`; the kernel lets go even after kill -9."""
        if self._held_lock is not None:
            return
        try:
            lock_file = self.lock.open("a+", encoding="ascii")
        except OSError as error:
            raise self._cannot_write(self.lock, error) from error
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock_file.close()
            raise HomeInUse(self.root, self.find_holder()) from None
        except OSError as error:
            lock_file.close()
            raise self._cannot_write(self.lock, error) from error
        lock_file.truncate(0)
        lock_file.write(str(os.getpid()))
        lock_file.flush()
        self._held_lock = lock_file

    @property
    def is_held(self) -> bool:
        """Whether this object has the lock."""
        return self._held_lock is not None

    def release_lock(self) -> None:
        if self._held_lock is not None:
            self._held_lock.close()
            self._held_lock = None

    def find_holder(self) -> int | None:
        """The process that has the lock, or had it last."""
        try:
            return int(self.lock.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def is_in_use(self) -> bool:
        """Whether a stack runs here. The file stack.env alone does not say so: after kill -9 it stays."""
        try:
            with self.lock.open(encoding="ascii") as lock_file:
                fcntl.flock(lock_file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def port_in(self, ports: range) -> int:
        """The same port at every start, and very likely another one than that of a second home on this machine."""
        return ports[int(_digest(self.root), 16) % len(ports)]

    def _make_private(self, folder: Path) -> None:
        try:
            # A folder that was there keeps its permissions: somebody may have chosen /tmp or the home of their user.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise self._cannot_write(folder, error) from error

    def _cannot_write(self, path: Path, error: OSError) -> ConfigurationError:
        return ConfigurationError(
            f"Orcha cannot write to {path}: {error.strerror or error}.",
            remedy="Set ORCHA_HOME to a folder you can write.",
        )


def _socket_directory(root: Path) -> Path:
    """Below the home, unless the path is too long for a socket or would need quoting in a URL."""
    below_home = root / "postgres" / "run"
    short_enough = len(os.fsencode(below_home / _SOCKET_NAME)) <= _LONGEST_SOCKET_PATH
    if short_enough and _PLAIN_PATH.fullmatch(str(below_home)):
        return below_home
    # Not gettempdir(): TMPDIR differs between terminals and may itself be long; the name must be the same for all.
    return Path(f"/tmp/orcha-{os.geteuid()}-{_digest(root)}")  # noqa: S108


def _digest(root: Path) -> str:
    return hashlib.sha1(os.fsencode(root), usedforsecurity=False).hexdigest()[:10]


def _refuse_a_foreign_folder(folder: Path) -> None:
    """Somebody else could have made the folder in /tmp first and would then own our socket."""
    found = folder.lstat()
    # As root PostgreSQL may have to run as another user (see postgres_account), who then owns the folder.
    trusted = os.geteuid() == 0 or found.st_uid == os.geteuid()
    if not trusted or not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o077:
        raise ConfigurationError(
            f"{folder} belongs to somebody else or others may enter it.",
            remedy="Remove it, or set ORCHA_HOME to a folder with a short path.",
        )
