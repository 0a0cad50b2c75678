"""The errors of Document AI as it sends them: status, message and google.rpc details. When is decided elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2

from orcha_dagster.simulated.faults import Fault, FaultKind

_DOMAIN = "documentai.googleapis.com"


@dataclass(eq=False)  # exceptions are compared by identity
class Refusal(Exception):
    """Ends a call with a status."""

    code: grpc.StatusCode
    message: str
    details: Sequence[Any] = ()

    @property
    def trailing_metadata(self) -> tuple[tuple[str, bytes], ...]:
        """Where gRPC carries what does not fit into a code and a sentence."""
        status = status_pb2.Status(code=self.code.value[0], message=self.message)
        for detail in self.details:
            packed = AnyMessage()
            packed.Pack(detail)
            status.details.append(packed)
        return (("grpc-status-details-bin", status.SerializeToString()),)


def too_many_pages(pages: int, limit: int, *, imageless: bool) -> Refusal:
    if imageless:
        return _invalid(
            f"Document pages exceed the limit: {limit} got {pages}",
            "PAGE_LIMIT_EXCEEDED",
            page_limit=str(limit),
            pages=str(pages),
        )
    return _invalid(
        f"Document pages in non-imageless mode exceed the limit: {limit} got {pages}. "
        "Try using imageless mode to increase the limit to 30.",
        "PAGE_LIMIT_EXCEEDED_IN_IMAGELESS_MODE",
        page_limit=str(limit),
        pages=str(pages),
        imageless_page_limit="30",
    )


def too_many_bytes(size: int, limit: int) -> Refusal:
    violation = error_details_pb2.BadRequest.FieldViolation(
        field="raw_document.content", description=f"Document size ({size}) exceeds the limit: {limit}."
    )
    return Refusal(
        grpc.StatusCode.INVALID_ARGUMENT,
        "Request contains an invalid argument.",
        [error_details_pb2.BadRequest(field_violations=[violation])],
    )


def unknown_field(path: str) -> Refusal:
    violation = error_details_pb2.BadRequest.FieldViolation(field="field_mask", description=f"Invalid path: {path}")
    return Refusal(
        grpc.StatusCode.INVALID_ARGUMENT,
        "Request contains an invalid argument.",
        [error_details_pb2.BadRequest(field_violations=[violation])],
    )


def unsupported_media_type(media_type: str) -> Refusal:
    return _invalid(f"Unsupported MIME type: '{media_type}'.", "UNSUPPORTED_MIME_TYPE", mime_type=media_type)


def no_pages() -> Refusal:
    return _invalid("No pages were found in the document.", "NO_PAGES")


def damaged() -> Refusal:
    return Refusal(grpc.StatusCode.INVALID_ARGUMENT, "Unsupported input file format.")


def encrypted() -> Refusal:
    return Refusal(grpc.StatusCode.INVALID_ARGUMENT, "Failed to open the document: it is password protected.")


def unknown_processor(name: str) -> Refusal:
    processor = name.rsplit("/", 1)[-1]
    return Refusal(
        grpc.StatusCode.NOT_FOUND,
        f"Processor with id '{processor}' not found.",
        [_info("PROCESSOR_NOT_FOUND", processor_id=processor)],
    )


def internal() -> Refusal:
    return Refusal(grpc.StatusCode.INTERNAL, "Internal error encountered.")


def refusal_for(fault: Fault, processor: str) -> Refusal | None:
    """None for a fault that is more than a status: the server acts it out."""
    match fault.kind:
        case FaultKind.RATE_LIMIT:
            return _rate_limit(fault.retry_after_seconds)
        case FaultKind.QUOTA:
            return _day_quota()
        case FaultKind.UNAVAILABLE:
            return Refusal(grpc.StatusCode.UNAVAILABLE, "The service is currently unavailable.")
        case FaultKind.INTERNAL:
            return internal()
        case FaultKind.PERMISSION:
            return _permission(processor)
        case FaultKind.NOT_FOUND:
            return unknown_processor(processor)
        case FaultKind.DAMAGED:
            return damaged()
    return None


def _rate_limit(retry_after_seconds: float | None) -> Refusal:
    details: list[Any] = [_info("RATE_LIMIT_EXCEEDED", quota_limit="ProcessDocumentRequestsPerMinutePerProject")]
    if retry_after_seconds is not None:
        delay = Duration()
        delay.FromMilliseconds(round(retry_after_seconds * 1000))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    return Refusal(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "Quota exceeded for quota metric 'Online process document requests' and limit 'Online process document "
        "requests per minute'.",
        details,
    )


def _day_quota() -> Refusal:
    violation = error_details_pb2.QuotaFailure.Violation(
        subject="project:simulated", description="Quota exceeded for limit 'Pages processed per day'."
    )
    return Refusal(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "Quota exceeded.",
        [error_details_pb2.QuotaFailure(violations=[violation])],
    )


def _permission(processor: str) -> Refusal:
    permission = "documentai.processors.processOnline"
    return Refusal(
        grpc.StatusCode.PERMISSION_DENIED,
        f"Permission '{permission}' denied on resource '//{_DOMAIN}/{processor}' (or it may not exist).",
        [_info("IAM_PERMISSION_DENIED", permission=permission, resource=processor)],
    )


def _invalid(message: str, reason: str, **metadata: str) -> Refusal:
    return Refusal(grpc.StatusCode.INVALID_ARGUMENT, message, [_info(reason, **metadata)])


def _info(reason: str, **metadata: str) -> Any:
    return error_details_pb2.ErrorInfo(reason=reason, domain=_DOMAIN, metadata=metadata)
