"""Bars of a chart, measured in the picture itself: solid rectangles of like width on a common baseline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

_LONGEST_SIDE = 1600


class Box(msgspec.Struct, frozen=True):
    """A solid rectangle in pixels; `right` and `bottom` are exclusive."""

    left: int
    top: int
    right: int
    bottom: int
    area: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top


class Bars(msgspec.Struct, frozen=True):
    """Bars in reading order: lengths in pixels, left to right or top to bottom."""

    lengths: tuple[int, ...] = ()
    vertical: bool = True


def load(path: Path) -> Any:
    """A picture as an array of (height, width, 3) bytes on white; large ones are made smaller without blending."""
    import numpy
    from PIL import Image

    with Image.open(path) as opened:
        picture = opened.convert("RGBA")
    ground = Image.new("RGBA", picture.size, "white")
    ground.alpha_composite(picture)
    scale = max(1, -(-max(ground.size) // _LONGEST_SIDE))
    if scale > 1:
        ground = ground.resize((ground.width // scale, ground.height // scale), Image.Resampling.NEAREST)
    return numpy.asarray(ground.convert("RGB"))


def ink_share(pixels: Any) -> float:
    """Share of pixels that differ clearly from the commonest colour."""
    import numpy

    codes = _codes(pixels)
    values, counts = numpy.unique(codes, return_counts=True)
    ground = int(values[counts.argmax()])
    base = numpy.array([ground >> 16, ground >> 8 & 255, ground & 255])
    return float((numpy.abs(pixels.astype(int) - base).max(axis=2) > 24).mean())


def _codes(pixels: Any) -> Any:
    wide = pixels.astype("int32")
    return (wide[..., 0] << 16) | (wide[..., 1] << 8) | wide[..., 2]


def find_bars(pixels: Any) -> Bars:
    """The bars of a chart.

    Args:
        pixels: as given by `load`.

    Returns:
        The largest set of solid rectangles that share a baseline and a width; none where there is no such set.
    """
    boxes = _boxes(pixels)
    best, best_area = Bars(), 0
    for vertical in (True, False):
        found = _aligned(boxes, vertical)
        found = [box for box in found if (box.height if vertical else box.width) >= 2]  # pieces of the axis line
        area = sum(box.area for box in found)
        if area > best_area:
            best_area = area
            ordered = sorted(found, key=lambda box: box.left if vertical else box.top)
            best = Bars(tuple(box.height if vertical else box.width for box in ordered), vertical)
    return best


def _boxes(pixels: Any) -> list[Box]:
    import numpy

    codes = _codes(pixels)
    values, counts = numpy.unique(codes, return_counts=True)
    total = codes.size
    rim = numpy.concatenate((codes[0], codes[-1], codes[:, 0], codes[:, -1]))  # bars may fill most of a picture
    shades, often = numpy.unique(rim, return_counts=True)
    ground = int(shades[often.argmax()])
    boxes: list[Box] = []
    for value, count in sorted(zip(values.tolist(), counts.tolist(), strict=True), key=lambda item: -item[1])[:80]:
        if value == ground or count < max(12, total * 0.00004) or _is_plate(value, count / total):
            continue
        boxes.extend(_mended(_components(codes == value)))
    return [box for box in boxes if box.width >= 3 and box.height >= 1 and box.area >= 0.72 * box.width * box.height]


def _mended(boxes: list[Box]) -> list[Box]:
    """Pieces of one bar, cut by grid lines drawn over it, put together again."""
    boxes = [box for box in boxes if box.area >= 4]
    for standing in (True, False):
        kept: list[Box] = []
        last: dict[tuple[int, int], int] = {}
        for box in sorted(boxes, key=lambda item: item.top if standing else item.left):
            span = (box.left, box.right) if standing else (box.top, box.bottom)
            place = last.get(span)
            before = kept[place] if place is not None else None
            gap = (box.top - before.bottom if standing else box.left - before.right) if before else 9
            if before is not None and place is not None and 0 <= gap <= 3 and span[1] - span[0] >= 4:
                edges = (min(box.left, before.left), min(box.top, before.top), max(box.right, before.right))
                kept[place] = Box(*edges, max(box.bottom, before.bottom), box.area + before.area)
            else:
                last[span] = len(kept)
                kept.append(box)
        boxes = kept
    return boxes


def _is_plate(code: int, share: float) -> bool:
    """The pale ground of a plot area: a large, nearly colourless surface."""
    channels = (code >> 16, code >> 8 & 255, code & 255)
    pale = max(channels) - min(channels) < 24
    return pale and ((share > 0.25 and min(channels) > 200) or (share > 0.05 and min(channels) > 222))


def _components(mask: Any) -> list[Box]:
    """Connected areas of a mask, joined from runs of rows."""
    import numpy

    parents: list[int] = []
    boxes: list[list[int]] = []

    def root(node: int) -> int:
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    above: list[tuple[int, int, int]] = []
    padded = numpy.zeros((mask.shape[0], mask.shape[1] + 2), dtype=numpy.int8)
    padded[:, 1:-1] = mask
    steps = numpy.diff(padded, axis=1)
    for y in numpy.flatnonzero(mask.any(axis=1)).tolist():
        starts = numpy.flatnonzero(steps[y] == 1).tolist()
        ends = numpy.flatnonzero(steps[y] == -1).tolist()
        current: list[tuple[int, int, int]] = []
        touching = [run for run in above if run and boxes[root(run[2])][3] == y]
        for start, end in zip(starts, ends, strict=True):
            joined = {root(node) for left, right, node in touching if left < end and start < right}
            node = min(joined) if joined else len(parents)
            if not joined:
                parents.append(node)
                boxes.append([start, y, end, y + 1, 0])
            for other in joined - {node}:
                parents[other] = node
                _join(boxes[node], boxes[other])
            _join(boxes[node], [start, y, end, y + 1, end - start])
            current.append((start, end, node))
        above = current
    return [Box(*boxes[node]) for node in range(len(parents)) if parents[node] == node]


def _join(into: list[int], other: list[int]) -> None:
    into[0], into[1] = min(into[0], other[0]), min(into[1], other[1])
    into[2], into[3] = max(into[2], other[2]), max(into[3], other[3])
    into[4] += other[4]


def _aligned(boxes: Sequence[Box], vertical: bool) -> list[Box]:
    """The largest set of boxes with one baseline and one thickness, side by side."""
    best: list[Box] = []
    for anchor in boxes:
        thick = anchor.width if vertical else anchor.height
        base = anchor.bottom if vertical else anchor.left
        if thick < 4:
            continue
        slack = max(2, thick * 0.06)
        same = [
            box
            for box in boxes
            if abs((box.bottom if vertical else box.left) - base) <= 2
            and abs((box.width if vertical else box.height) - thick) <= slack
        ]
        apart = _side_by_side(same, vertical)
        if sum(box.area for box in apart) > sum(box.area for box in best):
            best = apart
    return best


def _side_by_side(boxes: Sequence[Box], vertical: bool) -> list[Box]:
    kept: list[Box] = []
    for box in sorted(boxes, key=lambda item: -item.area):  # the blended edge of a bar is no bar of its own
        start, end = (box.left, box.right) if vertical else (box.top, box.bottom)
        spans = [(other.left, other.right) if vertical else (other.top, other.bottom) for other in kept]
        if all(start >= other_end - 1 or end <= other_start + 1 for other_start, other_end in spans):
            kept.append(box)
    return kept


def same_shape(lengths: Sequence[int], values: Sequence[float]) -> bool:
    """Whether sorted bar lengths stand in the same proportions as sorted values (two pixels, or two in a hundred)."""
    tall, top = max(lengths), max(values)
    if tall <= 0 or top <= 0 or len(lengths) != len(values):
        return False
    pairs = zip(sorted(lengths), sorted(values), strict=True)
    return all(abs(length - value / top * tall) <= max(2.5, 0.02 * tall) for length, value in pairs)
