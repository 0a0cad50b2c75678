"""How a webhook's request is signed, and what its receiver refuses."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orcha_dagster.domain.webhook_signing import WebhookRejected, sign_request, verify_request

SECRET = "secret"
SENT_AT = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)
REQUEST: dict[str, Any] = {"method": "POST", "path": "/events?tenant=1", "body": b'{"events":[]}'}


def sign(**changes: Any) -> dict[str, str]:
    return sign_request(SECRET, **{**REQUEST, "sent_at": SENT_AT, **changes})


def verify(headers: dict[str, str], *, secret: str = SECRET, **changes: Any) -> str:
    return verify_request(secret, **{**REQUEST, "headers": headers, "now": SENT_AT, **changes})


def test_the_signature_is_what_the_documentation_says() -> None:
    """Worked out with: printf 'v1\\nPOST\\n…' | openssl dgst -sha256 -hmac secret"""
    assert sign() == {
        "Orcha-Date": "2026-05-04T12:00:00.123456Z",
        "Orcha-Content-SHA256": "24de1c4a19c43ad41b013f13dcd858c17b0daa7f33a53f19913e5b11366d1c2e",
        "Orcha-Signature": "v1=feb660c4e34f5585474b40327c087f2ed6e950e48ff4a481c30c719e556f5c92",
    }


def test_the_receiver_takes_what_was_sent_and_gets_the_signature_to_remember() -> None:
    headers = sign()
    assert f"v1={verify(headers)}" == headers["Orcha-Signature"]


def test_names_of_headers_may_be_written_in_any_way() -> None:
    assert verify({name.upper(): value for name, value in sign().items()})


@pytest.mark.parametrize(
    "changes",
    [
        {"body": b'{"events":[1]}'},
        {"path": "/events?tenant=2"},
        {"method": "PUT"},
        {"secret": "another"},
        {"headers": {**sign(), "Orcha-Date": "2026-05-04T12:00:01.000000Z"}},
        {"headers": {**sign(), "Orcha-Signature": sign()["Orcha-Signature"].removeprefix("v1=")}},
        {"headers": {**sign(), "Orcha-Signature": "v1=ÄÖÜ"}},
        {"headers": {}},
    ],
)
def test_what_was_changed_on_the_way_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(WebhookRejected, match="signature"):
        verify(**{"headers": sign(), **changes})


@pytest.mark.parametrize("seconds", [-301, 301, 86_400 * 400])
def test_what_is_old_or_from_the_future_is_refused(seconds: float) -> None:
    with pytest.raises(WebhookRejected, match="too old, or from the future"):
        verify(sign(), now=SENT_AT + timedelta(seconds=seconds))


@pytest.mark.parametrize("seconds", [-299, 0, 299])
def test_clocks_may_differ_by_minutes(seconds: float) -> None:
    assert verify(sign(), now=SENT_AT + timedelta(seconds=seconds))


def test_a_second_delivery_of_the_same_events_has_another_signature_and_a_replay_has_not() -> None:
    first, second = verify(sign()), verify(sign(sent_at=SENT_AT + timedelta(microseconds=1)))
    assert first != second
    assert verify(sign()) == first
