"""Facts of pictures."""

from __future__ import annotations

from pathlib import Path

from engine.protocol.documents import FileProfile, Reading, ReadOptions
from tools.readers.kinds import ReadProblem


def read(path: Path, options: ReadOptions) -> Reading:
    """Format, size, mode, orientation; what is to be seen needs a model that sees."""
    del options
    return Reading(name=path.name, kind="image", text=f"{path.name}: {_facts(path)}")


def profile(path: Path) -> FileProfile:
    """Only that it is a picture that opens."""
    _facts(path)
    return FileProfile(name=path.name, kind="image", size_bytes=path.stat().st_size)


def _facts(path: Path) -> str:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            parts = [f"{image.format} picture", f"{image.width} x {image.height} pixels", f"mode {image.mode}"]
            frames = getattr(image, "n_frames", 1)
            orientation = image.getexif().get(0x0112, 1)
            image.load()
    except Image.DecompressionBombError as error:
        raise ReadProblem("too_large", f"The picture has too many pixels: {error}") from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise ReadProblem("corrupt", f"The picture cannot be opened: {error}") from error
    if frames > 1:
        parts.append(f"{frames} frames")
    if orientation not in (0, 1):
        parts.append(f"to be turned for viewing (EXIF orientation {orientation})")
    return ", ".join(parts)
