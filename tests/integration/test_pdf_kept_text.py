"""The text that an inspection leaves for reading: the same pages come of it, and nobody depends on it."""

import os
from pathlib import Path

import pytest
from fpdf import FPDF

from orcha_dagster.adapters import pdf_pages
from orcha_dagster.adapters.pdf import kept_text
from orcha_dagster.adapters.pdf.kept_text import load_text
from orcha_dagster.adapters.pdf_pages import inspect_pdf, read_text_layer
from orcha_dagster.domain.errors import DocumentDamaged

SENTENCE = "Twelve boxes of printing paper, delivered on Monday"


def draw(pdf: Path, *pages: str) -> Path:
    document = FPDF()
    document.set_font("Helvetica", size=11)
    for text in pages:
        document.add_page()
        if text:
            document.text(20, 40, text)
            document.text(20, 60, f"{text}, again")
    document.output(str(pdf))
    return pdf


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return draw(tmp_path / "document.pdf", SENTENCE, "", f"{SENTENCE} and Tuesday")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "kept"


def test_what_was_kept_is_read_as_the_document_is(pdf: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    anew = read_text_layer(pdf, [1, 3])
    assert inspect_pdf(pdf, max_pages=10, keep=kept) == inspect_pdf(pdf, max_pages=10)
    monkeypatch.setattr(pdf_pages, "open_pdf", None)  # not opened again
    assert read_text_layer(pdf, [1, 3], kept=[kept]) == anew
    assert read_text_layer(pdf, [3, 1], kept=[kept]) == anew[::-1]


def test_pages_that_were_not_kept_are_read_from_the_document(pdf: Path, kept: Path) -> None:
    inspect_pdf(pdf, max_pages=10, keep=kept)
    assert [page.page for page in read_text_layer(pdf, [1, 2, 3], kept=[kept])] == [1, 2, 3]
    assert read_text_layer(pdf, [1, 2, 3], kept=[kept]) == read_text_layer(pdf, [1, 2, 3])
    with pytest.raises(DocumentDamaged, match="no page 4"):
        read_text_layer(pdf, [1, 4], kept=[kept])


def test_nothing_is_taken_from_another_version_of_the_document(pdf: Path, kept: Path) -> None:
    inspect_pdf(pdf, max_pages=10, keep=kept)
    draw(pdf, SENTENCE.upper())
    os.utime(pdf, ns=(1, 1))
    (page,) = read_text_layer(pdf, [1], kept=[kept])
    assert page.lines[0].text == SENTENCE.upper()


def test_of_a_long_document_only_the_first_pages_are_kept(
    pdf: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    anew = read_text_layer(pdf, [1, 3])
    monkeypatch.setattr(kept_text, "MAX_WORDS", 20)
    inspect_pdf(pdf, max_pages=10, keep=kept)
    assert list(load_text(pdf, kept)) == [1]
    assert read_text_layer(pdf, [1, 3], kept=[kept]) == anew


def test_a_folder_that_takes_no_files_does_not_matter(pdf: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "missing" / "kept"
    assert len(inspect_pdf(pdf, max_pages=10, keep=nowhere)) == 3
    assert len(read_text_layer(pdf, [1, 3], kept=[nowhere])) == 2
