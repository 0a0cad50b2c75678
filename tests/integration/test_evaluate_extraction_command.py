"""`orcha evaluate extraction` from the command line to the OCR engine and to a browser, on documents that are drawn."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import cv2
import pytest

from orcha_dagster.cli.main import run
from orcha_dagster.samples.drawing import draw_einvoice, draw_invoice, draw_receipt
from orcha_dagster.samples.sample import Sample
from orcha_dagster.simulated.messages_api_server import SimulatedMessagesApi
from tests.simulated_messages_api import running

RIGHT, WRONG = (0x2F, 0x7D, 0x5B), (0xC2, 0x41, 0x3B)  # the colours of the plots in the light
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Evaluate:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys
        monkeypatch.setenv("COLUMNS", "200")

    def extraction(self, *arguments: str | Path, code: int = 0) -> str:
        """What it wrote on the screen, or to the errors when it could not be tried."""
        self._monkeypatch.setattr(sys, "argv", ["orcha", "evaluate", "extraction", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run()
        out, err = self._capsys.readouterr()
        assert int(ended.value.code or 0) == code, err
        return out if code == 0 else err


@pytest.fixture
def evaluate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Evaluate:
    return Evaluate(monkeypatch, capsys)


def entry(sample: Sample, kind: str, **changed: str) -> dict[str, Any]:
    lines = json.loads(sample.truth_path.read_text(encoding="utf-8"))["lines"]
    fields: dict[str, Any] = {**sample.fields, **changed}
    if kind == "einvoice_pdf":
        fields["line_items"] = [{"description": line["description"], "net_amount": line["amount"]} for line in lines]
    return {"path": sample.path.name, "kind": kind, "ground_truth": {"fields": fields}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A receipt, two invoices, one of them with its XML inside, and a receipt whose truth is not what is printed."""
    data = tmp_path / "data"
    data.mkdir()
    entries = [
        entry(draw_receipt(data / "receipt.png", country="US", seed=3), "receipt"),
        entry(draw_receipt(data / "lied.png", country="US", seed=4), "receipt", gross="123456.78"),
        entry(draw_invoice(data / "invoice.pdf", seed=5), "invoice_pdf"),
        entry(draw_einvoice(data / "facture.pdf", seed=6), "einvoice_pdf"),
    ]
    (data / "manifest.json").write_text(json.dumps({"files": entries}), encoding="utf-8")
    return data


def test_drawn_documents_are_evaluated_from_the_file_to_the_page(
    evaluate: Evaluate, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, page, kept = tmp_path / "first.json", tmp_path / "report.html", tmp_path / "kept"
    common = ("--data", folder, "--workers", "1", "--cache", kept)
    screen = evaluate.extraction(*common, "--json", first, "--html", page)
    report = json.loads(first.read_text(encoding="utf-8"))
    documents = {one["path"]: one for one in report["documents"]}

    assert documents["facture.pdf"]["extractor"] == "e-invoice"
    assert {field["match"] for field in documents["facture.pdf"]["fields"]} <= {"exact", "normalised"}
    assert len(documents["facture.pdf"]["tables"]["line_items"]["rows"]) == 6
    assert report["fields"]["line_items"]["labelled"] == 6
    assert documents["facture.pdf"]["witnesses"]["rules"]["gross"] == "exact"
    assert documents["invoice.pdf"]["tier"] == "born-digital"
    wrong = [field["name"] for field in documents["lied.png"]["fields"] if field["match"] == "wrong"]
    assert "gross" in wrong
    assert documents["lied.png"]["is_right"] is False
    assert documents["receipt.png"]["reading_seconds"] > 0
    for words in ("Targets", "Verdicts", "Worst cases", "lied.png", "123456.78", "ms CPU per page"):
        assert words in screen
    look_at(page, tmp_path, capsys)

    second = tmp_path / "second.json"
    compared = evaluate.extraction(*common, "--json", second, "--baseline", first)
    again = json.loads(second.read_text(encoding="utf-8"))
    assert [one["reading_seconds"] for one in again["documents"]] == [0.0] * 4
    assert again["comparison"]["paired"] == 4
    assert again["comparison"]["fields"]["gross"]["change"] == "inconclusive"
    assert "Beside the baseline" in compared


def test_rules_alone_do_not_look_at_the_xml(evaluate: Evaluate, folder: Path) -> None:
    screen = evaluate.extraction("--data", folder, "--kind", "einvoice_pdf", "--extractor", "rules", "--json", "-")
    (one,) = json.loads(screen)["documents"]
    assert (one["extractor"], one["witnesses"]) == ("rules", {})


def test_what_could_not_be_tried_is_said(evaluate: Evaluate, folder: Path, tmp_path: Path) -> None:
    assert "manifest.json" in evaluate.extraction("--data", tmp_path, code=2)
    other = tmp_path / "other.json"
    other.write_text("[]", encoding="utf-8")
    assert "other.json" in evaluate.extraction("--data", folder, "--baseline", other, code=2)


def test_claude_is_asked_where_it_is(evaluate: Evaluate, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("--data", folder, "--kind", "invoice_pdf", "--extractor", "claude", "--json", "-")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with running(SimulatedMessagesApi()) as server:
        monkeypatch.setenv("ORCHA_CLAUDE_BASE_URL", server.address)
        (one,) = json.loads(evaluate.extraction(*asked))["documents"]
        assert one["error_code"] == "PROVIDER_REFUSED"  # without a key nobody is asked
        monkeypatch.setenv("ANTHROPIC_API_KEY", "simulated")
        (one,) = json.loads(evaluate.extraction(*asked))["documents"]
    assert (one["extractor"], one["is_right"]) == ("claude", True)
    assert one["input_tokens"] > 0


def look_at(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a browser where there is one: what it shows has the plots' colours. Its structure is looked at in any case."""
    written = page.read_text(encoding="utf-8")
    assert written.count("<svg") == 5
    assert re.search(r'<img src="data:image/jpeg;base64,[\w+/=]{2000,}"', written)
    assert re.search(r'<span class="box wrong"[^>]*><b>gross</b>', written)
    assert "accepted-wrong" in written or "review-wrong" in written
    addresses = re.findall(r'(?:src|href|srcset)="([^"]{0,20})|url\(([^)]*)\)', written)
    assert all(source.startswith("data:image/jpeg") for source, _ in addresses)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        with capsys.disabled():
            sys.stderr.write("There is no browser here: only the structure of the page was looked at.\n")
        return
    picture = folder / "seen.png"
    subprocess.run(
        [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,4000",
         f"--user-data-dir={folder / 'profile'}", f"--screenshot={picture}", page.as_uri()],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    seen = cv2.cvtColor(cv2.imread(str(picture)), cv2.COLOR_BGR2RGB)
    assert seen.shape == (4000, 1200, 3)
    assert (seen == RIGHT).all(axis=2).sum() > 5000  # the bars of the fields
    assert (seen == WRONG).all(axis=2).sum() > 100  # the wrong ones in the histograms
