"""What every Transcriber promises, asked of the fake and of RapidOCR."""

import asyncio
import io

import pytest
from PIL import Image, ImageDraw, ImageFont

from orcha_dagster.adapters.rapidocr_transcriber import RapidOcrTranscriber
from orcha_dagster.domain.errors import OrchaError, PermanentError
from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.transcriber import Transcriber
from tests.fake_providers import FakeTranscriber, InlineCpuPool


@pytest.fixture(params=["fake", "rapidocr"])
def transcriber(request: pytest.FixtureRequest) -> Transcriber:
    if request.param == "fake":
        return FakeTranscriber(["hello"])
    return RapidOcrTranscriber(InlineCpuPool())


@pytest.fixture
def empty(transcriber: Transcriber) -> Transcriber:
    """The same transcriber, before an empty page; the fake must be told that it is empty."""
    return FakeTranscriber([]) if isinstance(transcriber, FakeTranscriber) else transcriber


def picture_of(text: str) -> bytes:
    image = Image.new("RGB", (600, 200), "white")
    ImageDraw.Draw(image).text((40, 70), text, fill="black", font=ImageFont.load_default(48))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def read(transcriber: Transcriber, picture: bytes, page: int = 1) -> TranscribedPage:
    return asyncio.run(transcriber.transcribe(picture, page=page))


def test_it_says_who_it_is_and_in_which_version(transcriber: Transcriber) -> None:
    assert transcriber.name
    assert transcriber.version


def test_a_page_keeps_its_number_and_names_its_reader(transcriber: Transcriber) -> None:
    result = read(transcriber, picture_of("hello"), page=3)
    assert (result.page, result.source) == (3, transcriber.name)


def test_what_is_read_has_a_place_on_the_page_and_a_confidence(transcriber: Transcriber) -> None:
    result = read(transcriber, picture_of("hello"))
    assert [line.text.lower() for line in result.lines] == ["hello"]
    for line in result.lines:
        assert 0 <= line.box.left < line.box.right <= 1
        assert 0 <= line.box.top < line.box.bottom <= 1
        assert 0 < line.confidence <= 1
    assert 0 < result.quality_score <= 1


def test_an_empty_page_is_a_page_without_lines(empty: Transcriber) -> None:
    result = read(empty, picture_of(""))
    assert (result.lines, result.quality_score) == ((), 0.0)


def test_a_picture_that_is_none_is_for_a_person(transcriber: Transcriber) -> None:
    with pytest.raises(PermanentError):
        read(transcriber, b"")


def test_many_pages_may_be_read_at_once(transcriber: Transcriber) -> None:
    async def read_three() -> list[TranscribedPage]:
        picture = picture_of("hello")
        return list(await asyncio.gather(*(transcriber.transcribe(picture, page=page) for page in (1, 2, 3))))

    assert [page.page for page in asyncio.run(read_three())] == [1, 2, 3]


def test_a_failing_worker_reaches_the_caller_as_it_is() -> None:
    failure = OrchaError("gone")
    with pytest.raises(OrchaError, match="gone"):
        read(RapidOcrTranscriber(InlineCpuPool([failure])), b"picture")
