"""Pages on their way between processes."""

import copy
import pickle

from orcha_dagster.domain.transcriptions import Box, Language, Line, PictureRead, QualityDefect, TranscribedPage, Word

BOX = Box(left=0.1, top=1 / 3, right=0.7, bottom=0.4)
WORD = Word(text="Müller", box=BOX, confidence=0.93)
PAGE = TranscribedPage(
    page=2,
    lines=(Line(text="Müller", box=BOX, confidence=0.93, words=(WORD,), block=3), Line(text="", box=BOX, confidence=0)),
    source="some reader",
    slope=-0.01,
    quality_score=0.9,
    defects=(QualityDefect(name="blurry", score=0.4),),
    languages=(Language(code="de", confidence=1.0),),
    picture=PictureRead.TREATED,
    picture_path="a/b.jpg",
    rejected_quality_score=0.2,
    times_billed=2,
)


def test_a_pickled_page_comes_back_equal_and_of_the_same_kinds() -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(PAGE, protocol))  # noqa: S301  (pickled here)
        assert back == PAGE
        assert repr(back) == repr(PAGE)
    assert type(back.lines[0].words[0].box) is Box
    assert type(back.picture) is PictureRead


def test_a_copied_page_is_equal() -> None:
    assert copy.copy(PAGE) == copy.deepcopy(PAGE) == PAGE.model_copy() == PAGE
