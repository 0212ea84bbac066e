"""Looks at a chart's pixels: is anything drawn, and how many bars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError


def picture(path: Path) -> Any | None:
    """Pixels as an array of shape (height, width, 3), or None if it is no readable picture."""
    try:
        with Image.open(path) as image:
            flat = Image.new("RGBA", image.size, "white")
            flat.alpha_composite(image.convert("RGBA"))
    except (UnidentifiedImageError, OSError, ValueError):
        return None
    return np.asarray(flat.convert("RGB"), dtype=np.int16)


def is_blank(pixels: Any) -> bool:
    """Whether there is (almost) nothing but one colour."""
    differs = np.abs(pixels - pixels[0, 0]).max(axis=2) > 24
    return float(differs.mean()) < 0.002


def count_bars(pixels: Any) -> tuple[int, ...] | None:
    """Bars counted along the base line, standing and lying; None where no coloured area was found.

    A bar is a coloured run (not grey) in a strip just inside the coloured area's lower or left edge, where every
    bar begins.
    """
    mask = (pixels.max(axis=2) - pixels.min(axis=2)) > 40
    if mask.sum() < 200:
        return None
    rows = np.flatnonzero(mask.sum(axis=1) >= 4)
    columns = np.flatnonzero(mask.sum(axis=0) >= 4)
    if not len(rows) or not len(columns):
        return None
    standing = _runs(mask[max(0, rows[-1] - 5) : rows[-1] - 1].any(axis=0))
    lying = _runs(mask[:, columns[0] + 2 : columns[0] + 6].any(axis=1))
    return tuple(dict.fromkeys((standing, lying)))


def _runs(line: Any) -> int:
    """Runs of at least three pixels."""
    padded = np.concatenate(([False], line, [False])).astype(np.int8)
    steps = np.diff(padded)
    lengths = np.flatnonzero(steps == -1) - np.flatnonzero(steps == 1)
    return int((lengths >= 3).sum())
