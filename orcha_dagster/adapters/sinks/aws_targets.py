"""What SNS and Firehose share: a target that may be named by its ARN, and a client that gives up within seconds."""

from contextlib import AbstractContextManager
from typing import NamedTuple

from botocore.config import Config

from orcha_dagster.adapters.aws_connection import AwsClient, translated_boto_errors
from orcha_dagster.domain.errors import ConfigurationError, SinkUnavailable

CALL_SECONDS = 4.0  # for an answer; a tick must not wait long for one sink
_CONNECT_SECONDS = 2.0


class Arn(NamedTuple):
    """arn:{partition}:{service}:{region}:{account}:{resource}"""

    service: str
    region: str
    resource: str


def find_arn(text: str) -> Arn | None:
    parts = text.split(":", 5)
    if len(parts) != 6 or parts[0] != "arn" or not parts[3] or not parts[5]:
        return None
    return Arn(parts[2], parts[3], parts[5])


def open_client(service: str, *, endpoint_url: str | None, region: str | None, call_seconds: float) -> AwsClient:
    # The next tick tries again, so boto does not.
    once = {"total_max_attempts": 1}
    config = Config(connect_timeout=_CONNECT_SECONDS, read_timeout=call_seconds, retries=once)
    return AwsClient(service, endpoint_url=endpoint_url, region=region, config=config)


def translated(service: str, setting: str, *, missing: str) -> AbstractContextManager[None]:
    return translated_boto_errors(
        service,
        away=SinkUnavailable,
        missing={missing},
        if_missing=ConfigurationError(
            f"{service} does not know what {setting} names.", remedy="Create it, or correct the setting."
        ),
    )
