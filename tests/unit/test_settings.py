"""The settings: one list in code, example and documentation; where values come from; how bad ones are refused."""

import os
import re
from pathlib import Path

import pytest

from orcha_dagster import settings as settings_module
from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.settings import PROJECT_FOLDER, Settings, load_settings

EXAMPLE = PROJECT_FOLDER / ".env.example"
PAGE = PROJECT_FOLDER / "docs" / "configuration.md"
NAMES = [f"ORCHA_{name.upper()}" for name in Settings.model_fields]


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty checkout and no ORCHA_ variable, whatever the machine has."""
    for name in [name for name in os.environ if name.upper().startswith("ORCHA_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(settings_module, "PROJECT_FOLDER", tmp_path)
    return tmp_path


def example_values() -> dict[str, str]:
    return dict(re.findall(r"^# (ORCHA_\w+)=(.*)$", EXAMPLE.read_text(encoding="utf-8"), flags=re.MULTILINE))


def documented_defaults() -> dict[str, str]:
    rows = re.findall(
        r"^\| `(ORCHA_\w+)` \| (?:`([^`]*)`|empty) \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    return dict(rows)


def write_stack_env(home: Path, text: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "stack.env").write_text(text, encoding="utf-8")


def test_the_example_names_every_setting_and_nothing_else() -> None:
    assert list(example_values()) == NAMES


def test_the_documentation_names_every_setting_and_nothing_else() -> None:
    assert list(documented_defaults()) == NAMES


def test_example_and_documentation_show_the_same_defaults() -> None:
    assert example_values() == documented_defaults()


def test_the_example_with_every_line_uncommented_changes_nothing(checkout: Path) -> None:
    (checkout / ".env").write_text("\n".join(f"{k}={v}" for k, v in example_values().items()), encoding="utf-8")
    read = load_settings().model_dump(exclude={"home"})
    assert read == {name: field.default for name, field in Settings.model_fields.items() if name != "home"}
    assert load_settings().home_folder == checkout / ".orcha"


def test_every_setting_says_what_it_means() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_bad_values_give_one_error_that_lists_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORCHA_UI_PORT", "70000")
    monkeypatch.setenv("ORCHA_LEASE_SECONDS", "soon")
    monkeypatch.setenv("ORCHA_TRANSCRIBER", "a-friend")
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    named = re.findall(r"ORCHA_\w+(?=:)", caught.value.message)
    assert sorted(named) == ["ORCHA_LEASE_SECONDS", "ORCHA_TRANSCRIBER", "ORCHA_UI_PORT"]
    assert "docs/configuration.md" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("ORCHA_UI_PORT", "0"), ("ORCHA_QUALITY_THRESHOLD", "1.1"), ("ORCHA_QUALITY_THRESHOLD", "nan")],
)
def test_a_value_outside_its_bounds_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=name):
        load_settings()


def test_a_bad_value_in_the_env_file_is_named_like_one_in_the_environment(checkout: Path) -> None:
    (checkout / ".env").write_text("ORCHA_MAX_PAGES=many\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="ORCHA_MAX_PAGES"):
        load_settings()


def test_an_empty_variable_means_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORCHA_DATABASE_URL", "")
    monkeypatch.setenv("ORCHA_UI_PORT", "")
    settings = load_settings()
    assert (settings.database_url, settings.ui_port) == (None, 3000)


def test_a_relative_home_lies_in_the_checkout(
    monkeypatch: pytest.MonkeyPatch, checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.setenv("ORCHA_HOME", "data/orcha")
    settings = load_settings()
    assert settings.home_folder == checkout / "data" / "orcha"
    assert settings.object_store_url == f"file://{checkout / 'data' / 'orcha' / 'objects'}"


def test_an_absolute_home_stays_where_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("ORCHA_HOME", str(home))
    assert load_settings().home_folder == home


def test_a_running_stack_is_found_through_the_file_in_its_home(monkeypatch: pytest.MonkeyPatch, checkout: Path) -> None:
    monkeypatch.setenv("ORCHA_HOME", "other")
    write_stack_env(checkout / "other", "ORCHA_QUEUE_URL='http://127.0.0.1:20001/q'\n")
    write_stack_env(checkout / ".orcha", "ORCHA_QUEUE_URL='http://127.0.0.1:20002/q'\n")
    assert load_settings().queue_url == "http://127.0.0.1:20001/q"


def test_the_environment_beats_the_env_file_and_that_beats_the_running_stack(
    monkeypatch: pytest.MonkeyPatch, checkout: Path
) -> None:
    names = ("ORCHA_QUEUE_URL", "ORCHA_DATABASE_URL", "ORCHA_DAGSTER_DATABASE_URL")
    write_stack_env(checkout / ".orcha", "".join(f"{name}=stack\n" for name in names))
    (checkout / ".env").write_text("".join(f"{name}=file\n" for name in names[:2]), encoding="utf-8")
    monkeypatch.setenv("ORCHA_QUEUE_URL", "environment")
    settings = load_settings()
    assert (settings.queue_url, settings.database_url, settings.dagster_database_url) == (
        "environment",
        "file",
        "stack",
    )
