"""Folders of labelled documents: what is taken from a manifest, and what is said about a wrong one."""

import json
from pathlib import Path
from typing import Any

import pytest

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.evaluation.dataset import Dataset, Truth, load_dataset


def write_dataset(folder: Path, *entries: dict[str, Any], **files: str) -> Path:
    for entry in entries:
        file = folder / entry["path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"a document")
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content, encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps({"set": "mine", "files": entries}), encoding="utf-8")
    return folder


def truth_of(folder: Path, labels: dict[str, Any] | None, **files: str) -> Truth:
    write_dataset(folder, {"path": "a.png", "kind": "receipt", "ground_truth": labels}, **files)
    (document,) = load_dataset(folder).documents
    return document.truth


def dataset_of(folder: Path, *kinds: str) -> Dataset:
    entries = [{"path": f"{number}.png", "kind": kind} for number, kind in enumerate(kinds)]
    return load_dataset(write_dataset(folder, *entries))


def test_text_may_stand_in_the_manifest(tmp_path: Path) -> None:
    assert truth_of(tmp_path, {"text": "Total\n9.00"}) == Truth(text="Total\n9.00")


def test_text_may_stand_line_by_line_in_a_file_of_its_own(tmp_path: Path) -> None:
    full = json.dumps({"transcript": [{"box": [0, 0, 1, 1], "text": "Total"}, {"text": "9.00"}]})
    assert truth_of(tmp_path, {"full": "a.json"}, a__json=full).text == "Total\n9.00"


def test_text_may_stand_in_a_plain_file(tmp_path: Path) -> None:
    assert truth_of(tmp_path, {"full": "a.txt"}, a__txt="Prüfung").text == "Prüfung"


def test_only_values_that_are_printed_as_labelled_are_looked_for(tmp_path: Path) -> None:
    fields = {"total": "RM 9.00", "date": "3 OCT", "company": "Chong Hwa", "total_amount": "9.00"}
    assert truth_of(tmp_path, {"fields": fields}).fields == {"total": "RM 9.00", "date": "3 OCT"}
    corrected = {"fields": fields, "quality": {"not_literal_in_transcript": ["date"]}}
    assert truth_of(tmp_path, corrected).fields == {"total": "RM 9.00"}
    assert truth_of(tmp_path, {"fields": {"total": 9, "date": " "}}).fields == {}


@pytest.mark.parametrize("labels", [None, {}, {"category": "corrupt"}, {"skew_angle_deg": 3}])
def test_a_document_without_a_truth_is_there_all_the_same(tmp_path: Path, labels: dict[str, Any] | None) -> None:
    assert truth_of(tmp_path, labels) == Truth()


def test_a_selection_takes_so_many_of_each_kind_in_their_order(tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, "receipt", "letter", "receipt", "broken", "receipt", "letter")
    assert dataset.kinds == ("broken", "letter", "receipt")
    assert [one.path for one in dataset.only(["receipt", "letter"], limit=2).documents] == [
        "0.png",
        "1.png",
        "2.png",
        "5.png",
    ]
    assert dataset.only() == dataset


def test_a_kind_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"recipt.*There are: letter, receipt"):
        dataset_of(tmp_path, "receipt", "letter").only(["recipt"])


def test_a_folder_without_a_manifest_is_an_error_that_says_where_to_read_on(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no manifest.json.*docs/evaluation.md"):
        load_dataset(tmp_path)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [("{", "JSON"), ("[]", "the file"), ('{"files": [{"path": "a.png"}]}', r"files\.0\.kind")],
)
def test_a_wrong_manifest_is_an_error_that_says_where(tmp_path: Path, manifest: str, words: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=words):
        load_dataset(tmp_path)


def test_a_document_that_is_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    write_dataset(tmp_path, {"path": "in/a.png", "kind": "receipt"})
    (tmp_path / "in/a.png").unlink()
    with pytest.raises(ConfigurationError, match=r"in/a\.png"):
        load_dataset(tmp_path)


@pytest.mark.parametrize("content", ["{", '{"lines": []}', '{"transcript": ["text"]}', '{"transcript": [{"text": 1}]}'])
def test_a_full_text_of_another_form_is_an_error_with_its_name(tmp_path: Path, content: str) -> None:
    with pytest.raises(ConfigurationError, match=r"a\.json"):
        truth_of(tmp_path, {"full": "a.json"}, a__json=content)
