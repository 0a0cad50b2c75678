"""What every user of an AWS service shares: how a client is opened and how boto's errors become ours. The services
themselves are not known here."""

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from orcha_dagster.domain.errors import ConfigurationError, RecoverableError


class AwsClient:
    """Connects at the first use; then may be shared between threads."""

    def __init__(self, service: str, *, endpoint_url: str | None, region: str | None, config: Config) -> None:
        """`endpoint_url`, `region`: None for what boto3 finds for itself (AWS_ENDPOINT_URL_…, AWS_REGION, …)."""
        self._service = service
        self._arguments: dict[str, Any] = {"config": config, **_chosen(endpoint_url=endpoint_url, region_name=region)}
        if endpoint_url is not None and is_loopback(urlsplit(endpoint_url).hostname or ""):
            # An emulator on this machine asks for credentials but checks none; the real ones are for the real services.
            self._arguments |= {"aws_access_key_id": "orcha", "aws_secret_access_key": "orcha"}
            self._arguments["region_name"] = region or "us-east-1"
            # A company's http_proxy must not get between two processes of this machine.
            self._arguments["config"] = config.merge(Config(proxies={}))
        self._connecting = threading.Lock()

    @property
    def client(self) -> Any:
        # A boto client may be shared between threads, but not be made by two of them at once.
        with self._connecting:
            return self._connected

    @cached_property
    def _connected(self) -> Any:
        return boto3.session.Session().client(self._service, **self._arguments)


@contextmanager
def translated_boto_errors(
    service: str, *, away: type[RecoverableError], missing: Collection[str], if_missing: ConfigurationError
) -> Iterator[None]:
    """The one place where boto's errors become ours. `missing`: what the service answers when the thing asked for is
    not there. `service` begins a sentence."""
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in missing:
            raise if_missing from error
        raise away(f"{service} answered {code}.") from error
    except BotoCoreError as error:
        raise away(f"{service} does not answer ({type(error).__name__}).") from error


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _chosen(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}
