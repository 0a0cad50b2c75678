"""The XML of an e-invoice against what the rules read on its page."""

from orcha_dagster.domain.extractions import ExtractedField, Extraction, Witness
from orcha_dagster.pipeline.einvoice_comparison import compare_with_page


def extraction(xml: dict[str, str], page: dict[str, str], *, extractor: str = "e-invoice") -> Extraction:
    return Extraction(
        schema_name="invoice",
        fields={name: ExtractedField(value=value) for name, value in xml.items()},
        extractor=extractor,
        extractor_version="1",
        witnesses=(Witness(extractor="rules", extractor_version="1", values=page),),
    )


def test_a_page_that_says_the_same_in_other_words_agrees() -> None:
    xml = {"number": "RE-2026/118", "issue_date": "2026-11-03", "gross": "1190.00"}
    assert (
        compare_with_page(extraction(xml, {"number": "RE-2026 118", "issue_date": "2026-11-03", "gross": "1190"})) == []
    )


def test_a_difference_comes_with_both_values() -> None:
    found = compare_with_page(extraction({"number": "A-1", "gross": "119.00"}, {"number": "A-1", "gross": "911.00"}))
    assert found == [("gross", "119.00", "911.00")]


def test_what_the_page_does_not_show_is_no_difference() -> None:
    assert compare_with_page(extraction({"number": "A-1", "gross": "119.00"}, {"number": "A-1"})) == []


def test_names_are_not_compared() -> None:
    assert compare_with_page(extraction({"seller": "Acme"}, {"seller": "Other"})) == []


def test_extractions_that_are_not_from_xml_are_left_alone() -> None:
    assert compare_with_page(extraction({"gross": "1.00"}, {"gross": "2.00"}, extractor="claude")) == []
