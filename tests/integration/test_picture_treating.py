"""What is done to a page's picture: only what a measurement asks for, and so that it is better afterwards."""

import base64

import cv2
import numpy as np
import pytest

from orcha_dagster.adapters.pictures.measuring import measure_picture
from orcha_dagster.adapters.pictures.picture import Picture, encode_picture
from orcha_dagster.adapters.pictures.thumbnails import make_thumbnails
from orcha_dagster.adapters.pictures.treating import treat_picture
from orcha_dagster.domain.pages import PageMeasurement
from tests.integration.drawn_pages import draw_page, lay_on_table, lie_turned


def measure(page: Picture) -> PageMeasurement:
    return measure_picture(page, page=1, dots_per_inch=None)


def treat(page: Picture, *, thoroughly: bool = False) -> tuple[Picture, tuple[str, ...], str]:
    return treat_picture(page, measure(page), thoroughly=thoroughly)


@pytest.mark.parametrize("thoroughly", [False, True])
def test_a_good_page_passes_untouched(thoroughly: bool) -> None:
    page = draw_page()
    picture, steps, reason = treat(page, thoroughly=thoroughly)
    assert picture is page
    assert (steps, reason) == ((), "The page is good enough as it is.")


@pytest.mark.parametrize("thoroughly", [False, True])
@pytest.mark.parametrize("paper", [255, 120])
def test_a_blank_page_is_left_alone(paper: int, thoroughly: bool) -> None:
    _, steps, reason = treat(draw_page((), paper=paper), thoroughly=thoroughly)
    assert steps == ()
    assert reason == "There is no text to be seen on the page."


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_page_that_lies_turned_is_turned_back(rotation: int) -> None:
    page = draw_page()
    picture, steps, reason = treat(lie_turned(page, rotation))
    assert steps == ("rotated",)
    assert f"{rotation}°" in reason
    assert np.array_equal(picture, page)


@pytest.mark.parametrize("skew", [-8.0, 3.0])
def test_a_skewed_page_is_turned_straight(skew: float) -> None:
    picture, steps, _ = treat(draw_page(skew=skew))
    assert steps == ("deskewed",)
    assert measure(picture).skew_degrees == pytest.approx(0, abs=0.2)


def test_a_little_skew_is_worth_a_turn_only_when_the_page_was_read_badly() -> None:
    page = draw_page(skew=1.2)
    assert treat(page)[1] == ()
    assert treat(page, thoroughly=True)[1] == ("deskewed",)


def test_a_page_on_its_side_and_skewed_is_both_turned_and_straightened() -> None:
    picture, steps, _ = treat(lie_turned(draw_page(skew=-5), 90))
    assert steps == ("rotated", "deskewed")
    again = measure(picture)
    assert again.rotation_degrees == 0
    assert again.skew_degrees == pytest.approx(0, abs=0.2)


def test_the_sheet_is_cut_out_of_a_photo_and_seen_from_above() -> None:
    page = draw_page()
    picture, steps, _ = treat(lay_on_table(page))
    assert steps == ("cropped",)
    again = measure(picture)
    assert again.skew_degrees == pytest.approx(0, abs=0.5)
    assert picture.shape[0] / picture.shape[1] == pytest.approx(page.shape[0] / page.shape[1], rel=0.15)
    assert float((picture > 200).mean()) > 0.8  # paper, no table


def test_faded_ink_becomes_dark_again() -> None:
    faded = draw_page(ink=205, paper=225)
    picture, steps, _ = treat(faded)
    assert steps == ("contrast_raised",)
    assert (measure(picture).contrast or 0) > 4 * (measure(faded).contrast or 1)


def test_heavy_grain_is_taken_away() -> None:
    grain = np.random.default_rng(2).normal(0, 45, (1100, 900, 1))
    grainy = np.clip(draw_page(ink=60, paper=200) + grain, 0, 255).astype(np.uint8)
    picture, steps, _ = treat(grainy)
    assert "denoised" in steps
    assert (measure(picture).noise or 0) < (measure(grainy).noise or 0) / 3


def test_a_page_that_was_read_badly_gets_all_that_may_help() -> None:
    light = np.linspace(1, 0.35, 450)[None, :, None]
    small = cv2.resize(draw_page(ink=110, size=22), (450, 550), interpolation=cv2.INTER_AREA)
    poor = np.asarray(cv2.GaussianBlur((small * light).astype(np.uint8), (0, 0), 1.2), np.uint8)
    assert treat(poor)[1] == ()
    picture, steps, _ = treat(poor, thoroughly=True)
    assert steps == ("light_flattened", "contrast_raised", "sharpened", "upscaled")
    before, after = measure(poor), measure(picture)
    assert (after.shading or 0) < (before.shading or 0) / 2
    assert (after.contrast or 0) > (before.contrast or 0)
    assert (after.letter_height or 0) > 1.5 * (before.letter_height or 0)


def test_a_picture_is_encoded_as_a_jpeg_that_shows_the_same() -> None:
    page = draw_page()
    encoded = encode_picture(page)
    assert encoded.startswith(b"\xff\xd8\xff")
    decoded = cv2.imdecode(np.frombuffer(encoded, np.uint8), cv2.IMREAD_COLOR)
    assert decoded is not None
    assert np.abs(decoded.astype(int) - page).mean() < 2


def test_thumbnails_are_small_and_show_before_and_after() -> None:
    before, after = draw_page(skew=5), draw_page()
    thumbnails = make_thumbnails(before, after)
    for thumbnail in (thumbnails.before, thumbnails.after):
        content = base64.b64decode(thumbnail)
        assert len(content) < 8_000
        decoded = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_GRAYSCALE)
        assert decoded is not None
        assert decoded.shape == (196, 160)
    assert thumbnails.before != thumbnails.after


def test_the_thumbnail_of_a_till_roll_is_no_longer_than_a_list_can_show() -> None:
    content = base64.b64decode(make_thumbnails(np.full((9000, 400, 3), 255, np.uint8), draw_page()).before)
    decoded = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_GRAYSCALE)
    assert decoded is not None
    assert decoded.shape == (480, 21)
