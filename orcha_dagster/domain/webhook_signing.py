"""How a webhook's request is signed, and how its receiver finds out that it is ours, fresh and no repeat.

Only the standard library and plain values: a receiver in Python may copy this module. Sending is the sink's.

The signature is HMAC-SHA256, with the shared secret, over these lines joined by a line feed:
    v1 · the method · the path with its query · the date header · the SHA-256 of the body, in hex
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

DATE_HEADER = "Orcha-Date"  # when it was sent: 2026-05-04T12:00:00.000000Z
DIGEST_HEADER = "Orcha-Content-SHA256"  # for logs; a receiver works it out for itself
SIGNATURE_HEADER = "Orcha-Signature"  # v1=…
WINDOW_SECONDS = 300.0
_VERSION = "v1"


class WebhookRejected(Exception):
    """The receiver must not act on this request; the text says why."""


def sign_request(secret: str, *, method: str, path: str, body: bytes, sent_at: datetime) -> dict[str, str]:
    """The headers that go with the body. `path` with its query, as it stands in the request line."""
    date = sent_at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    digest = hashlib.sha256(body).hexdigest()
    return {
        DATE_HEADER: date,
        DIGEST_HEADER: digest,
        SIGNATURE_HEADER: f"{_VERSION}={_signature(secret, method, path, date, digest)}",
    }


def verify_request(
    secret: str,
    *,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    now: datetime,
    window_seconds: float = WINDOW_SECONDS,
) -> str:
    """The signature, for the receiver to remember for twice the window and to refuse when it comes again: a delivery
    that is repeated has another date and so another signature; only a replay has the same. Raises WebhookRejected."""
    given = {name.lower(): value for name, value in headers.items()}
    date = given.get(DATE_HEADER.lower(), "")
    expected = _signature(secret, method, path, date, hashlib.sha256(body).hexdigest())
    signature = given.get(SIGNATURE_HEADER.lower(), "")
    # As bytes: compare_digest takes no text outside of ASCII, and the header may hold anything.
    if not hmac.compare_digest(f"{_VERSION}={expected}".encode(), signature.encode()):
        raise WebhookRejected("The signature does not fit the request.")
    if abs(now - _parse_date(date)) > timedelta(seconds=window_seconds):
        raise WebhookRejected("The request is too old, or from the future.")
    return expected


def _signature(secret: str, method: str, path: str, date: str, digest: str) -> str:
    signed = "\n".join([_VERSION, method.upper(), path, date, digest])
    return hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()


def _parse_date(date: str) -> datetime:
    try:
        moment = datetime.fromisoformat(date)
    except ValueError as error:
        raise WebhookRejected("The date cannot be read.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
