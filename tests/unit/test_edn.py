"""EDN: everything that is written comes back as it was, and nothing else is read."""

import contextlib
import math
import time
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.edn_format import MAX_DEPTH, EdnError
from orcha_dagster.domain.edn_reading import read_edn
from orcha_dagster.domain.edn_writing import write_edn
from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.pages import Thumbnails
from orcha_dagster.domain.transcriptions import (
    Box,
    Language,
    Line,
    PictureRead,
    QualityDefect,
    SecondLook,
    TranscribedPage,
    Transcription,
    Word,
)

SHARES = st.floats(0, 1)
NUMBERS = st.integers(-(10**30), 10**30)
BOXES = st.builds(Box, left=SHARES, top=SHARES, right=SHARES, bottom=SHARES)
WORDS = st.builds(Word, text=st.text(), box=BOXES, confidence=SHARES)
LINES = st.builds(
    Line, text=st.text(), box=BOXES, confidence=SHARES, words=st.lists(WORDS, max_size=3).map(tuple), block=NUMBERS
)
THUMBNAILS = st.builds(Thumbnails, before=st.text(), after=st.text())
LOOKS = st.builds(
    SecondLook,
    steps=st.lists(st.text(), max_size=2).map(tuple),
    reason=st.text(),
    thumbnails=st.none() | THUMBNAILS,
    failure=st.none() | st.text(),
)
PAGES = st.builds(
    TranscribedPage,
    page=NUMBERS,
    lines=st.lists(LINES, max_size=3).map(tuple),
    source=st.text(),
    slope=st.floats(allow_nan=False, allow_infinity=False),
    quality_score=SHARES,
    defects=st.lists(st.builds(QualityDefect, name=st.text(), score=SHARES), max_size=2).map(tuple),
    languages=st.lists(st.builds(Language, code=st.text(), confidence=SHARES), max_size=2).map(tuple),
    picture=st.sampled_from(PictureRead),
    picture_path=st.none() | st.text(),
    rejected_quality_score=st.none() | SHARES,
    second_look=st.none() | LOOKS,
    is_blank=st.booleans(),
    times_billed=NUMBERS,
)
TRANSCRIPTIONS = st.builds(
    Transcription,
    pages=st.lists(PAGES, max_size=3).map(tuple),
    provider=st.text(),
    provider_version=st.text(),
    quality_score=SHARES,
    pages_billed=NUMBERS,
    cost_usd=st.decimals(allow_nan=False, allow_infinity=False),
)
# What looks like a keyword but is none, and what is one, side by side.
KEYS = st.text() | st.from_regex(r"[A-Za-z_:/-][A-Za-z0-9_:/.-]{0,8}", fullmatch=True)
PLAIN_VALUES = (
    st.none()
    | st.booleans()
    | NUMBERS
    | st.floats(allow_nan=False)
    | st.text()
    | st.uuids()
    | st.datetimes(timezones=st.just(UTC)).map(lambda at: at.replace(fold=0))  # which means nothing in UTC
    | st.decimals(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    PLAIN_VALUES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)
NOON_SOMEWHERE = datetime(2026, 1, 1, 12)  # noqa: DTZ001


def has_types_of(left: object, right: object) -> bool:
    """Equality alone would take 1, 1.0 and True for the same, and -0.0 for 0.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(has_types_of(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return all(has_types_of(one, other) for one, other in zip(left, right, strict=True))
    return type(left) is type(right) and repr(left) == repr(right)


@given(TRANSCRIPTIONS)
def test_a_transcription_comes_back_exactly(transcription: Transcription) -> None:
    assert Transcription.from_edn_bytes(transcription.to_edn_bytes()) == transcription


@given(TRANSCRIPTIONS)
def test_edn_and_json_hold_the_same(transcription: Transcription) -> None:
    from_json = Transcription.from_json_bytes(transcription.to_json_bytes())
    assert from_json == Transcription.from_edn_bytes(transcription.to_edn_bytes())


@given(VALUES)
def test_any_value_comes_back_with_its_types_and_its_order(value: object) -> None:
    assert has_types_of(read_edn(write_edn(value)), value)


@given(st.binary() | st.text(alphabet='{}[]:"\\#; ,-+.0123456789eNMabtrufalsenil\n').map(str.encode))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    """Nothing but EdnError may come out, and what is read can be written."""
    with contextlib.suppress(EdnError):
        value = read_edn(raw)
        assert has_types_of(read_edn(write_edn(value)), value)


def test_a_model_is_a_map_with_keywords_in_kebab_case() -> None:
    page = TranscribedPage(page=1, lines=(), source="text_layer", quality_score=0.5, picture=PictureRead.TREATED)
    assert page.to_edn_bytes().decode() == (
        '{:page 1, :lines [], :source "text_layer", :slope 0.0, :quality-score 0.5, :defects [], :languages [], '
        ':picture "treated", :picture-path nil, :rejected-quality-score nil, :second-look nil, '
        ":is-blank false, :times-billed 0}"
    )


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("quality_score", ":quality-score"),
        ("a__b_", ":a--b-"),
        ("Total", ":Total"),
        ("quality-score", '"quality-score"'),
        ("pt-BR", '"pt-BR"'),
        ("", '""'),
        ("1st", '"1st"'),
        ("_private", '"_private"'),
        ("a/b", '"a/b"'),
        ("straße", '"straße"'),
        ("two words", '"two words"'),
        ("a\n", r'"a\n"'),
    ],
)
def test_a_key_that_is_no_field_name_stays_a_string(key: str, written: str) -> None:
    assert write_edn({key: 1}).decode() == f"{{{written} 1}}"
    assert read_edn(write_edn({key: 1})) == {key: 1}


def test_keys_that_differ_only_in_a_hyphen_stay_apart() -> None:
    both = {"a_b": 1, "a-b": 2}
    assert read_edn(write_edn(both)) == both


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2**63 - 1, "9223372036854775807"),
        (2**63, "9223372036854775808N"),
        (-(2**63), "-9223372036854775808"),
        (-(2**63) - 1, "-9223372036854775809N"),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (5e-324, "5e-324"),
        (1e22, "1e+22"),
        (float("inf"), "##Inf"),
        (float("-inf"), "##-Inf"),
        (True, "true"),
        (None, "nil"),
        (Decimal("1.50"), "1.50M"),
        ("", '""'),
        ('a"b\\c\n\t\r\b\f\0\x1f', r'"a\"b\\c\n\t\r\b\f\u0000\u001f"'),
        ("😀\x7f\u2028", '"😀\x7f\u2028"'),
        (UUID(int=1), '#uuid "00000000-0000-0000-0000-000000000001"'),
        (datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC), '#inst "2026-01-02T03:04:05.000006+00:00"'),
        ([1, [2.5, "x"], {}], '[1 [2.5 "x"] {}]'),
        ([{"a": 1}, {"a": 2}], "[{:a 1}\n{:a 2}]"),
        ((1, 2), "[1 2]"),
    ],
)
def test_each_kind_of_value_is_written_as_clojure_reads_it(value: object, written: str) -> None:
    assert write_edn(value).decode() == written
    expected = list(value) if isinstance(value, tuple) else value
    assert has_types_of(read_edn(written.encode()), expected)


def test_not_a_number_comes_back_as_such() -> None:
    assert write_edn(float("nan")) == b"##NaN"
    value = read_edn(b"##NaN")
    assert isinstance(value, float)
    assert math.isnan(value)


def test_an_instant_keeps_its_offset() -> None:
    instant = datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    back = read_edn(write_edn(instant))
    assert isinstance(back, datetime)
    assert (back, back.utcoffset()) == (instant, instant.utcoffset())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" ; a remark\n {:a,1 ; another\n}", {"a": 1}),
        ("[1,2,,3]", [1, 2, 3]),
        (r'"\uD83D\uDE00\u00e9"', "😀é"),
        ('"two\nlines"', "two\nlines"),
        ('["a""b"[]1]', ["a", "b", [], 1]),
        ('{"a b" 1 :c_d 2}', {"a b": 1, "c_d": 2}),
        ('[+1 -0 1E3 1N #uuid"00000000-0000-0000-0000-000000000001"]', [1, 0, 1000.0, 1, UUID(int=1)]),
    ],
)
def test_what_others_may_write_is_read(text: str, value: object) -> None:
    assert has_types_of(read_edn(text.encode()), value)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", (1, 1), "no value"),
        ("  ; nothing", (1, 12), "no value"),
        ("1 2", (1, 4), "more than one"),
        ("[1\n 2", (1, 1), "never closed"),
        ("[1\n  }", (2, 3), "closes a ["),
        (" ]", (1, 2), "closes nothing"),
        ("{:a 1\n :a 2}", (2, 6), "key twice"),
        ("{:a-b 1 :a_b 2}", (1, 15), "key twice"),
        ("{:a 1 :b}", (1, 9), "no value"),
        ("{1 2}", (1, 5), "neither a keyword nor a string"),
        ("{[] 2}", (1, 6), "neither a keyword nor a string"),
        ("{:a :b}", (1, 5), "keyword"),
        ("[:a]", (1, 2), "keyword"),
        (":a", (1, 1), "keyword"),
        ("[1 symbol]", (1, 4), "not EDN"),
        ("01", (1, 1), "not EDN"),
        ("1.", (1, 1), "not EDN"),
        ("1x", (1, 1), "not EDN"),
        ("1.5N", (1, 1), "not EDN"),
        ("truer", (1, 1), "not EDN"),
        ("(1 2)", (1, 1), "not EDN"),
        ("#{1}", (1, 1), "not EDN"),
        ("#_1 2", (1, 1), "not EDN"),
        ('#other "x"', (1, 1), "not EDN"),
        ("\\a", (1, 1), "not EDN"),
        ("##Infinity", (1, 1), "not EDN"),
        ('[1\n\n  "open]', (3, 3), "not EDN"),
        (r'["a\qb"]', (1, 2), r"\q"),
        (r'"\u12"', (1, 1), r"\u"),
        (r'"\ud83d"', (1, 1), "utf-16"),
        ('#uuid "7"', (1, 1), "UUID"),
        ('#inst "2026-01-01T00:00:00"', (1, 1), "time zone"),
        ('#inst "yesterday"', (1, 1), "yesterday"),
        ("1e999", (1, 1), "too large"),
        ("9" * 5000, (1, 1), "digits"),
        ("\ufeff1", (1, 1), "not EDN"),
    ],
)
def test_what_is_not_edn_is_refused_with_line_and_column(text: str, place: tuple[int, int], words: str) -> None:
    with pytest.raises(EdnError) as caught:
        read_edn(text.encode())
    assert words in str(caught.value)
    assert str(caught.value).endswith("(line {}, column {})".format(*place))


def test_bytes_that_are_not_utf_8_are_refused_with_their_place() -> None:
    with pytest.raises(EdnError, match=r"UTF-8. \(line 2, column 3\)"):
        read_edn("{:ä\n  ".encode() + b"\xff}")


def test_nesting_is_bounded_in_both_directions() -> None:
    deep: object = "bottom"
    for _ in range(MAX_DEPTH):
        deep = {"a": deep}
    assert read_edn(write_edn(deep)) == deep
    with pytest.raises(EdnError, match="deep"):
        write_edn([deep])
    with pytest.raises(EdnError, match="deep"):
        read_edn(b"[" + write_edn(deep) + b"]")
    with pytest.raises(EdnError, match="deep"):
        read_edn(b"[" * 1_000_000)


@pytest.mark.parametrize("text", [" " * 200_000 + "@", "; ;" * 100_000 + "\n@", '"' + "\\n" * 200_000, "1" * 200_000])
def test_no_text_makes_the_reader_slow(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(EdnError):
        read_edn(text.encode())
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    "value",
    [{1: 2}, {None: 2}, {"a", "b"}, b"bytes", ["half \ud83d"], NOON_SOMEWHERE, Decimal("NaN"), [10**5000]],
    ids=lambda value: type(value).__name__,
)
def test_what_could_not_come_back_is_not_written(value: object) -> None:
    with pytest.raises(EdnError):
        write_edn(value)


def test_every_type_that_models_hold_comes_back() -> None:
    models: list[DomainModel] = [
        RawDocument(document_id=UUID(int=3), file_path="ä", media_type="image/png", byte_size=1, sha256="0"),
        Extraction(
            schema_name="invoice",
            fields={"gross": ExtractedField(value="1"), "Ümsatz-Id": ExtractedField(value="2", page=1)},
            extractor="rules",
            extractor_version="1",
        ),
    ]
    for model in models:
        assert type(model).from_edn_bytes(model.to_edn_bytes()) == model


def test_edn_of_something_else_is_refused() -> None:
    with pytest.raises(ValidationError):
        Transcription.from_edn_bytes(b"{:pages []}")
