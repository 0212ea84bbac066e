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
        facts = {"width": picture.width, "height": picture.height, "format": picture.format}
        clear = picture.mode == "RGBA" and picture.getchannel("A").getextrema()[1] == 0
    if facts["width"] < 16 or facts["height"] < 16:
        says = f"It is {facts['width']} × {facts['height']} pixels."
        return facts, [fault("image.tiny", path.name, "", says, False)]
    if clear or ink_share(load(path)) == 0:
        return facts, [fault("image.blank", path.name, "", "It has one colour only.")]
    return facts, []
