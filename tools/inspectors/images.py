"""Pictures: opens, size, blank."""

from __future__ import annotations

from pathlib import Path

from tools.inspectors.bars import ink_share, load
from tools.inspectors.base import Found, fault


def inspect(path: Path) -> Found:
    """Facts: ``width``, ``height``, ``format`` in pixels. Defects: one colour only, tiny."""
    from PIL import Image

    with Image.open(path) as picture:
        picture.load()
        width, height = picture.size
        facts = {"width": width, "height": height, "format": picture.format}
        clear = picture.mode == "RGBA" and picture.getchannel("A").getextrema()[1] == 0
    if width < 16 or height < 16:
        says = f"It is {width} × {height} pixels."
        return facts, [fault("image.tiny", path.name, "", says, False)]
    if clear or ink_share(load(path)) == 0:
        return facts, [fault("image.blank", path.name, "", "It has one colour only.")]
    return facts, []
