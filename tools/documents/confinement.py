"""What a document worker may see: the interpreter, our packages, and nothing else of the computer."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def worker_paths() -> tuple[Path, ...]:
    """Paths that a worker must read to start and to import its libraries, without repetition."""
    root = Path(__file__).resolve().parents[2]
    if getattr(sys, "frozen", False):
        return (Path(sys.executable).parent,)
    wanted = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent]
    wanted += [root / "engine", root / "tools"]
    if os.name == "posix":
        wanted += [Path(name) for name in ("/usr", "/lib", "/lib64", "/etc/fonts", "/etc/mime.types")]
    return tuple(dict.fromkeys(path for path in wanted if path.exists()))


def worker_environment(scratch: Path) -> dict[str, str]:
    """The complete environment of a worker; nothing of the host's but what Windows needs to start a program.

    Args:
        scratch: the one folder it may write to; also its home and temporary folder.
    """
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "WINDIR") if name in os.environ}
    folder = str(scratch)
    return kept | {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "HOME": folder,
        "TMPDIR": folder,
        "TEMP": folder,
        "TMP": folder,
        # a spreadsheet library imports numpy, whose thread pools would eat the address space
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
