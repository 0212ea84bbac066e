"""Which encoding a text file has."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_EAST_ASIAN = ("cp932", "gb18030", "big5", "euc_jp", "cp949")
_SAMPLE_BYTES = 256 << 10


def detect_encoding(path: Path) -> str | None:
    """The Python name of a text file's encoding, from its first 256 KiB; None if it does not look like text.

    A byte order mark decides; then UTF-8 if it decodes; then UTF-16 by its zero bytes; then East Asian encodings by
    what they decode to; then what charset-normalizer says; Latin-1 for the rest.
    """
    with path.open("rb") as file:
        sample = file.read(_SAMPLE_BYTES)
    for mark, name in _BOMS:
        if sample.startswith(mark):
            return name
    if _decodes(sample, "utf-8") is not None and b"\0" not in sample:
        return "utf-8"
    if b"\0" in sample:
        return _wide(sample)
    # a text has few control characters, whatever its encoding
    controls = sum(byte < 32 and byte not in (7, 8, 9, 10, 12, 13, 27) for byte in sample[:4096])
    if controls > len(sample[:4096]) * 0.02:
        return None
    latin = _decodes(sample, "cp1252")
    # accented letters stand singly among plain ones; East Asian characters are pairs of such bytes, in runs
    runs = re.findall(rb"[\x80-\xff]+", sample[: 64 << 10])
    if latin is not None and sum(len(run) == 1 for run in runs) > 0.7 * len(runs) and _western(latin):
        return "cp1252"
    return _east_asian(sample) or _single_byte(sample)


def read_text(path: Path, encoding: str | None = None) -> tuple[str, str]:
    """The whole text of a file with its line ends as they are, and the encoding.

    Raises:
        ValueError: it is not text.
    """
    encoding = encoding or detect_encoding(path)
    if encoding is None:
        raise ValueError("not text")
    return path.read_bytes().decode(encoding, errors="replace"), encoding


def _decodes(sample: bytes, encoding: str) -> str | None:
    """The decoded sample, forgiving a character cut at its end; None if it is not in this encoding."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample, final=len(sample) < _SAMPLE_BYTES)
    except UnicodeDecodeError:
        return None


def _wide(sample: bytes) -> str | None:
    """UTF-16 without a mark, if that makes text of it."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    text = _decodes(sample[: len(sample) // 2 * 2], encoding)
    if text is None or any(ord(char) < 32 and char not in "\t\n\r\f\x1a" for char in text):
        return None
    return encoding if max(even, odd) > 0.3 * len(text) else None


def _east_asian(sample: bytes) -> str | None:
    """The East Asian encoding that makes the most sense of the sample, if one makes enough."""
    best, best_score = None, 0.0
    for encoding in _EAST_ASIAN:
        text = _decodes(sample, encoding)
        if text is None:
            continue
        score = _plausibility(text)
        if score > best_score + 0.02:
            best, best_score = encoding, score
    return best if best_score > 0.6 else None


def _plausibility(text: str) -> float:
    """How usual the non-ASCII characters of a text are in East Asian writing, from 0 to 1."""
    foreign = [char for char in text if ord(char) > 127]
    if not foreign:
        return 0.0
    # Chinese and Korean share their byte pairs; real Korean is full of these syllables
    korean = sum(char in "이다는에의가을를로고하서지한사도기인대시자" for char in foreign) > 0.08 * len(foreign)
    return sum(_usual(char) for char in foreign) / len(foreign) + (0.06 if korean else 0.0)


def _usual(char: str) -> float:
    code = ord(char)
    if 0x3041 <= code <= 0x30FF:
        return 1.0
    if 0xAC00 <= code <= 0xD7A3:
        return 0.93 if _has("euc_kr", char) and len(char.encode("euc_kr")) == 2 else 0.1
    if 0x4E00 <= code <= 0x9FFF:
        # the first level of GB 2312 holds the Chinese characters in daily use
        if not _has("gb2312", char):
            return 0.75 if _has("cp932", char) or _has("big5", char) else 0.3
        return 0.95 if char.encode("gb2312")[0] < 0xD8 else 0.6
    if 0x3000 <= code <= 0x303F or 0xFF01 <= code <= 0xFF5E or char in "“”‘’…—·":
        return 0.9
    # half-width kana and rare blocks are what wrong decodings are full of
    return 0.1


def _has(encoding: str, char: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _single_byte(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    latin = _decodes(sample, "cp1252")
    if latin is not None and _western(latin):
        return "cp1252"
    match = from_bytes(sample[: 64 << 10], cp_exclusion=["utf_7", *_EAST_ASIAN]).best()
    if match is not None:
        return str(match.encoding)
    return "cp1252" if latin is not None else "latin-1"


def _western(text: str) -> bool:
    """Whether all accented characters are those of western European writing and stand singly inside words."""
    foreign = [char for char in text if ord(char) > 127]
    usual = sum(
        char in "äöüÄÖÜßéèêëàâáçñóòôíìîúùûåøæœÉÈÀÇÑÅØÆ€£°§²³«»“”‘’–—…·©®¿¡½ãõÁÓÍÚÂÊÎÔÛËÏÌÒÙÀÃÕðþýÐÞÝ"
        for char in foreign
    )
    return usual >= 0.9 * len(foreign)
