"""A message names an ingestion or nothing."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orcha_dagster.domain.messages import Message, ReceivedMessage

ID = UUID("6f0c3b1e-9e0f-4d6f-8a9e-0d5a2f3b4c5d")


def test_a_uuid_in_its_usual_form_names_an_ingestion() -> None:
    assert ReceivedMessage("m", "h", str(ID)).parse() == Message("m", "h", ID)


def test_capitals_are_the_same_uuid() -> None:
    assert ReceivedMessage("m", "h", str(ID).upper()).parse() == Message("m", "h", ID)


@pytest.mark.parametrize(
    "body",
    ["", " ", "hello", "{}", ID.hex, ID.urn, f"{{{ID}}}", f" {ID}", f"{ID}\n", f'"{ID}"', str(ID)[:-1], f"{ID}{ID}"],
)
def test_anything_else_names_nothing(body: str) -> None:
    assert ReceivedMessage("m", "h", body).parse() is None


@given(st.text())
def test_no_text_breaks_the_parser(body: str) -> None:
    parsed = ReceivedMessage("m", "h", body).parse()
    assert parsed is None or str(parsed.ingestion_id) == body.lower()


@given(st.uuids())
def test_every_uuid_comes_back_as_itself(ingestion_id: UUID) -> None:
    parsed = ReceivedMessage("m", "h", str(ingestion_id)).parse()
    assert parsed is not None
    assert parsed.ingestion_id == ingestion_id
