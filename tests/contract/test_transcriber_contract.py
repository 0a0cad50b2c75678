"""What every Transcriber promises, asked of the fake, of RapidOCR and of Document AI."""

import asyncio
import io
from collections.abc import Iterator

import pytest
from PIL import Image, ImageDraw, ImageFont

from orcha_dagster.adapters.rapidocr_transcriber import RapidOcrTranscriber
from orcha_dagster.domain.errors import OrchaError, PermanentError
from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.transcriber import Bundle, Transcriber
from tests.fake_providers import FakeTranscriber, InlineCpuPool
from tests.simulated_document_ai import document_ai


@pytest.fixture(params=["fake", "rapidocr", "document-ai"])
def transcriber(request: pytest.FixtureRequest) -> Iterator[Transcriber]:
    if request.param == "fake":
        yield FakeTranscriber(["hello"])
    elif request.param == "rapidocr":
        yield RapidOcrTranscriber(InlineCpuPool())
    else:
        with document_ai() as transcriber:
            yield transcriber


@pytest.fixture
def empty(transcriber: Transcriber) -> Transcriber:
    """The same transcriber, before an empty page; the fake must be told that it is empty."""
    return FakeTranscriber([]) if isinstance(transcriber, FakeTranscriber) else transcriber


def bundle_of(text: str, page: int = 1) -> Bundle:
    image = Image.new("RGB", (600, 200), "white")
    ImageDraw.Draw(image).text((40, 70), text, fill="black", font=ImageFont.load_default(48))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=95)
    return Bundle(buffer.getvalue(), "image/jpeg", (page,))


def read(transcriber: Transcriber, bundle: Bundle) -> TranscribedPage:
    async def read_and_close() -> TranscribedPage:
        try:
            (page,) = await transcriber.transcribe(bundle)
            return page
        finally:
            await transcriber.close()

    return asyncio.run(read_and_close())


def test_it_says_who_it_is_in_which_version_and_what_it_takes(transcriber: Transcriber) -> None:
    assert transcriber.name
    assert transcriber.version
    assert transcriber.limits.pages >= 1
    assert transcriber.limits.bytes > 100_000
    assert transcriber.limits.takes_pdf or transcriber.limits.pages == 1


def test_a_page_keeps_its_number_and_names_its_reader(transcriber: Transcriber) -> None:
    result = read(transcriber, bundle_of("hello", page=3))
    assert (result.page, result.source) == (3, transcriber.name)


def test_what_is_read_has_a_place_on_the_page_and_a_confidence(transcriber: Transcriber) -> None:
    result = read(transcriber, bundle_of("hello"))
    assert [line.text.lower() for line in result.lines] == ["hello"]
    for piece in [*result.lines, *(word for line in result.lines for word in line.words)]:
        assert 0 <= piece.box.left < piece.box.right <= 1
        assert 0 <= piece.box.top < piece.box.bottom <= 1
        assert 0 < piece.confidence <= 1
    assert 0 < result.quality_score <= 1


def test_an_empty_page_is_a_page_without_lines(empty: Transcriber) -> None:
    result = read(empty, bundle_of(""))
    assert (result.lines, result.quality_score) == ((), 0.0)


def test_a_picture_that_is_none_is_for_a_person(transcriber: Transcriber) -> None:
    with pytest.raises(PermanentError):
        read(transcriber, Bundle(b"", "image/jpeg", (1,)))


def test_many_pages_may_be_read_at_once(transcriber: Transcriber) -> None:
    async def read_three() -> list[int]:
        answers = await asyncio.gather(*(transcriber.transcribe(bundle_of("hello", page)) for page in (1, 2, 3)))
        await transcriber.close()
        return [page.page for answer in answers for page in answer]

    assert asyncio.run(read_three()) == [1, 2, 3]


def test_closing_what_was_never_used_is_fine(transcriber: Transcriber) -> None:
    asyncio.run(transcriber.close())


def test_a_failing_worker_reaches_the_caller_as_it_is() -> None:
    failure = OrchaError("gone")
    with pytest.raises(OrchaError, match="gone"):
        read(RapidOcrTranscriber(InlineCpuPool([failure])), bundle_of("hello"))
