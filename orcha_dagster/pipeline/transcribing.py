"""Stage `transcription`: a page that carries its text is taken at its word, every other one is read."""

from collections.abc import Callable

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.pages import PreprocessedImage
from orcha_dagster.domain.transcriptions import TranscribedPage, Transcription
from orcha_dagster.interfaces.page_preparer import PagePreparer
from orcha_dagster.interfaces.transcriber import Transcriber


async def transcribe_pages(
    raw: RawDocument,
    content: bytes,
    preprocessed: PreprocessedImage,
    pictures: dict[int, bytes],
    *,
    pages: PagePreparer,
    transcriber: Transcriber,
    on_page: Callable[[], None],
) -> Transcription:
    """`on_page` is called for every page that has been read."""
    with_text = [page.measurement.page for page in preprocessed.pages if page.measurement.has_text_layer]
    without = [page.measurement.page for page in preprocessed.pages if not page.measurement.has_text_layer]
    read: list[TranscribedPage] = list(await pages.read_text_layer(content, with_text)) if with_text else []
    for page in without:
        picture = pictures.get(page) or await pages.picture_of(raw, content, page)
        read.append(await transcriber.transcribe(picture, page=page))
        on_page()
    read.sort(key=lambda page: page.page)
    return Transcription(
        pages=tuple(read),
        provider=transcriber.name if without else "text_layer",
        provider_version=transcriber.version if without else "1",
        quality_score=round(sum(page.quality_score for page in read) / len(read), 4),
    )
