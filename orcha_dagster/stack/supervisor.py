"""Starts the whole stack on one machine, keeps it running and stops it. What each part is lies in the modules next to
this one; signals and the words on the screen belong to the command line."""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.stack.addresses import StackAddresses, dagster_environment, orcha_variables, write_stack_env
from orcha_dagster.stack.dagster_processes import DEFINITIONS, CodeServer, Daemon, WebServer
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.postgres_server import PostgresServer, find_binaries
from orcha_dagster.stack.processes import DoesNotAnswer, PortTaken, StopRequested, end_leftovers, free_port
from orcha_dagster.stack.queue_server import QueueServer
from orcha_dagster.stack.unfinished_runs import wait_for_runs

_CODE_SERVER_PORTS = range(25_000, 30_000)
_WATCH_SECONDS = 1.0
_MOST_RESTARTS = 5
_RESTART_WINDOW_SECONDS = 300


class Service(Protocol):
    """A part that can be started, watched and stopped."""

    @property
    def name(self) -> str: ...

    def start(self) -> None: ...

    def wait_ready(self, cancelled: threading.Event | None = None) -> None: ...

    def is_running(self) -> bool: ...

    def stop(self) -> None: ...


class Stack:
    """One run of everything in one home.

    `environment` is what the Dagster processes get, with the addresses of the embedded parts added; addresses of parts
    that are not embedded must be in it. `migrate` gets the database's URL before anything uses it.
    """

    def __init__(
        self,
        home: OrchaHome,
        project: Path,
        environment: dict[str, str],
        *,
        embedded_database: bool,
        embedded_queue: bool,
        ui_port: int,
        say: Callable[[str], None],
        migrate: Callable[[str], None],
        definitions: str = DEFINITIONS,
        services: Sequence[Service] = (),
    ) -> None:
        """`services`: started before Dagster, besides its own."""
        self._home = home
        self._project = project
        self._environment = environment
        self._embedded_database = embedded_database
        self._embedded_queue = embedded_queue
        self._ui_port = ui_port
        self._say = say
        self._migrate = migrate
        self._definitions = definitions
        self._services = services
        self._started: list[Service] = []
        self._stop_requested = threading.Event()
        self._restarts: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=_MOST_RESTARTS + 1))

    def start(self) -> StackAddresses:
        """Return when everything is ready. Otherwise what was started is stopped again; StopRequested if asked to."""
        try:
            return self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop what was started, the last first. All data stays. Safe to call at any time and again."""
        while self._started:
            self._started[-1].stop()
            self._started.pop()
        if self._home.is_held:
            self._home.stack_env.unlink(missing_ok=True)
            self._home.release_lock()

    @property
    def ui_url(self) -> str:
        """Known when everything is ready."""
        return f"http://127.0.0.1:{self._ui_port}"

    def request_stop(self) -> None:
        """Make `wait` return, or a `start` that is under way raise StopRequested. For signal handlers."""
        self._stop_requested.set()

    def wait(self) -> None:
        """Block until a stop is requested, and restart what dies meanwhile, each without waiting for the others."""
        under_way: dict[str, Future[None]] = {}
        with ThreadPoolExecutor(len(self._started) or 1, thread_name_prefix="restart") as threads:
            while not self._stop_requested.wait(_WATCH_SECONDS):
                for service in self._started:
                    restart = under_way.get(service.name)
                    if restart is not None and restart.done():
                        under_way.pop(service.name).result()
                    if service.name not in under_way and not service.is_running():
                        under_way[service.name] = threads.submit(self._restart, service)
        for restart in under_way.values():
            restart.result()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Restart what dies while the body runs."""
        watcher = threading.Thread(target=self._wait_quietly, name="stack-watcher")
        watcher.start()
        try:
            yield
        finally:
            self.request_stop()
            watcher.join()

    def wait_for_runs(self, *, seconds: float) -> bool:
        """Until Dagster has finished what it began, so that a stop cuts nothing short; False when that takes longer."""
        return wait_for_runs(self._ui_port, seconds=seconds)

    def _wait_quietly(self) -> None:
        try:
            self.wait()
        except ConfigurationError as error:
            self._say(str(error))

    def _start(self) -> StackAddresses:
        self._home.prepare()
        self._home.acquire_lock()
        self._home.stack_env.unlink(missing_ok=True)  # of a killed stack: nobody is at these addresses any more
        self._end_leftovers()
        database_url, dagster_database_url = self._start_database()
        queue_url = self._start_queue()
        self._migrate(database_url)
        for service in self._services:
            self._start_service(service)
        code_server_port = free_port(self._home.port_in(_CODE_SERVER_PORTS))
        addresses = StackAddresses(
            database_url=database_url,
            dagster_database_url=dagster_database_url,
            queue_url=queue_url,
            code_server_port=code_server_port,
        )
        variables = orcha_variables(self._home, addresses, self._environment.get("ORCHA_OBJECT_STORE"))
        self._start_dagster(dagster_environment(self._environment, variables, self._project), code_server_port)
        write_stack_env(self._home, variables)
        return addresses

    def _end_leftovers(self) -> None:
        spared = find_binaries() if self._embedded_database else None
        ended = end_leftovers(self._home, except_executables_in=spared)
        if ended:
            self._say(f"An earlier start was killed; the {len(ended)} processes it left have been ended.")

    def _start_database(self) -> tuple[str, str]:
        if not self._embedded_database:
            return self._given("ORCHA_DATABASE_URL"), self._given("ORCHA_DAGSTER_DATABASE_URL")
        server = PostgresServer(self._home)
        self._start_service(server)
        return server.ensure_database("orcha"), server.ensure_database("dagster")

    def _start_queue(self) -> str:
        if not self._embedded_queue:
            return self._given("ORCHA_QUEUE_URL")
        server = QueueServer(self._home)
        self._start_service(server)
        return server.ensure_queue()

    def _start_dagster(self, environment: dict[str, str], code_server_port: int) -> None:
        """The code server first: the other two would otherwise begin with a location that cannot be reached."""
        home, project = self._home, self._project
        self._start_service(CodeServer(environment, home, project, code_server_port, self._definitions))
        daemon = Daemon(environment, home, project)
        self._begin(daemon)  # together with the web server, since each spends seconds on imports
        self._start_web_server(environment)
        self._wait_ready(daemon)

    def _start_web_server(self, environment: dict[str, str]) -> None:
        """Another stack that starts now may take the port after we found it free; then it is the next one."""
        while True:
            self._choose_ui_port()
            server = WebServer(environment, self._home, self._project, self._ui_port)
            try:
                return self._start_service(server)
            except PortTaken:
                server.stop()
                self._started.remove(server)

    def _start_service(self, service: Service) -> None:
        self._begin(service)
        self._wait_ready(service)

    def _begin(self, service: Service) -> None:
        self._started.append(service)
        service.start()

    def _wait_ready(self, service: Service) -> None:
        try:
            service.wait_ready(self._stop_requested)
        except DoesNotAnswer:
            # Seen once in hundreds of starts: a web server that hung before it listened. Another one does not.
            self._say(f"The {service.name} does not answer; starting it again.")
            service.stop()
            service.start()
            service.wait_ready(self._stop_requested)
        self._say(f"The {service.name} is ready.")

    def _restart(self, service: Service) -> None:
        restarts = self._restarts[service.name]
        restarts.append(time.monotonic())
        recent = sum(1 for at in restarts if restarts[-1] - at < _RESTART_WINDOW_SECONDS)
        if recent > _MOST_RESTARTS:
            self.request_stop()
            raise ConfigurationError(
                f"The {service.name} keeps ending, after {_MOST_RESTARTS} restarts in a few minutes.",
                remedy=f"Read the logs in {self._home.logs}.",
            )
        self._say(f"The {service.name} has ended; starting it again.")
        service.stop()
        service.start()
        try:
            service.wait_ready(self._stop_requested)
        except StopRequested:
            return
        except ConfigurationError as error:
            # Perhaps it needs a part that is itself being started again; the watch tries once more.
            self._say(f"The {service.name} did not start: {error.message.splitlines()[0]}")
            return
        self._say(f"The {service.name} is ready again.")

    def _choose_ui_port(self) -> None:
        port = free_port(self._ui_port)
        if port != self._ui_port:
            self._say(f"Port {self._ui_port} is taken; the UI is on {port}.")
            self._ui_port = port

    def _given(self, name: str) -> str:
        value = self._environment.get(name)
        if not value:
            raise ConfigurationError(f"{name} is not set.", remedy=f"Set {name}, or use the embedded server.")
        return value
