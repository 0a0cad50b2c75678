"""The way through the cloud, with servers on this machine that speak the providers' protocols."""

import json
from pathlib import Path

from tests.end_to_end.orcha_process import run_orcha


def test_the_demo_reads_with_document_ai_and_asks_claude(home: Path) -> None:
    done = run_orcha(home, "demo", "--cloud", "simulated")
    assert done.returncode == 0, done.stdout + done.stderr
    ingestions = [path for path in (home / "objects" / "ingestions").iterdir() if (path / "verdict.json").exists()]
    readers = {json.loads((path / "transcription-output.json").read_bytes())["provider"] for path in ingestions}
    extractions = [json.loads((path / "extraction.json").read_bytes()) for path in ingestions]
    assert readers == {"document-ai", "text_layer"}
    assert {extraction["extractor"] for extraction in extractions} == {"claude", "e-invoice"}
    asked = [extraction for extraction in extractions if extraction["extractor"] == "claude"]
    assert all(extraction["model"] and float(extraction["cost_usd"]) > 0 for extraction in asked)
    assert all(extraction["witnesses"] for extraction in asked)
