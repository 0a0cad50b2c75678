"""Every figure of a page's measurement answers to its flaw, and not to others."""

import time

import cv2
import numpy as np
import pytest

from orcha_dagster.adapters.pictures.measuring import measure_picture
from orcha_dagster.adapters.pictures.picture import Picture
from orcha_dagster.domain.pages import PageMeasurement
from tests.integration.drawn_pages import HEIGHT, WIDTH, draw_page, lay_on_table, lie_turned


def measure(page: Picture, dots_per_inch: float | None = None) -> PageMeasurement:
    return measure_picture(page, page=3, dots_per_inch=dots_per_inch)


def with_grain(page: Picture, grey_levels: float) -> Picture:
    grain = np.random.default_rng(1).normal(0, grey_levels, page.shape[:2])[:, :, None]
    return np.clip(page * 0.8 + 20 + grain, 0, 255).astype(np.uint8)


def in_shadow(page: Picture) -> Picture:
    light = np.linspace(1, 0.4, page.shape[1])[None, :, None]
    return (page * light).astype(np.uint8)


def test_a_good_page_has_good_figures() -> None:
    measurement = measure(draw_page())
    assert (measurement.page, measurement.width, measurement.height) == (3, WIDTH, HEIGHT)
    assert measurement.has_text_layer is False
    assert (measurement.rotation_degrees, measurement.skew_degrees, measurement.border) == (0, 0.0, 0.0)
    assert (measurement.sharpness or 0) > 0.8
    assert (measurement.contrast or 0) > 0.8
    assert measurement.noise == pytest.approx(0, abs=0.01)
    assert measurement.shading == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("size", [20, 40])
def test_letters_are_as_high_as_they_were_drawn(size: int) -> None:
    assert measure(draw_page(size=size)).letter_height == pytest.approx(size * 0.6, rel=0.25)


def test_the_resolution_is_what_the_file_tells_or_else_what_the_letters_tell() -> None:
    page = draw_page()
    assert measure(page, dots_per_inch=300.0).dots_per_inch == 300.0
    small = np.asarray(cv2.resize(page, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8)
    told, halved = measure(page).dots_per_inch, measure(small).dots_per_inch
    assert told is not None
    assert halved is not None
    assert halved == pytest.approx(told / 2, rel=0.25)


@pytest.mark.parametrize("skew", [-12.0, -3.0, -0.8, 1.5, 7.0])
@pytest.mark.parametrize("rotation", [0, 270])
def test_skew_is_told_apart_from_rotation(skew: float, rotation: int) -> None:
    measurement = measure(lie_turned(draw_page(skew=skew), rotation))
    assert measurement.rotation_degrees == rotation
    assert measurement.skew_degrees == pytest.approx(skew, abs=0.3)


def test_blur_lowers_sharpness_step_by_step() -> None:
    pages = [np.asarray(cv2.GaussianBlur(draw_page(), (0, 0), sigma), np.uint8) for sigma in (0.5, 1.5, 3.0)]
    figures = [measure(page).sharpness or 0 for page in pages]
    assert figures[0] > figures[1] + 0.05 > figures[2] + 0.1


def test_grain_raises_noise_and_nothing_else_does() -> None:
    clean, grainy = measure(draw_page()), measure(with_grain(draw_page(), 20))
    assert (grainy.noise or 0) > 0.05 > (clean.noise or 0)
    assert (measure(in_shadow(draw_page())).noise or 0) < 0.02


def test_faded_ink_lowers_contrast() -> None:
    assert measure(draw_page(ink=190, paper=225)).contrast == pytest.approx(35 / 255, abs=0.03)


def test_light_from_one_side_is_shading() -> None:
    assert (measure(in_shadow(draw_page())).shading or 0) > 0.3


def test_what_is_not_the_sheet_is_border() -> None:
    assert measure(lay_on_table(draw_page())).border == pytest.approx(0.6, abs=0.1)


def test_a_shadow_across_a_page_is_not_the_edge_of_the_sheet() -> None:
    page = draw_page()
    page[:, WIDTH // 2 :] = (page[:, WIDTH // 2 :] * 0.35).astype(np.uint8)
    assert measure(page).border == 0.0


def test_a_dark_frame_with_bright_letters_belongs_to_the_page() -> None:
    page = lay_on_table(draw_page())
    for index in range(6):
        for top in (60 + 40 * index % 80, page.shape[0] - 60 - 40 * (index % 3)):
            cv2.putText(page, "Special offers of the season", (40, top), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (255,) * 3, 2)
    assert measure(page).border == 0.0


@pytest.mark.parametrize("shape", [(1, 1, 3), (3, 900, 3), (900, 2, 3), (40, 40, 3)])
def test_slivers_are_measured_like_any_page(shape: tuple[int, int, int]) -> None:
    for value in (0, 128, 255):
        measurement = measure(np.full(shape, value, np.uint8))
        assert (measurement.letter_height, measurement.rotation_degrees) == (None, None)


def test_a_page_of_an_office_scanner_is_measured_in_no_time() -> None:
    page = np.asarray(cv2.resize(draw_page(), (1654, 2339)), np.uint8)
    measure(page)  # loads the models
    took = []
    for _ in range(5):
        began = time.process_time()
        measure(page)
        took.append(time.process_time() - began)
    assert min(took) < 0.5  # 0.1 s on a quiet machine
