"""Draws the sample documents. The same seed gives the same bytes; another seed another company and other goods."""

import random
from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np

from orcha_dagster.samples.einvoice import write_hybrid
from orcha_dagster.samples.invoices import render_invoice
from orcha_dagster.samples.letterheads import LETTERHEADS
from orcha_dagster.samples.photographing import photograph, scan
from orcha_dagster.samples.receipts import LAYOUTS, render_receipt
from orcha_dagster.samples.sample import Sample, write_truth
from orcha_dagster.samples.trade import Trade, invent_trade


def draw_samples(folder: Path, seed: int = 7) -> list[Sample]:
    """The six samples every installation starts with."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        draw_invoice(folder / "invoice-en.pdf", country="GB", seed=seed, layout="banner"),
        draw_invoice(folder / "invoice-de.pdf", country="DE", seed=seed, line_count=52, layout="letter"),
        draw_receipt(folder / "receipt-scan.png", country="US", seed=seed, line_count=9, layout="counter"),
        draw_receipt(folder / "receipt-photo.jpg", country="MY", seed=seed, layout="market"),
        draw_einvoice(folder / "facture-fr.pdf", seed=seed),
        draw_damaged(folder / "damaged.pdf", seed=seed),
    ]


def draw_invoice(
    path: Path, country: str = "GB", seed: int = 7, line_count: int = 7, layout: str | None = None
) -> Sample:
    """A born-digital invoice from GB, US, DE or FR. Without a layout the seed chooses one."""
    trade = invent_trade(country, seed, line_count)
    path.write_bytes(render_invoice(trade, layout or _choose(LETTERHEADS, seed)))
    return write_truth(_completed(path, "invoice", trade, trade.to_fields()), lines=_lines(trade))


def draw_einvoice(path: Path, seed: int = 7, line_count: int = 6, layout: str | None = None) -> Sample:
    """A French Factur-X invoice: the page for people, the XML inside for machines, the same amounts in both."""
    trade = invent_trade("FR", seed, line_count)
    write_hybrid(path, render_invoice(trade, layout or _choose(LETTERHEADS, seed)), trade)
    return write_truth(_completed(path, "invoice", trade, trade.to_fields()), lines=_lines(trade))


def draw_receipt(
    path: Path, country: str = "US", seed: int = 7, line_count: int = 6, layout: str | None = None
) -> Sample:
    """A receipt from US or MY: a straight scan when the path ends in .png, a skewed photo when in .jpg."""
    trade = invent_trade(country, seed, line_count)
    page = np.asarray(render_receipt(trade, layout or _choose(LAYOUTS, seed)))
    skew = 0.0
    if path.suffix == ".png":
        picture = scan(page, seed)
    else:
        skew = _invent_skew(seed)
        picture = photograph(page, skew, seed)
    _, encoded = cv2.imencode(path.suffix, picture)
    path.write_bytes(encoded.tobytes())
    # A receipt names no buyer, and its running number is not one anybody books by.
    fields = {name: value for name, value in trade.to_fields().items() if name not in ("buyer", "number")}
    sample = _completed(path, "receipt", trade, fields)
    return write_truth(sample, lines=_lines(trade), receipt_number=trade.number, skew_degrees=skew)


def draw_damaged(path: Path, seed: int = 7) -> Sample:
    """An invoice whose transfer broke off half-way: without catalogue and page tree no reader can mend it."""
    whole = render_invoice(invent_trade("GB", seed, 7), "letter")
    path.write_bytes(whole[: len(whole) // 2])
    return write_truth(Sample(path, "invoice", "en", "failed", None, "DOCUMENT_DAMAGED", {}))


def _completed(path: Path, kind: str, trade: Trade, fields: dict[str, str]) -> Sample:
    return Sample(path, kind, trade.market.language, "completed", "accepted", None, fields)


def _lines(trade: Trade) -> list[dict[str, str]]:
    return [
        {
            "article": line.article,
            "description": line.description,
            "quantity": str(line.quantity),
            "unit_price": str(line.unit_price),
            "amount": str(line.amount),
        }
        for line in trade.lines
    ]


def _invent_skew(seed: int) -> float:
    """Three to six degrees to either side."""
    dice = random.Random(f"skew-{seed}")
    return dice.choice((-1, 1)) * round(dice.uniform(3.2, 5.8), 1)


def _choose(layouts: Mapping[str, object], seed: int) -> str:
    return sorted(layouts)[seed % len(layouts)]
