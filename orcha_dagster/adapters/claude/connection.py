"""The connection to the Messages API. An HTTP client belongs to its event loop, so there is one per loop."""

import asyncio
from ipaddress import ip_address
from urllib.parse import urlsplit

import anthropic
import httpx2

from orcha_dagster.adapters.claude.errors import translated
from orcha_dagster.domain.errors import ConfigurationError, ProviderRefused


class ClaudeConnection:
    """Made without connecting. `close` it in the loop of the calls; a client whose loop has ended is dropped."""

    def __init__(self, *, api_key: str | None, base_url: str | None, call_seconds: float) -> None:
        """`api_key`, `base_url`: None for what the SDK finds for itself (ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, …)."""
        self._is_local = base_url is not None and _is_loopback(base_url)
        if base_url is not None and urlsplit(base_url).scheme != "https" and not self._is_local:
            raise ConfigurationError(
                f"Claude at {base_url} would get documents without encryption.",
                remedy="Only a simulated Messages API on this machine (127.0.0.1) may be called without TLS.",
            )
        self._api_key = api_key
        self._base_url = base_url
        self._call_seconds = call_seconds
        self._clients: dict[asyncio.AbstractEventLoop, anthropic.AsyncAnthropic] = {}

    def client(self) -> anthropic.AsyncAnthropic:
        """The running loop's."""
        loop = asyncio.get_running_loop()
        self._clients = {owner: client for owner, client in self._clients.items() if not owner.is_closed()}
        if loop not in self._clients:
            with translated():
                self._clients[loop] = self._connect()
        return self._clients[loop]

    async def close(self) -> None:
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            with translated():
                await client.close()

    def _connect(self) -> anthropic.AsyncAnthropic:
        # A company's proxy must not get between two processes of this machine. Not the SDK's own client, which looks
        # for proxies whatever it is told.
        http_client = None
        if self._is_local:
            http_client = httpx2.AsyncClient(trust_env=False, limits=anthropic.DEFAULT_CONNECTION_LIMITS)
        client = anthropic.AsyncAnthropic(
            api_key=self._api_key,
            base_url=self._base_url,
            timeout=self._call_seconds,
            max_retries=0,  # when to try again is decided by us, with the attempts counted
            http_client=http_client,
        )
        if client.api_key is None and client.auth_token is None and client.credentials is None:
            raise ProviderRefused(
                "There are no credentials for Claude.",
                remedy="Set ANTHROPIC_API_KEY to a key of the Claude Console, or choose another extractor; then "
                "`orcha retry --code PROVIDER_REFUSED`.",
            )
        return client


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
