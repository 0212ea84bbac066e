"""Which language a request is in, so that the result is in the same; quoted names do not count."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"[\"“”'‘’«»「」].*?[\"“”'‘’«»「」]|\S+\.\w{1,5}\b")
_COMMON = {
    "English": "the a an and of to in for is are with please that this from each by on it as me my our",
    "German": "der die das und von zu in für ist mit bitte den dem eine ein auf aus pro je als",
    "French": "le la les et de des du pour est avec un une dans par sur chaque en que",
    "Spanish": "el la los las y de del para es con un una en por cada que al",
}


def language_of(text: str) -> str:
    """Name of the language in English; ``the language of the request`` where it is unclear.

    Args:
        text: a person's words.
    """
    plain = _QUOTED.sub(" ", text)
    if re.search(r"[\u3040-\u30ff]", plain):
        return "Japanese"
    if len(re.findall(r"[\u4e00-\u9fff]", plain)) > len(re.findall(r"[A-Za-z]+", plain)):
        return "Chinese"
    words = re.findall(r"[^\W\d_]+", plain.lower())
    counts = {name: sum(word in common.split() for word in words) for name, common in _COMMON.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else "the language of the request"
