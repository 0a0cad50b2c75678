"""The five stages of an ingestion, in their order. What a stage does lives in `pipeline`."""

from enum import StrEnum


class Stage(StrEnum):
    """The same word names the stage, its asset, its module under `assets` and its artifact."""

    RAW_DOCUMENT = "raw_document"
    PREPROCESSED_IMAGE = "preprocessed_image"
    TRANSCRIPTION = "transcription"
    EXTRACTION = "extraction"
    QUALITY_VERDICT = "quality_verdict"


FIRST_STAGE = Stage.RAW_DOCUMENT
LAST_STAGE = Stage.QUALITY_VERDICT
