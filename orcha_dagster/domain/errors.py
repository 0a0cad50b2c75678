"""Every error Orcha raises on purpose. Whether to try again is decided in `retrying`, not here.

OrchaError
├── RecoverableError          another attempt may succeed
│   ├── ProviderTimeout
│   ├── ProviderUnavailable
│   ├── RateLimited           carries how long to wait
│   ├── ExtractionIncomplete  fields or rows are missing that the extractor should have given
│   ├── StageTimedOut         nothing has moved for too long
│   ├── StorageUnavailable    object store, queue or database away
│   ├── SinkUnavailable       who is told about events is away; they wait for it
│   ├── WorkerDied            a CPU worker was killed or crashed
│   └── WorkerTimedOut        a CPU worker was ended, its task took too long
├── PermanentError            a person must look at the document
│   ├── DocumentMissing
│   ├── DocumentChanged       the bytes are not those that were submitted
│   ├── DocumentDamaged
│   ├── DocumentEncrypted
│   ├── DocumentTooLarge
│   ├── DocumentTooDemanding  working on it took more memory than a worker may have, or more of their time
│   ├── DocumentUnsupported
│   ├── SchemaUnknown         submitted with a schema that is not there
│   ├── ProviderRefused       credentials, permission or set-up: the document itself may be fine
│   ├── ProviderDeclined      a model would not read this document
│   ├── ArtifactMissing       an earlier stage left nothing to go on from
│   └── AttemptsExhausted
├── Parked                    the result comes later: give the lease back and ask again; no attempt is used up
├── LeaseLost                 somebody else owns the ingestion now: stop, write nothing
└── ConfigurationError        fails at start; nothing was touched
"""


class OrchaError(Exception):
    """An error with a stable code, a message for people and a remedy. Survives pickling between processes."""

    code = "ORCHA_ERROR"
    remedy = ""

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if remedy is not None:
            self.remedy = remedy

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.__dict__)

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


def _rebuild(error_type: type[OrchaError], message: str, state: dict[str, object]) -> OrchaError:
    error = error_type.__new__(error_type)
    Exception.__init__(error, message)
    error.__dict__.update(state)
    return error


class RecoverableError(OrchaError):
    code = "RECOVERABLE"


class ProviderTimeout(RecoverableError):
    code = "PROVIDER_TIMEOUT"


class ProviderUnavailable(RecoverableError):
    code = "PROVIDER_UNAVAILABLE"


class RateLimited(RecoverableError):
    code = "RATE_LIMITED"

    def __init__(self, message: str, *, retry_after_seconds: float | None = None, remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after_seconds = retry_after_seconds


class ExtractionIncomplete(RecoverableError):
    code = "EXTRACTION_INCOMPLETE"


class StageTimedOut(RecoverableError):
    code = "STAGE_TIMED_OUT"
    remedy = "If the document is only large, raise ORCHA_STAGE_SECONDS."


class StorageUnavailable(RecoverableError):
    code = "STORAGE_UNAVAILABLE"


class SinkUnavailable(RecoverableError):
    code = "SINK_UNAVAILABLE"


class WorkerDied(RecoverableError):
    code = "WORKER_DIED"


class WorkerTimedOut(RecoverableError):
    code = "WORKER_TIMED_OUT"
    remedy = "If it repeats, look at the document, or raise the limit (docs/configuration.md)."


class PermanentError(OrchaError):
    code = "PERMANENT"


class DocumentMissing(PermanentError):
    code = "DOCUMENT_MISSING"
    remedy = "Submit the document again."


class DocumentChanged(PermanentError):
    code = "DOCUMENT_CHANGED"
    remedy = "Find out who wrote to the object store, then submit the document again."


class DocumentDamaged(PermanentError):
    code = "DOCUMENT_DAMAGED"
    remedy = "Ask the sender for an intact copy and submit that."


class DocumentEncrypted(PermanentError):
    code = "DOCUMENT_ENCRYPTED"
    remedy = "Remove the password and submit the document again."


class DocumentTooLarge(PermanentError):
    code = "DOCUMENT_TOO_LARGE"
    remedy = "Split the document, or raise the limit (docs/configuration.md)."


class DocumentTooDemanding(PermanentError):
    code = "DOCUMENT_TOO_DEMANDING"
    remedy = "Look at the document; if it is only large, raise ORCHA_CPU_WORKER_MEGABYTES and retry."


class DocumentUnsupported(PermanentError):
    code = "DOCUMENT_UNSUPPORTED"
    remedy = "Submit a PDF, PNG, JPEG, TIFF, WEBP or HEIC."


class ProviderRefused(PermanentError):
    code = "PROVIDER_REFUSED"
    remedy = "Put right what the provider names, then `orcha retry --code PROVIDER_REFUSED`."


class SchemaUnknown(PermanentError):
    code = "SCHEMA_UNKNOWN"
    remedy = "Put the schema into ORCHA_SCHEMAS_FOLDER and retry, or submit the document with another one."


class ProviderDeclined(PermanentError):
    code = "PROVIDER_DECLINED"
    remedy = "Look at the document; enter its data by hand, or re-materialize it with another extractor."


class ArtifactMissing(PermanentError):
    code = "ARTIFACT_MISSING"
    remedy = "Materialize the earlier stage together with this one."


class AttemptsExhausted(PermanentError):
    code = "ATTEMPTS_EXHAUSTED"
    remedy = "Look at the run that died with it, then re-materialize the ingestion."


class Parked(OrchaError):
    """Nothing went wrong. Work that was handed in elsewhere is not ready; whoever asks again in time gets it."""

    code = "PARKED"

    def __init__(self, message: str, *, check_after_seconds: float = 60.0, remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.check_after_seconds = check_after_seconds


class LeaseLost(OrchaError):
    code = "LEASE_LOST"


class ConfigurationError(OrchaError):
    code = "CONFIGURATION"
