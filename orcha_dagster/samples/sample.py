"""A sample document with its truth: what is printed on it and how Orcha must end with it.

The truth lies beside the document as `<file name>.truth.json`; drawing the document is not done here.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Sample:
    """One drawn document."""

    path: Path
    kind: str  # "invoice" or "receipt"
    language: str  # ISO 639-1
    expected_status: str  # "completed" or "failed"
    expected_outcome: str | None  # "accepted" or "needs_review"; None when it fails
    expected_error_code: str | None
    fields: dict[str, str]  # ISO dates, plain decimals, ISO currencies; only what is printed

    @property
    def truth_path(self) -> Path:
        return self.path.with_name(f"{self.path.name}.truth.json")


def write_truth(sample: Sample, **extra: Any) -> Sample:
    """Writes the truth file; `extra` holds what only a person or a test wants, such as the line items."""
    truth = {
        "file": sample.path.name,
        "kind": sample.kind,
        "language": sample.language,
        "expected_status": sample.expected_status,
        "expected_outcome": sample.expected_outcome,
        "expected_error_code": sample.expected_error_code,
        "fields": sample.fields,
        **extra,
    }
    sample.truth_path.write_text(json.dumps(truth, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return sample
