"""Runs one script that is given on standard input; used inside the sandbox, where none of our packages exist.

Standard library only. It shows errors by the script's own lines, saves figures that the script shows, and lets tables
print wide.
"""

import builtins
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import os
import sys
import traceback
import types

OURS = ("engine", "models", "tools", "prompts", "desktop")
NAME = "script.py"
MOST_NAMES = 40


def main() -> int:
    """Run the script; gives the exit status: 1 after an exception, else what the script asked for."""
    source = sys.stdin.buffer.read().decode("utf-8")
    folder = os.getcwd()  # noqa: PTH109
    # Last, so that a file of the user called random.py does not replace the library's.
    sys.path.append(folder)
    sys.meta_path.insert(0, _Hooks(folder))
    path = os.path.join(folder, NAME)  # noqa: PTH118 - pathlib would be a third of the start-up time here
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=builtins)
    sys.modules["__main__"] = module
    sys.argv = [path]
    try:
        exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
        _save_open_figures()
    except SystemExit as leaving:
        return _status(leaving)
    except BaseException as error:  # noqa: BLE001 - whatever the script raised is reported and ends it
        sys.stdout.flush()
        sys.stderr.write(_report(error, path))
        return 1
    return 0


def _status(leaving: SystemExit) -> int:
    if leaving.code is None or isinstance(leaving.code, int):
        return leaving.code or 0
    sys.stderr.write(f"{leaving.code}\n")
    return 1


class _Hooks(importlib.abc.MetaPathFinder):
    """Finds our own packages nowhere but in the workspace, and adjusts two libraries once they are loaded."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._busy: set[str] = set()

    def find_spec(
        self, fullname: str, _path: object = None, _target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname in OURS:
            spec = importlib.machinery.PathFinder.find_spec(fullname, [self._folder])
            if spec is None:
                raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
            return spec
        if fullname == "matplotlib":
            _bring_fonts()
        change = {"matplotlib.pyplot": _adjust_pyplot, "pandas": _adjust_pandas}.get(fullname)
        if change is None or fullname in self._busy:
            return None
        self._busy.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._busy.discard(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Adjusted(spec.loader, change)
        return spec


class _Adjusted(importlib.abc.Loader):
    """Loads as another loader does, then changes the module."""

    def __init__(self, loader, change) -> None:  # type: ignore[no-untyped-def]
        self._loader = loader
        self._change = change

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return self._loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: types.ModuleType) -> None:
        self._loader.exec_module(module)
        self._change(module)


def _bring_fonts() -> None:
    """Copy the list of fonts made beforehand to where matplotlib may write, which it insists on."""
    ready = os.path.join(os.path.dirname(os.path.abspath(__file__)), "matplotlib")  # noqa: PTH100, PTH118, PTH120
    target = os.environ.get("MPLCONFIGDIR", "")
    if not target or not os.path.isdir(ready):  # noqa: PTH112
        return
    os.makedirs(target, exist_ok=True)  # noqa: PTH103
    for name in os.listdir(ready):  # noqa: PTH208
        if name.endswith(".json"):
            with open(os.path.join(ready, name), "rb") as source:  # noqa: PTH118, PTH123
                content = source.read()
            with open(os.path.join(target, name), "wb") as copy:  # noqa: PTH118, PTH123
                copy.write(content)


def _adjust_pandas(pandas) -> None:  # type: ignore[no-untyped-def]
    for option, value in (("display.width", 200), ("display.max_columns", 50), ("display.max_colwidth", 80)):
        pandas.set_option(option, value)


def _adjust_pyplot(pyplot) -> None:  # type: ignore[no-untyped-def]
    saved = set()
    plain_savefig = pyplot.Figure.savefig

    def savefig(figure, *args, **options):  # type: ignore[no-untyped-def]
        saved.add(id(figure))
        return plain_savefig(figure, *args, **options)

    def show(*_args: object, **_options: object) -> None:
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            if id(figure) not in saved:
                name = _free_figure_name()
                plain_savefig(figure, name, bbox_inches="tight")
                print(f"The figure was saved as {name}.")
        pyplot.close("all")

    pyplot.Figure.savefig = savefig
    pyplot.show = show


def _save_open_figures() -> None:
    """A figure that was drawn but neither shown nor saved would be lost with the process."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None and pyplot.get_fignums():
        pyplot.show()


def _free_figure_name() -> str:
    taken = set(os.listdir())  # noqa: PTH208
    number = 1
    while f"figure_{number}.png" in taken:
        number += 1
    return f"figure_{number}.png"


def _report(error: BaseException, path: str) -> str:
    """The script's own lines of the traceback, the library that raised, the error, and the names that there are."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = []
    for frame in frames:
        if frame.filename == path:
            lines.append(f"  line {frame.lineno}, in {frame.name}: {frame.line}\n")
    if frames and lines and frames[-1].filename not in (path, __file__):
        lines.append(f"  (raised inside {_library(frames[-1].filename)}, in {frames[-1].name})\n")
    if len(lines) > 8:
        lines = [*lines[:3], "  …\n", *lines[-4:]]
    head = "Error in the script:\n" if lines else ""
    reason = "".join(traceback.format_exception_only(error)).replace(path, NAME)
    names = _names(error, path)
    return head + "".join(lines) + reason + "".join(f"{line}\n" for line in names)


def _library(filename: str) -> str:
    parts = filename.replace("\\", "/").split("/")
    for marker in ("site-packages", "dist-packages"):
        if marker in parts:
            return parts[parts.index(marker) + 1].removesuffix(".py")
    return parts[-1].removesuffix(".py")


def _names(error: BaseException, path: str) -> list[str]:
    if isinstance(error, FileNotFoundError):
        files = sorted(name for name in os.listdir() if not name.startswith("."))  # noqa: PTH208
        return ["Files here: " + (_listed(files) or "none")]
    if not isinstance(error, KeyError):
        return []
    found: dict[str, str] = {}
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == path:
            line = linecache.getline(path, number)
            found = {name: text for name, text in _keyed(frame) if name in line}
    return [f"{name} has: {text}" for name, text in found.items()]


def _keyed(frame: types.FrameType) -> list[tuple[str, str]]:
    """Variables of a frame that are looked up by key, each with its keys."""
    found = []
    for name, value in {**frame.f_globals, **frame.f_locals}.items():
        if name.startswith("__"):
            continue
        if isinstance(value, dict):
            found.append((name, _listed(value)))
        elif type(value).__name__ == "DataFrame":
            found.append((name, "columns " + _listed(value.columns)))
        elif type(value).__name__ == "Workbook":
            found.append((name, "sheets " + _listed(value.sheetnames)))
    return found


def _listed(names) -> str:  # type: ignore[no-untyped-def]
    shown = [repr(name) for name in list(names)[:MOST_NAMES]]
    return ", ".join(shown) + (", …" if len(names) > MOST_NAMES else "")


if __name__ == "__main__":
    sys.exit(main())
