"""What can go wrong with a question to Athena, and the one place where boto's errors become ours.

OrchaError
├── AthenaRefused         the question, or what it is asked of, must change
├── AthenaTimedOut        it took longer than ORCHA_ATHENA_SECONDS and was stopped
├── AthenaUnavailable     the same question may be answered later
└── ConfigurationError    no credentials, no region, no permission
"""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, NoRegionError, PartialCredentialsError

from orcha_dagster.domain.errors import ConfigurationError, OrchaError, RecoverableError

_BUSY = {"InternalServerException", "ServiceUnavailable", "ThrottlingException", "TooManyRequestsException"}
_NOT_ALLOWED = {
    "AccessDenied",
    "AccessDeniedException",
    "ExpiredTokenException",
    "IncompleteSignature",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "MissingAuthenticationToken",
    "OptInRequired",
    "UnrecognizedClientException",
}


class AthenaRefused(OrchaError):
    code = "ATHENA_REFUSED"
    remedy = "docs/status-events.md lists the columns of `events`, and how its tables are made on Athena."


class AthenaTimedOut(OrchaError):
    code = "ATHENA_TIMED_OUT"
    remedy = "Ask for less at once, such as one caseid, or raise ORCHA_ATHENA_SECONDS."


class AthenaUnavailable(RecoverableError):
    code = "ATHENA_UNAVAILABLE"
    remedy = "Ask again later."


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        raise _translate(error) from error
    except (NoCredentialsError, PartialCredentialsError, NoRegionError) as error:
        raise ConfigurationError(
            f"Athena cannot be asked: {to_sentence(str(error))}",
            remedy="Set AWS_DEFAULT_REGION and the usual AWS credentials (docs/configuration.md).",
        ) from error
    except BotoCoreError as error:
        raise AthenaUnavailable(f"Athena does not answer ({type(error).__name__}).") from error


def to_sentence(reason: str) -> str:
    """On one line: Athena's reasons may be many."""
    words = " ".join(reason.split()).rstrip(".")
    return f"{words}."


def _translate(error: ClientError) -> OrchaError:
    code, reason = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
    if code in _BUSY:
        return AthenaUnavailable(f"Athena answered {code}.")
    if code in _NOT_ALLOWED:
        return ConfigurationError(
            f"Athena answered {code}: {to_sentence(reason)}",
            remedy="docs/configuration.md lists the permissions that Athena needs.",
        )
    return AthenaRefused(to_sentence(reason or code))
