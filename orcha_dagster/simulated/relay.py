"""A TCP relay on loopback whose connections can be broken from the inside, which a gRPC server cannot do itself."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress

HOST = "127.0.0.1"
_CHUNK_BYTES = 1 << 18
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Relay:
    def __init__(self, backend_port: int) -> None:
        self.port = 0
        self._backend_port = backend_port
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._accept, HOST, port, limit=_CHUNK_BYTES)
        self.port = int(self._server.sockets[0].getsockname()[1])

    def reset_connections(self) -> None:
        """Callers see their connections reset, as when a machine goes away."""
        for caller in list(self._connections.values()):
            caller.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            caller.transport.abort()

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        connections = list(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    def _accept(self, from_caller: asyncio.StreamReader, to_caller: asyncio.StreamWriter) -> None:
        connection = asyncio.get_running_loop().create_task(self._relay(from_caller, to_caller))
        self._connections[connection] = to_caller
        connection.add_done_callback(self._connections.pop)

    async def _relay(self, from_caller: asyncio.StreamReader, to_caller: asyncio.StreamWriter) -> None:
        with suppress(OSError):  # one side is gone; the other learns it at the end
            async with _closing(to_caller):
                from_backend, to_backend = await asyncio.open_connection(HOST, self._backend_port, limit=_CHUNK_BYTES)
                async with _closing(to_backend):
                    await _first_to_end(_pump(from_caller, to_backend), _pump(from_backend, to_caller))


@asynccontextmanager
async def _closing(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    try:
        yield
    finally:
        writer.transport.abort()


async def _first_to_end(*pumps: Coroutine[None, None, None]) -> None:
    """HTTP/2 has no use for a connection that is open in one direction only."""
    tasks = [asyncio.ensure_future(pump) for pump in pumps]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await source.read(_CHUNK_BYTES):
            target.write(chunk)
            await target.drain()
