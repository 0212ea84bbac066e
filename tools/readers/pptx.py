"""Presentations: titles, text, tables, notes, slide by slide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.protocol.documents import FileProfile, Reading, ReadOptions
from engine.protocol.errors import ModelError
from tools.readers.kinds import ReadProblem
from tools.readers.packages import check_package
from tools.readers.text import count_words
from tools.readers.windows import markdown_table, page_numbers, present


def read(path: Path, options: ReadOptions) -> Reading:
    """Slides as Markdown; `ReadOptions.pages` chooses some."""
    slides = list(_open(path).slides)
    try:
        wanted = page_numbers(options.pages, len(slides)) if options.pages else list(range(1, len(slides) + 1))
    except ValueError as error:
        raise ModelError(f"pages={options.pages!r} is not a list of slides; write pages='2' or '3-5'.") from error
    parts = [f"{path.name}: {len(slides)} slides", *(_slide(number, slides[number - 1]) for number in wanted)]
    hint = "pages='3-5' reads some slides."
    return present(path.name, "pptx", "\n\n".join(parts), options, hint=hint)


def profile(path: Path) -> FileProfile:
    """Slides, words, titles."""
    slides = list(_open(path).slides)
    titles = [_title(slide) for slide in slides]
    words = sum(count_words(text) for slide in slides for text in _texts(slide.shapes, skip=None))
    return FileProfile(
        name=path.name,
        kind="pptx",
        size_bytes=path.stat().st_size,
        pages=len(slides),
        words=words,
        headings=tuple(title for title in titles if title)[:50],
    )


def _open(path: Path) -> Any:
    import pptx
    from pptx.exc import PackageNotFoundError

    parts = check_package(path)
    if not any(name.startswith("ppt/") for name in parts):
        raise ReadProblem("corrupt", "The file is a package, but not a presentation.")
    try:
        return pptx.Presentation(str(path))
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise ReadProblem("corrupt", f"The presentation is damaged: {error}") from error


def _slide(number: int, slide: Any) -> str:
    title = slide.shapes.title
    lines = [f"## Slide {number}: {_title(slide) or '(no title)'}", *_texts(slide.shapes, skip=title)]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        if notes:
            lines.append(f"Notes: {notes}")
    return "\n".join(lines)


def _title(slide: Any) -> str:
    title = slide.shapes.title
    return " ".join(title.text_frame.text.split()) if title is not None and title.has_text_frame else ""


def _texts(shapes: Any, skip: Any) -> Iterator[str]:
    """Texts of shapes, groups entered, tables as Markdown, pictures and charts named."""
    for shape in shapes:
        if skip is not None and shape.shape_id == skip.shape_id:
            continue
        if hasattr(shape, "shapes"):
            yield from _texts(shape.shapes, skip)
        elif getattr(shape, "has_table", False):
            yield markdown_table([[cell.text for cell in row.cells] for row in shape.table.rows])
        elif getattr(shape, "has_chart", False):
            yield _chart(shape.chart)
        elif shape.has_text_frame:
            for paragraph in shape.text_frame.paragraphs:
                text = "".join(run.text for run in paragraph.runs).strip()
                if text:
                    yield f"{'  ' * paragraph.level}- {text}"


def _chart(chart: Any) -> str:
    names = [str(series.name) for plot in chart.plots for series in plot.series]
    return f"(chart with the series {', '.join(names)})" if names else "(chart)"
