"""Pages that lie on a side or upside down, before the real models. A wrong turn is worse than none."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from orcha_dagster.adapters.pictures.direction_models import CLASSIFIER, RECOGNISER, judge_readability
from orcha_dagster.adapters.pictures.letters import find_letters
from orcha_dagster.adapters.pictures.orientation import find_rotation, share_of_letters_in_rows, turn_upright
from orcha_dagster.adapters.pictures.picture import Picture, to_grey
from orcha_dagster.samples.drawing import draw_receipt
from tests.integration.drawn_pages import SENTENCES, draw_page, lie_turned

ROTATIONS = [0, 90, 180, 270]


def rotation_of(page: Picture) -> int | None:
    grey = to_grey(page)
    return find_rotation(grey, find_letters(grey))


@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("skew", [0.0, -6.0])
def test_a_page_is_found_to_lie_as_it_does(rotation: int, skew: float) -> None:
    assert rotation_of(lie_turned(draw_page(skew=skew), rotation)) == rotation


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_a_receipt_of_capitals_and_figures_is_found_to_lie_as_it_does(tmp_path: Path, rotation: int) -> None:
    for seed in (3, 4):
        path = draw_receipt(tmp_path / f"receipt-{seed}.png", seed=seed).path
        page = cv2.imread(str(path))
        assert page is not None
        assert rotation_of(lie_turned(np.asarray(page, np.uint8), rotation)) == rotation


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_turning_upright_undoes_a_rotation(rotation: int) -> None:
    page = draw_page()
    assert np.array_equal(turn_upright(lie_turned(page, rotation), rotation), page)


def test_a_page_without_text_lies_no_way() -> None:
    assert rotation_of(draw_page(())) is None


def test_grain_without_text_lies_no_way() -> None:
    grain = np.random.default_rng(5).integers(0, 256, (1100, 900, 3)).astype(np.uint8)
    assert rotation_of(grain) is None


def test_a_page_of_signs_that_nobody_reads_is_left_as_it_lies() -> None:
    """Rows of little boxes look like lines of letters, but no way round can they be read."""
    page = draw_page(())
    for top in range(100, 1000, 50):
        for left in range(100, 800, 24):
            cv2.rectangle(page, (left, top), (left + 14, top + 20), (0, 0, 0), 2)
    assert rotation_of(page) in (None, 0)
    assert rotation_of(lie_turned(page, 90)) in (None, 0)


def test_letters_stand_in_rows_on_an_upright_page_and_not_on_one_on_its_side() -> None:
    page = to_grey(draw_page())
    assert share_of_letters_in_rows(find_letters(page)) > 0.9
    assert share_of_letters_in_rows(find_letters(turn_upright(page, 90))) < 0.1


def test_text_upside_down_is_less_readable() -> None:
    page = to_grey(draw_page(SENTENCES[:1]))
    line = page[115:160, 115:300]
    upright, upside_down = judge_readability([line, np.ascontiguousarray(line[::-1, ::-1])])
    assert upright > 0.85 > 0.8 > upside_down


@pytest.mark.parametrize("name", [CLASSIFIER, RECOGNISER])
def test_the_models_are_in_the_package_that_is_installed(name: str) -> None:
    from orcha_dagster.adapters.pictures.direction_models import _find_model

    assert _find_model(name).stat().st_size > 100_000
