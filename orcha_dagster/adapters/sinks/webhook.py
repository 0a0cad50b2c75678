"""Events as signed POST requests to somebody's address. How they are signed is in `domain/webhook_signing`."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import httpx2

from orcha_dagster.adapters.aws_connection import is_loopback
from orcha_dagster.adapters.sinks.grouping import group_by_size
from orcha_dagster.domain.errors import ConfigurationError, SinkUnavailable
from orcha_dagster.domain.logged_events import LoggedEvent, to_json_text
from orcha_dagster.domain.webhook_signing import sign_request
from orcha_dagster.interfaces.event_sink import EventSink

_SETTING = "ORCHA_EVENTS_WEBHOOK_URL"
_MAY_PASS = {408, 425, 429}  # of the 4xx; the others stay until a person does something
_MOST_EVENTS = 100
_MOST_BYTES = 1_000_000  # of one body; many servers refuse more than 1 MiB unless they are told otherwise
_MOST_EVENT_BYTES = 262_144  # as SNS has it


class WebhookSink(EventSink):
    name = "webhook"
    most_at_once = _MOST_EVENTS

    def __init__(
        self,
        url: str,
        *,
        secret: str | None,
        call_seconds: float = 5.0,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._url = url
        self._secret = secret
        self._call_seconds = call_seconds
        self._clock = clock

    def deliver(self, events: Sequence[LoggedEvent]) -> None:
        secret = self._check_setup()
        texts = [to_json_text(event, most_bytes=_MOST_EVENT_BYTES) for event in events]
        for group in group_by_size(texts, most=_MOST_EVENTS, most_bytes=_MOST_BYTES, size=len):
            with _translated():
                status = asyncio.run(self._send(self._sign(group, secret)))
            _check_status(status)

    def _sign(self, texts: Sequence[str], secret: str) -> httpx2.Request:
        body = f'{{"events":[{",".join(texts)}]}}'.encode()
        request = httpx2.Request("POST", self._url, content=body, headers={"Content-Type": "application/json"})
        path = request.url.raw_path.decode()
        request.headers.update(sign_request(secret, method="POST", path=path, body=body, sent_at=self._clock()))
        return request

    async def _send(self, request: httpx2.Request) -> int:
        """The status only: the body could be anything and go on for ever. The limit is for the whole call, not for each
        piece that arrives. Redirections are not followed: the signature is for this address."""
        async with (
            asyncio.timeout(self._call_seconds),
            # A company's proxy must not get between two processes of this machine.
            httpx2.AsyncClient(trust_env=not is_loopback(request.url.host), timeout=None) as client,
        ):
            response = await client.send(request, stream=True)
            await response.aclose()
            return response.status_code

    def _check_setup(self) -> str:
        with _translated():
            url = httpx2.URL(self._url)
        if not url.host or not (url.scheme == "https" or (url.scheme == "http" and is_loopback(url.host))):
            raise ConfigurationError(
                f"{_SETTING} is no address with encryption.",
                remedy="It begins with https://; only a receiver on this machine (127.0.0.1) may do without.",
            )
        if not self._secret:
            raise ConfigurationError(
                "There is no secret to sign the webhook's requests with.",
                remedy="Set ORCHA_EVENTS_WEBHOOK_SECRET, here and at the receiver.",
            )
        return self._secret


def _check_status(status: int) -> None:
    if 200 <= status < 300:
        return
    if status >= 500 or status in _MAY_PASS:
        raise SinkUnavailable(f"The webhook answered {status}.")
    raise ConfigurationError(
        f"The webhook answered {status}.", remedy=f"Look at the receiver's log; correct {_SETTING}, or the secret."
    )


@contextmanager
def _translated() -> Iterator[None]:
    """The one place where the HTTP client's errors become ours. Their texts may hold the address, and that a token."""
    try:
        yield
    except TimeoutError as error:
        raise SinkUnavailable("The webhook did not answer in time.") from error
    except httpx2.InvalidURL as error:
        raise ConfigurationError(f"{_SETTING} is no address.", remedy="It begins with https://.") from error
    except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
        raise SinkUnavailable(f"The webhook does not answer ({type(error).__name__}).") from error
