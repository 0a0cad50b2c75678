"""The error tree: stable codes, safe passage between processes, and a page that lists them all."""

import inspect
import pickle
import re
from pathlib import Path

import pytest

from orcha_dagster.domain import errors
from orcha_dagster.domain.errors import OrchaError, Parked, RateLimited
from orcha_dagster.domain.retrying import error_code

CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, OrchaError)]
PAGE = Path(__file__).parents[2] / "docs" / "errors.md"

# Codes are in databases and in other people's scripts: adding one is fine, changing one is not.
CODES = {
    "ArtifactMissing": "ARTIFACT_MISSING",
    "AttemptsExhausted": "ATTEMPTS_EXHAUSTED",
    "ConfigurationError": "CONFIGURATION",
    "DocumentChanged": "DOCUMENT_CHANGED",
    "DocumentDamaged": "DOCUMENT_DAMAGED",
    "DocumentEncrypted": "DOCUMENT_ENCRYPTED",
    "DocumentMissing": "DOCUMENT_MISSING",
    "DocumentTooDemanding": "DOCUMENT_TOO_DEMANDING",
    "DocumentTooLarge": "DOCUMENT_TOO_LARGE",
    "DocumentUnsupported": "DOCUMENT_UNSUPPORTED",
    "ExtractionIncomplete": "EXTRACTION_INCOMPLETE",
    "LeaseLost": "LEASE_LOST",
    "OrchaError": "ORCHA_ERROR",
    "Parked": "PARKED",
    "PermanentError": "PERMANENT",
    "ProviderDeclined": "PROVIDER_DECLINED",
    "ProviderRefused": "PROVIDER_REFUSED",
    "ProviderTimeout": "PROVIDER_TIMEOUT",
    "ProviderUnavailable": "PROVIDER_UNAVAILABLE",
    "RateLimited": "RATE_LIMITED",
    "RecoverableError": "RECOVERABLE",
    "SchemaUnknown": "SCHEMA_UNKNOWN",
    "SinkUnavailable": "SINK_UNAVAILABLE",
    "StageTimedOut": "STAGE_TIMED_OUT",
    "StorageUnavailable": "STORAGE_UNAVAILABLE",
    "WorkerDied": "WORKER_DIED",
    "WorkerTimedOut": "WORKER_TIMED_OUT",
}


@pytest.fixture(params=CLASSES, ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest) -> type[OrchaError]:
    return request.param


def documented_codes() -> list[str]:
    return re.findall(r"^\| `([A-Z_]+)` \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_every_class_has_the_code_it_always_had() -> None:
    assert {kind.__name__: kind.code for kind in CLASSES} == CODES


def test_no_two_classes_share_a_code() -> None:
    codes = [kind.__dict__.get("code") for kind in CLASSES]
    assert None not in codes
    assert len(set(codes)) == len(codes)


def test_the_page_lists_every_code_once_and_no_other() -> None:
    unknown = error_code(ValueError())
    assert sorted(documented_codes()) == sorted([*(kind.code for kind in CLASSES), unknown])


def test_the_tree_at_the_top_of_the_module_names_every_class() -> None:
    drawn = re.findall(r"[A-Z]\w+", "\n".join(re.findall(r"^(?:[│├└─ ]*)(\w+)", errors.__doc__ or "", re.MULTILINE)))
    assert {kind.__name__ for kind in CLASSES} <= set(drawn)


def test_an_error_survives_pickling(kind: type[OrchaError]) -> None:
    error = kind("Something happened.", remedy="Do something.")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(copy) is kind
    assert (copy.code, copy.message, copy.remedy, str(copy)) == (error.code, error.message, error.remedy, str(error))
    assert copy.args == error.args


def test_an_error_keeps_the_remedy_of_its_kind_unless_it_has_a_better_one(kind: type[OrchaError]) -> None:
    assert str(kind("It happened.")) == f"It happened. {kind.remedy}".strip()
    assert str(kind("It happened.", remedy="Do this.")) == "It happened. Do this."
    assert kind("It happened.").remedy == kind.remedy


def test_the_wait_a_provider_asked_for_survives_pickling() -> None:
    copy = pickle.loads(pickle.dumps(RateLimited("Slow down.", retry_after_seconds=12.5)))  # noqa: S301
    assert copy.retry_after_seconds == 12.5


def test_when_to_ask_again_survives_pickling() -> None:
    copy = pickle.loads(pickle.dumps(Parked("Not ready.", check_after_seconds=900.0)))  # noqa: S301
    assert copy.check_after_seconds == 900.0


def test_whatever_a_person_must_look_at_says_what_to_do() -> None:
    silent = [kind.__name__ for kind in CLASSES if issubclass(kind, errors.PermanentError) and not kind.remedy]
    assert silent == ["PermanentError"]
