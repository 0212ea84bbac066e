"""Finds out what the Python of the model's scripts needs to see: this interpreter and its packages, without ours."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib.machinery
import importlib.resources
import os
import shutil
import site
import sys
import sysconfig
from pathlib import Path

from engine.protocol.errors import UserError
from engine.protocol.sandbox import InterpreterEnv
from engine.system.atomic import write_atomic
from engine.system.spawn import spawn

OURS = ("engine", "models", "tools", "prompts", "desktop")
_PATH = "/usr/local/bin:/usr/bin:/bin"
_MOST_THREADS = 4
_WARM_UP = "import matplotlib.font_manager, matplotlib; print(matplotlib.get_cachedir())"
_WARM_UP_S = 180.0


async def interpreter_env(cache: Path) -> InterpreterEnv:
    """The environment for a pip install or a source tree: the interpreter we run in.

    The font cache of matplotlib is built into `cache` the first time (some seconds) and bound read-only afterwards.

    Args:
        cache: a folder of ours that can be made anew.

    Raises:
        OSError: `cache` cannot be written.
        UserError: ``interpreter.broken``, matplotlib does not start.
    """
    folder = cache / f"interpreter-{_fingerprint()}"
    await asyncio.to_thread(_place_prelude, folder)
    await _warm_fonts(folder / "matplotlib")
    hidden = [path for place in _site_folders() for path in _own_entries(place)]
    return InterpreterEnv(
        python=Path(sys.executable),
        read_only_paths=tuple(_needed(folder)),
        hidden_paths=tuple(hidden),
        environment=_environment("/tmp/matplotlib" if sys.platform != "win32" else str(folder / "matplotlib")),
        prelude=folder / "prelude.py",
    )


def _environment(fonts: str) -> dict[str, str]:
    threads = str(min(os.cpu_count() or 1, _MOST_THREADS))
    environment = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), _PATH]),
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": fonts,
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "OPENBLAS_NUM_THREADS": threads,
        "OMP_NUM_THREADS": threads,
    }
    if zone := os.environ.get("TZ"):
        environment["TZ"] = zone
    if sys.platform == "win32":
        # Without these Windows finds neither its own libraries nor a temporary folder.
        environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "TMP") if name in os.environ}
        environment["PATH"] = str(Path(sys.executable).parent)
    return environment


def _needed(folder: Path) -> list[Path]:
    """What must be bound beside the system's own folders, without what lies in those already."""
    wanted = [folder]
    for prefix in dict.fromkeys((Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix))):
        wanted += [prefix / name for name in ("bin", "lib", "lib64", "pyvenv.cfg", "share/zoneinfo")]
    wanted += [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    wanted += _site_folders()
    # A build with a shared library of its own may keep it anywhere (pyenv: in the base prefix).
    if library_folder := sysconfig.get_config_var("LIBDIR"):
        wanted.append(Path(str(library_folder)))
    wanted.append(Path(sys.executable).resolve().parent)
    kept = [path for path in dict.fromkeys(wanted) if path.exists() and not _in_system(path)]
    return [path for path in kept if not any(other in path.parents for other in kept)]


def _in_system(path: Path) -> bool:
    return any(path.resolve().is_relative_to(system) for system in ("/usr", "/lib", "/lib64", "/bin"))


def _site_folders() -> list[Path]:
    """Where installed packages lie; only those that isolated mode (``-I``) reads."""
    folders = [*site.getsitepackages(), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return [path for path in dict.fromkeys(Path(folder) for folder in folders) if path.is_dir()]


def _own_entries(place: Path) -> list[Path]:
    """Our packages and what tells of them in a folder of packages; none in a source tree."""
    metadata = [*place.glob("oneday_desk-*"), *place.glob("__editable__*oneday_desk*")]
    if not metadata:
        # A folder "tools" there belongs to someone else then.
        return []
    return [path for path in [*(place / name for name in OURS), *metadata] if path.exists()]


def _place_prelude(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "prelude.py"
    text = importlib.resources.files("tools.compute").joinpath("prelude.py").read_bytes()
    if not target.exists() or target.read_bytes() != text:
        write_atomic(target, text)


async def _warm_fonts(folder: Path) -> None:
    """Let matplotlib list the fonts once; a folder is only taken for warm when it was built whole."""
    if await asyncio.to_thread(folder.is_dir):
        return
    part = folder.with_name(f"{folder.name}.{os.getpid()}.part")
    await asyncio.to_thread(part.mkdir, exist_ok=True)
    log = part / "warm-up.log"
    environment = _environment(str(part)) | {"HOME": str(part), "TMPDIR": str(part)}
    child = await spawn([sys.executable, "-I", "-c", _WARM_UP], env=environment, stderr=log)
    try:
        async with asyncio.timeout(_WARM_UP_S):
            await child.stdout.read()
            status = await child.wait()
    finally:
        await child.stop()
    if status != 0:
        problem = log.read_text(encoding="utf-8", errors="replace")[-500:]
        await asyncio.to_thread(shutil.rmtree, part)
        raise UserError(
            "interpreter.broken",
            "The Python for scripts cannot load matplotlib: {problem}",
            todo="Install OneDay Desk again.",
            problem=problem,
        )
    log.unlink(missing_ok=True)
    # Another engine may have been quicker; its folder is as good as ours.
    with contextlib.suppress(OSError):
        await asyncio.to_thread(part.rename, folder)
    await asyncio.to_thread(shutil.rmtree, part, ignore_errors=True)


def _fingerprint() -> str:
    """Changes with the interpreter and with its packages' matplotlib, so that a stale font list is not used."""
    spec = importlib.machinery.PathFinder.find_spec("matplotlib")
    origin = spec.origin if spec is not None and spec.origin is not None else ""
    changed = Path(origin).stat().st_mtime_ns if origin else 0
    text = f"{sys.version}|{sys.executable}|{sys.prefix}|{origin}|{changed}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]
