"""Documents: what somebody gave us, and what we found their bytes to be."""

from uuid import UUID

from orcha_dagster.domain.model import DomainModel


class Document(DomainModel):
    """A row of `document`."""

    id: UUID
    file_name: str  # as the submitter called it; shown to people, never used as a path
    file_path: str  # where the bytes are in the object store
    byte_size: int
    sha256: str
    case_id: int
    batch_id: int
    schema_name: str | None = None  # chosen at submit; None: its words decide


class RawDocument(DomainModel):
    """The document as stage `raw_document` found it in the object store. Artifact `raw-document.json`."""

    document_id: UUID
    file_path: str
    media_type: str  # sniffed from the bytes, not believed from the name
    byte_size: int
    sha256: str

    @property
    def is_pdf(self) -> bool:
        return self.media_type == "application/pdf"

    @property
    def is_tiff(self) -> bool:
        return self.media_type == "image/tiff"
