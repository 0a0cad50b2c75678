"""What was read on the pages: text with its place and how sure the reader was."""

from orcha_dagster.domain.model import DomainModel


class Box(DomainModel):
    """A rectangle on a page; 0 to 1 from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float


class Line(DomainModel):
    """A piece of text that stands together on one line. A table row is several of them side by side."""

    text: str
    box: Box
    confidence: float  # 0 to 1; a text layer is certain


class TranscribedPage(DomainModel):
    page: int  # from 1
    lines: tuple[Line, ...]  # in reading order: rows from the top, each from the left
    source: str  # "text_layer" or the transcriber's name
    quality_score: float  # 0 to 1

    @property
    def rows(self) -> tuple[tuple[Line, ...], ...]:
        """The lines grouped into visual rows: those whose middles lie within half a line height of each other."""
        rows: list[list[Line]] = []
        for line in self.lines:
            middle = (line.box.top + line.box.bottom) / 2
            if rows:
                first = rows[-1][0].box
                if abs(middle - (first.top + first.bottom) / 2) <= (first.bottom - first.top) / 2:
                    rows[-1].append(line)
                    continue
            rows.append([line])
        return tuple(tuple(sorted(row, key=lambda line: line.box.left)) for row in rows)


class Transcription(DomainModel):
    """What stage `transcription` leaves behind. Artifact `transcription-output.json`."""

    pages: tuple[TranscribedPage, ...]
    provider: str  # who read the pages that had no text layer; "text_layer" when none was needed
    provider_version: str
    quality_score: float  # 0 to 1, the mean over pages; low quality is for the verdict to judge, not an error

    @property
    def text(self) -> str:
        return "\n".join("   ".join(line.text for line in row) for page in self.pages for row in page.rows)
