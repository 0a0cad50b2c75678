"""The page of `orcha report --html`, opened in Chromium: what a reader sees of it, wide and on a phone."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from pathlib import Path
from typing import Any
from uuid import UUID

import cv2
import lxml.html
import numpy as np
import pytest
from typer.testing import CliRunner

from orcha_dagster.analysis.asking import DuckDbEngine
from orcha_dagster.analysis.html.page import write_html
from orcha_dagster.analysis.named_questions import get_question
from orcha_dagster.analysis.opening import open_log
from orcha_dagster.analysis.reporting import REPORTED, make_report, make_timeline
from orcha_dagster.cli.main import app
from tests.chromium import Chromium, find_chromium, running_chromium
from tests.log_of_events import DAY, Event, event
from tests.opened_log import OpenedLog

NOW = DAY + timedelta(days=5)
PHONE, DESK = 400, 1200
JOB = UUID("0b1f6a52-3f0c-4b60-9d59-7a3d3c1c5e01")

# Colours of the style: accepted, to review, failed, what came in; light and dark.
LIGHT = ("#2f7d5b", "#9a6a00", "#c2413b", "#2b62b5")
DARK = ("#55b58a", "#e0b04d", "#ef7a73", "#7fb0f5")

HOSTILE = (
    "<script>document.documentElement.dataset.ran='script'</script>"
    "<img src='http://127.0.0.1:8443/stolen.png' onerror=\"document.documentElement.dataset.ran='image'\">"
    "</title></style></svg></details><a href='javascript:void(0)'>\" onmouseover='x' &amp;"
)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')

# Asked in the browser: how wide the page is, what stands on it, where the bars are, and what is out of the window or
# too small to read. Wide tables scroll by themselves, and what is folded has no size.
MEASURES = """<script>
const shown = [...document.querySelectorAll('body *')].filter(one => !one.closest('.wide') && !one.closest('script'));
const words = shown.filter(one => !one.children.length && one.textContent.trim());
const box = one => one.getBoundingClientRect();
const below = (one, found = []) => {
  for (let next = one.nextElementSibling; next && next.localName !== 'h2'; next = next.nextElementSibling)
    found.push(next.innerText ?? '');
  return found.join('\\n');
};
const told = one => `${one.localName} ${one.textContent.slice(0, 60)}`;
parent.document.documentElement.dataset.measures = JSON.stringify({
  width: document.documentElement.scrollWidth,
  words: document.body.innerText,
  sections: Object.fromEntries([...document.querySelectorAll('h2')].map(one => [one.innerText, below(one)])),
  bars: [...document.querySelectorAll('.track i')].map(one => [
    one.className, box(one).left - box(one.parentElement).left, box(one).width].concat(box(one.parentElement).width)),
  outside: shown.filter(one => box(one).right > innerWidth + 1 || box(one).left < -1).map(told),
  small: words.filter(one => box(one).height > 0 && box(one).height < 10).map(told),
});
</script>"""


@dataclass(frozen=True)
class Seen:
    width: int
    words: str
    sections: dict[str, str]
    bars: list[tuple[str, float, float, float]]  # their kind, where they begin, how wide they and their tracks are
    outside: list[str]
    small: list[str]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with running_chromium() as browser:
        yield browser


@pytest.fixture
def log(tmp_path: Path) -> OpenedLog:
    return OpenedLog(tmp_path)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "report.html"


def write_report(log: OpenedLog, page: Path, events: Sequence[Event], *, now: datetime = NOW) -> str:
    if events:
        log.write(events)
    with open_log(log.objects, url=log.url, cache_folder=log.cache, now=now) as connection:
        written = write_html(make_report(DuckDbEngine(connection).ask, now=now))
    page.write_text(written, encoding="utf-8")
    return written


def look(chromium: Chromium, page: Path, *, width: int = DESK) -> Seen:
    """In a frame, because Chromium has no window as narrow as a phone. The page lets no script run, so the frame holds
    a copy that lets ours."""
    measured = POLICY.sub("", page.read_text(encoding="utf-8")).replace("</body>", f"{MEASURES}</body>")
    frame = page.with_name("frame.html")
    style = f"width:{width}px;height:900px;border:0"
    frame.write_text(f'<meta charset="utf-8"><iframe style="{style}" srcdoc="{escape(measured)}"></iframe>', "utf-8")
    return Seen(**json.loads(parse(chromium.dump(frame)).get("data-measures")))


def parse(dumped: str) -> Any:
    return lxml.html.document_fromstring(dumped)


def count_pixels(picture: bytes, colour: str) -> int:
    pixels = cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR)
    red, green, blue = bytes.fromhex(colour[1:])
    return int((np.abs(pixels.astype(int) - (blue, green, red)).max(axis=2) <= 2).sum())


def stage(name: str, job: int | UUID, at: float, seconds: float, **facts: Any) -> Event:
    facts = {"attempt": 1, "source": "run:1", **facts}
    return event("STAGE_FINISHED", job, at, stage=name, seconds=seconds, **facts)


def days_of_work() -> list[Event]:
    """Three days, 150 ingestions a day, of which one in ten fails, one in six goes to review, and two are in flight."""
    events = []
    for job in range(1, 451):
        at, case = 86_400 * ((job - 1) // 150) + 240 * ((job - 1) % 150), (101, 204, 3007)[job % 3]
        ours: dict[str, Any] = {"case": case}
        events += [
            event("INGESTION_QUEUED", job, at, source="submit", **ours),
            event("INGESTION_STARTED", job, at + 5, attempt=1, **ours),
            stage("transcription", job, at + 17, 12.0, provider="document-ai", pages=2, cost_usd=0.003, **ours),
        ]
        if job % 10 == 0:
            events.append(event("INGESTION_FAILED", job, at + 20, attempt=1, code="DOCUMENT_DAMAGED", **ours))
        elif job > 2:
            events += _second_half(job, at, ours)
    return events


def _second_half(job: int, at: float, ours: dict[str, Any]) -> list[Event]:
    attempt = 1 + (job % 15 == 1)
    refused = {"attempt": 1, "code": "RATE_LIMITED", "stage": "extraction", **ours}
    again = [
        event("RETRY_SCHEDULED", job, at + 20, **refused),
        event("INGESTION_STARTED", job, at + 50, attempt=2, **ours),
    ]
    found = {"provider": "claude", "input_tokens": 2000, "output_tokens": 300, "cost_usd": 0.0105}
    return [
        *(again if attempt == 2 else []),
        stage("extraction", job, at + 57, 7.0, attempt=attempt, **found, **ours),
        event("INGESTION_COMPLETED", job, at + 58, attempt=attempt, accepted=job % 6 != 1, **ours),
    ]


def one_story() -> list[Event]:
    return [
        event("INGESTION_QUEUED", JOB, 0, source="submit"),
        event("INGESTION_STARTED", JOB, 2, attempt=1),
        stage("raw_document", JOB, 3, 0.5),
        event("RETRY_SCHEDULED", JOB, 4, attempt=1, code="PROVIDER_UNAVAILABLE", stage="transcription"),
        event("INGESTION_STARTED", JOB, 34, attempt=2),
        stage("transcription", JOB, 50, 15.0, attempt=2),
        event("INGESTION_COMPLETED", JOB, 60, attempt=2, accepted=True),
        event("INGESTION_QUEUED", 7, 0),
    ]


def hostile_story() -> list[Event]:
    """Text of somebody else wherever the page shows any."""
    return [
        event("INGESTION_QUEUED", JOB, 0, source=HOSTILE),
        event(HOSTILE, JOB, 1, attempt=1, source=HOSTILE, run_id=HOSTILE),
        stage(HOSTILE, JOB, 2, 0.5, source=HOSTILE),
        event("RETRY_SCHEDULED", JOB, 3, attempt=1, code=HOSTILE, stage=HOSTILE),
    ]


def long_names() -> list[Event]:
    """200 codes and stages that are long and differ in their end only, cases with large numbers, a large bill."""
    events = []
    for job in range(1, 201):
        code, name = f"{'PROVIDER_OF_A_PROVIDER_' * 6}{job}", f"{'stage_within_a_' * 10}{job}"
        events += [
            stage(name, job, 3 * job, float(job), provider="p", pages=10**9, cost_usd=98_765_432.0, case=2**31 - job),
            event("INGESTION_FAILED", job, 3 * job + 1, attempt=1 + job % 30, code=code, stage=name, case=2**31 - job),
            event("INGESTION_COMPLETED", 1000 + job, 3 * job, attempt=1, accepted=False, case=2**31 - job),
            event("INGESTION_QUEUED", 2000 + job, 3 * job, source="x" * 300),
        ]
    return events


def test_every_question_has_its_section_with_its_figures(chromium: Chromium, log: OpenedLog, page: Path) -> None:
    write_report(log, page, days_of_work())
    seen = look(chromium, page)
    assert list(seen.sections) == [get_question(name).title for name in REPORTED]
    figures = {
        "States": ("accepted\n329", "to review\n74", "failed\n45", "in progress\n2", "Figures (4 rows)"),
        "Throughput": ("accepted", "to review", "failed", "came in", "02 Mar 2026 09:00", "\n15\n", "\n0\n"),
        "Time per stage": ("transcription\n12 s · 12 s · 12 s", "extraction\n7.00 s · 7.00 s · 7.00 s"),
        "Failures": ("DOCUMENT_DAMAGED\n45 for good, 45 in all", "RATE_LIMITED · extraction\n0 for good, 29 in all"),
        "Retries": ("attempt 1\n374 of 450 completed", "attempt 2\n29 of 29 completed"),
        "Review rate": ("2026-03-02\n", "2026-03-03\n", "2026-03-04\n", "% of 133"),
        "Cost per case": ("case 101\n1.87 USD · 135 documents", "case 204\n", "case 3007\n"),
        "In flight": (str(UUID(int=1)), str(UUID(int=2)), "transcription"),
    }
    missing = [(title, one) for title, wanted in figures.items() for one in wanted if one not in seen.sections[title]]
    assert missing == [], seen.sections


def test_the_most_important_figures_stand_above_all(chromium: Chromium, log: OpenedLog, page: Path) -> None:
    write_report(log, page, days_of_work())
    above = look(chromium, page).words.split("\nStates\n")[0].replace("\n\n", "\n")
    for tile in ("Ingestions\n450", "Accepted\n81.6 %", "Failed\n45", "In flight\n2", "Paid\n5.58 USD", "times in UTC"):
        assert tile in above


@pytest.mark.parametrize(("is_dark", "paper", "colours"), [(False, "#fcfcfb", LIGHT), (True, "#16191d", DARK)])
def test_the_charts_are_drawn_in_the_colours_of_the_readers_theme(
    chromium: Chromium, log: OpenedLog, page: Path, is_dark: bool, paper: str, colours: Sequence[str]
) -> None:
    write_report(log, page, days_of_work())
    picture = chromium.take_picture(page, height=2600, is_dark=is_dark)
    assert count_pixels(picture, paper) > 1_000_000
    assert [colour for colour in colours if count_pixels(picture, colour) < 1000] == []


def test_a_bar_is_as_long_as_its_share(chromium: Chromium, log: OpenedLog, page: Path) -> None:
    """Of four ingestions three are accepted and one failed, so one bar is three times as long."""
    ends = [event("INGESTION_COMPLETED", job, job, attempt=1, accepted=True) for job in (1, 2, 3)]
    ends.append(event("INGESTION_FAILED", 4, 4, attempt=1, code="X"))
    write_report(log, page, ends)
    accepted, failed = look(chromium, page).bars[:2]
    assert (accepted[0], failed[0]) == ("right", "wrong")
    assert accepted[2] == accepted[3]
    assert failed[2] == pytest.approx(accepted[2] / 3, abs=0.1)


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("events", [days_of_work, long_names], ids=["days of work", "long names"])
def test_nothing_is_cut_off_or_too_small_to_read(
    chromium: Chromium, log: OpenedLog, page: Path, events: Callable[[], list[Event]], width: int
) -> None:
    write_report(log, page, events())
    seen = look(chromium, page, width=width)
    assert (seen.width, seen.outside, seen.small) == (width, [], [])


def test_of_hundreds_of_names_the_first_are_drawn_and_the_rest_is_told_of(
    chromium: Chromium, log: OpenedLog, page: Path
) -> None:
    write_report(log, page, long_names())
    seen = look(chromium, page)
    for title in ("Time per stage", "Failures", "Retries", "Cost per case"):
        assert "The first 14 of " in seen.sections[title]
    assert "150 more: orcha query --question failures" in page.read_text(encoding="utf-8").replace("<code>", "")
    assert re.findall(r"_(\d+)\n3 min", seen.sections["Time per stage"])[:3] == ["200", "199", "198"]


def test_the_page_asks_nothing_of_any_network(chromium: Chromium, log: OpenedLog, page: Path) -> None:
    written = write_report(log, page, [*days_of_work(), *hostile_story()])
    chromium.take_picture(page)
    assert chromium.hosts == []
    document = parse(chromium.dump(page))
    assert document.xpath("//script | //link | //iframe | //object | //embed | //form | //base") == []
    assert document.xpath("//@src | //@href | //@srcset | //@action | //@*[starts-with(name(), 'on')]") == []
    assert not re.search(r"url\(|@import", written)


def test_a_page_that_did_ask_would_be_seen(chromium: Chromium, tmp_path: Path) -> None:
    """What the test above relies on."""
    page = tmp_path / "asking.html"
    page.write_text("<img src='http://pictures.test/1.png'><img src='https://127.0.0.1:8443/2.png'>")
    with running_chromium() as another:
        another.dump(page)
        assert sorted(set(another.hosts)) == ["127.0.0.1", "pictures.test"]


def test_hostile_text_is_shown_as_text_and_runs_nothing(chromium: Chromium, log: OpenedLog, page: Path) -> None:
    """Without the policy of the page, so that only the escaping stands between the text and the browser."""
    written = write_report(log, page, hostile_story())
    page.write_text(POLICY.sub("", written), encoding="utf-8")
    document = parse(chromium.dump(page))
    assert document.get("data-ran") is None
    assert document.xpath("//script | //img | //a") == []
    assert HOSTILE in [one.text_content() for one in document.xpath("//td | //th")]
    assert chromium.hosts == []


@pytest.mark.parametrize(("has_policy", "ran"), [(True, None), (False, "script")])
def test_the_policy_of_the_page_stops_what_escaping_might_miss(
    chromium: Chromium, log: OpenedLog, page: Path, has_policy: bool, ran: str | None
) -> None:
    written = write_report(log, page, [event("INGESTION_QUEUED")], now=DAY)
    foreign = written.replace("<h1>", "<script>document.documentElement.dataset.ran='script'</script><h1>")
    page.write_text(foreign if has_policy else POLICY.sub("", foreign), encoding="utf-8")
    assert parse(chromium.dump(page)).get("data-ran") == ran


def test_the_page_of_an_empty_log_says_what_to_do(chromium: Chromium, log: OpenedLog, page: Path) -> None:
    write_report(log, page, [])
    seen = look(chromium, page, width=PHONE)
    assert "The status log is empty." in seen.words
    assert "orcha status-log flush" in seen.words
    assert seen.sections == {}
    assert seen.width == PHONE


def test_a_log_with_one_event_is_a_whole_page(chromium: Chromium, log: OpenedLog, page: Path) -> None:
    write_report(log, page, [event("INGESTION_QUEUED")], now=DAY + timedelta(seconds=5))
    seen = look(chromium, page)
    assert "1 event since 2026-03-02 09:00:00" in seen.words
    assert "queued\n1" in seen.sections["States"]
    assert "Nothing to tell yet." in seen.sections["Failures"]
    # The line of what came in is one point, round and in its colour.
    assert count_pixels(chromium.take_picture(page), LIGHT[3]) > 30


def test_the_command_writes_the_timeline_of_one_ingestion(
    chromium: Chromium, log: OpenedLog, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write(one_story())
    monkeypatch.setenv("ORCHA_HOME", str(tmp_path))
    monkeypatch.setenv("ORCHA_OBJECT_STORE", log.url)
    result = CliRunner().invoke(app, ["report", "--html", str(page), "--ingestion", str(JOB)])
    assert result.exit_code == 0, result.output
    seen = look(chromium, page, width=PHONE)
    assert (seen.width, seen.outside, seen.small) == (PHONE, [], [])
    assert seen.words.startswith(f"What happened to {JOB}")
    turns = [line for line in seen.sections["Timeline"].splitlines() if line]
    assert turns[1:15] == [
        "ingestion queued", "after 0.00 s",
        "ingestion started", "after 2.00 s",
        "raw_document", "took 0.50 s",
        "retry scheduled", "after 4.00 s · PROVIDER_UNAVAILABLE",
        "ingestion started", "after 34 s",
        "transcription", "took 15 s",
        "ingestion completed", "after 60 s",
    ]  # fmt: skip


def test_each_turn_of_a_timeline_is_drawn_where_it_happened(chromium: Chromium, log: OpenedLog, page: Path) -> None:
    log.write(one_story())
    with open_log(log.objects, url=log.url, cache_folder=log.cache, now=NOW) as connection:
        page.write_text(write_html(make_timeline(DuckDbEngine(connection).ask, JOB, now=NOW)), encoding="utf-8")
    bars = look(chromium, page).bars
    assert [bar[0] for bar in bars] == ["cost", "cost", "right", "wrong", "cost", "right", "cost"]
    whole, seconds = bars[0][3], [0, 2, 2.5, 4, 34, 35]
    assert [bar[1] for bar in bars[:-1]] == pytest.approx([whole * one / 60 for one in seconds], abs=0.2)
    assert bars[-1][1] == pytest.approx(whole - 2, abs=0.2)  # the last moment is still in the picture
    assert [bar[2] for bar in bars] == pytest.approx([2, 2, whole * 0.5 / 60, 2, 2, whole * 15 / 60, 2], abs=0.2)


def test_without_chromium_a_test_fails_and_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    with pytest.raises(AssertionError, match="apt-get install chromium"):
        find_chromium()
