"""`orcha evaluate reading` from the command line to PDFium, OpenCV and the OCR engine, on documents that are drawn."""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from orcha_dagster.cli.main import run
from orcha_dagster.samples.drawing import draw_damaged, draw_invoice, draw_receipt
from orcha_dagster.samples.sample import Sample


class Answer(NamedTuple):
    code: int
    out: str
    err: str


class Evaluate:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys
        monkeypatch.setenv("COLUMNS", "200")

    def reading(self, *arguments: str | Path) -> Answer:
        self._monkeypatch.setattr(sys, "argv", ["orcha", "evaluate", "reading", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run()
        return Answer(int(ended.value.code or 0), *self._capsys.readouterr())


@pytest.fixture
def evaluate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Evaluate:
    return Evaluate(monkeypatch, capsys)


def entry(sample: Sample, kind: str) -> dict[str, Any]:
    """The truth of a receipt is what a sample knows of its print: its goods and its total."""
    truth = json.loads(sample.truth_path.read_text(encoding="utf-8"))
    text = "\n".join(f"{line['description']} {line['amount']}" for line in truth.get("lines", ()))
    labels = {"text": text, "fields": {"total": sample.fields["gross"]}} if kind == "receipt" else None
    return {"path": sample.path.name, "kind": kind, "ground_truth": labels}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two receipts, a scan and a photo, an invoice and half a PDF, with their manifest."""
    data = tmp_path / "data"
    data.mkdir()
    entries = [
        entry(draw_receipt(data / "scan.png", country="US", seed=3), "receipt"),
        entry(draw_receipt(data / "photo.jpg", country="MY", seed=4), "receipt"),
        entry(draw_invoice(data / "invoice.pdf", seed=5), "invoice_pdf"),
        entry(draw_damaged(data / "half.pdf", seed=6), "broken"),
    ]
    (data / "manifest.json").write_text(json.dumps({"files": entries}), encoding="utf-8")
    return data


def test_a_folder_of_documents_is_evaluated_in_full(evaluate: Evaluate, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    answer = evaluate.reading("--data", folder, "--workers", "1", "--throughput", "--json", file)
    assert answer.code == 0, answer.err
    report = json.loads(file.read_text(encoding="utf-8"))
    documents = {one["path"]: one for one in report["documents"]}

    receipts = report["kinds"]["receipt"]
    assert (receipts["documents"], receipts["scored"], receipts["errors"]) == (2, 2, {})
    assert receipts["recall_without_spacing"] > 0.8
    assert receipts["fields"] == {"total": 1.0}
    assert documents["half.pdf"]["error_code"] == "DOCUMENT_DAMAGED"
    assert documents["invoice.pdf"]["tier"] == "born-digital"
    assert documents["invoice.pdf"]["text_layer_pages"] == documents["invoice.pdf"]["pages"] > 0

    assert report["worker_peak_bytes"] > 100_000_000  # a worker that has loaded the models of the OCR engine
    assert report["scan_speed"]["pages"] == 2
    assert 0.05 < report["scan_speed"]["ratio"] < 5
    assert report["text_speed"]["pages_per_second"] > 1
    for words in ("By tier", "receipt", "DOCUMENT_DAMAGED", "pages/s", str(file)):
        assert words in answer.out


def test_some_kinds_only_and_json_on_the_screen(evaluate: Evaluate, folder: Path) -> None:
    answer = evaluate.reading("--data", folder, "--workers", "1", "--kind", "invoice_pdf,broken", "--json", "-")
    assert answer.code == 0, answer.err
    report = json.loads(answer.out)
    assert [one["path"] for one in report["documents"]] == ["invoice.pdf", "half.pdf"]
    assert (report["scan_speed"], report["text_speed"]) == (None, None)


def test_a_wrong_folder_could_not_be_tried(evaluate: Evaluate, tmp_path: Path) -> None:
    answer = evaluate.reading("--data", tmp_path)
    assert answer.code == 2
    assert "manifest.json" in answer.err
    assert evaluate.reading("--data", tmp_path / "away").code == 2
