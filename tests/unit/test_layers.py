"""The layers of pyproject.toml name every module; that imports keep to them is checked by `lint-imports`."""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "orcha_dagster"
# The one asset module that knows how Dagster batches, and the classes that Dagster loads for its logs and its tables.
MAY_IMPORT_DAGSTER_INTERNALS = {
    "assets/materializing.py",
    "resources/compute_logs.py",
    "resources/dagster_storage.py",
    "resources/run_queue.py",
}


def layered_modules() -> list[str]:
    configuration = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = configuration["tool"]["importlinter"]["contracts"]
    return [module.strip() for layer in contract["layers"] for module in layer.split("|")]


def importers_of(module: str) -> set[str]:
    pattern = re.compile(rf"^\s*(?:from|import) {re.escape(module)}\b", re.MULTILINE)
    return {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if pattern.search(path.read_text(encoding="utf-8"))
    }


def test_every_module_has_its_layer() -> None:
    modules = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert sorted(layered_modules()) == sorted(modules - {"__init__"})


def test_only_these_know_the_inside_of_dagster() -> None:
    assert importers_of("dagster._core") == MAY_IMPORT_DAGSTER_INTERNALS


def test_the_pure_layers_know_neither_dagster_nor_an_sdk() -> None:
    pure = ("domain/", "interfaces/", "pipeline/", "rules/")
    for module in ("dagster", "boto3", "botocore", "psycopg", "sqlalchemy", "obstore", "cv2", "PIL", "pypdfium2"):
        assert [path for path in importers_of(module) if path.startswith(pure)] == []


def test_packages_have_empty_init_files() -> None:
    assert [path for path in PACKAGE.rglob("__init__.py") if path.stat().st_size] == []
