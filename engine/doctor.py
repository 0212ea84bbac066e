"""What works on this computer. Each part is tried for real where that is cheap; nothing is changed."""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Literal

import msgspec

from engine.system.paths import UserFolders, user_folders
from engine.system.spawn import spawn

State = Literal["ok", "limited", "missing"]

KEYRING_LIMIT_S = 5.0
GPU_LIMIT_S = 5.0
SMALLEST_DISK_BYTES = 3_000_000_000
SMALLEST_MEMORY_BYTES = 3_000_000_000
SCRIPT_PACKAGES = {
    "pandas": "pandas",
    "openpyxl": "openpyxl",
    "docx": "python-docx",
    "pptx": "python-pptx",
    "pdfplumber": "pdfplumber",
    "PIL": "pillow",
    "matplotlib": "matplotlib",
}
"""What scripts of a model may import: module → distribution."""

_KEYRING_PROBE = """
import keyring, secrets
value = secrets.token_hex(8)
keyring.set_password("oneday-desk-probe", "doctor", value)
same = keyring.get_password("oneday-desk-probe", "doctor") == value
keyring.delete_password("oneday-desk-probe", "doctor")
print(type(keyring.get_keyring()).__module__ if same else "lost")
"""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report.

    Attributes:
        name: the part.
        state: ``ok``, ``limited`` (works with less) or ``missing``.
        detail: what was found.
        todo: what to do; empty when nothing is to be done.
        needed: no request can be carried out without it.
    """

    name: str
    state: State
    detail: str
    todo: str = ""
    needed: bool = False


async def examine() -> list[Finding]:
    """Look at everything a run needs.

    Returns:
        Findings in the order in which a person should read them.
    """
    folders = user_folders(os.environ)
    findings = [python(), await confinement(), *model_files(folders), server_wheel()]
    findings += [await keychain(), await gpu(), memory(), disk(folders), script_packages()]
    return findings


def python() -> Finding:
    """The interpreter we run on."""
    return Finding(name="Python", state="ok", detail=f"{platform.python_version()} on {platform.platform(terse=True)}")


async def confinement() -> Finding:
    """Which confinement scripts get; chosen by trying what it must prevent."""
    from engine.commands.setting_up import confinement as choose

    try:
        box, _ = await choose()
    except OSError as error:
        detail = f"could not be tried: {error}"
        return Finding(name="Confinement of scripts", state="missing", detail=detail, todo="See Disk below.")
    if box.confines:
        return Finding(name="Confinement of scripts", state="ok", detail=box.state)
    todo = "Install bubblewrap (a package of your distribution) or allow unprivileged user namespaces."
    return Finding(
        name="Confinement of scripts", state="limited", detail=box.state, todo=todo if sys.platform == "linux" else ""
    )


def model_files(folders: UserFolders) -> list[Finding]:
    """Which local models are here; looks at sizes, reads no file."""
    from engine.commands.screen import human_size
    from models.catalog import load_catalog
    from models.downloads import list_installed

    catalog = load_catalog()
    findings = []
    for model in list_installed(catalog, folders.models):
        detail = f"{model.name}, {human_size(model.size_bytes)}, {model.state}"
        ready = model.state in ("ready", "unverified")
        todo = "" if ready else f"Fetch it again: oneday models fetch {model.name}"
        findings.append(Finding(name="Local model", state="ok" if ready else "limited", detail=detail, todo=todo))
    if any(finding.state == "ok" for finding in findings):
        return findings
    todo = f"Fetch one: oneday models fetch {catalog.models[0].name}"
    return [*findings, Finding(name="Local model", state="missing", detail="none here yet", todo=todo, needed=True)]


def server_wheel() -> Finding:
    """Whether the program that runs local models is installed (found, not loaded)."""
    if importlib.util.find_spec("xllamacpp") is not None:
        version = importlib.metadata.version("xllamacpp")
        return Finding(name="Model server", state="ok", detail=f"xllamacpp {version}")
    found = shutil.which("llama-server")
    if found:
        return Finding(name="Model server", state="ok", detail=f"your own llama-server: {found}")
    todo = "Install it: pip install 'oneday-desk[local]'"
    return Finding(name="Model server", state="missing", detail="no local model server", todo=todo, needed=True)


async def keychain() -> Finding:
    """Store, read back and delete a value; in a child, since a keychain may wait for a password for ever."""
    output = await _output([sys.executable, "-c", _KEYRING_PROBE], KEYRING_LIMIT_S)
    backend = output.strip()
    if backend.startswith("keyring.backends.") or backend.startswith("keyrings."):
        return Finding(name="Keychain", state="ok", detail=f"stores and gives back ({backend.split('.')[-1]})")
    return Finding(
        name="Keychain",
        state="limited",
        detail="no system keychain answers; keys of hosted models cannot be kept",
        todo="Not needed for local models. For hosted ones, start the keychain of your desktop or use an "
        "environment variable.",
    )


async def gpu() -> Finding:
    """A graphics card, by what its driver leaves lying about."""
    if sys.platform == "darwin" and platform.machine() == "arm64":
        return Finding(name="GPU", state="ok", detail="Apple (Metal)")
    tool = shutil.which("nvidia-smi")
    if tool:
        query = [tool, "--query-gpu=name,memory.total", "--format=csv,noheader"]
        lines = [line.strip() for line in (await _output(query, GPU_LIMIT_S)).splitlines() if line.strip()]
        if lines:
            return Finding(name="GPU", state="ok", detail="; ".join(lines))
    if _has_amd_driver():
        return Finding(name="GPU", state="ok", detail="AMD (ROCm driver)")
    return Finding(name="GPU", state="ok", detail="none found; models run on the processor, which is slower")


def _has_amd_driver() -> bool:
    return Path("/dev/kfd").exists()


def memory() -> Finding:
    """Memory for a model: free now, and no more than a container allows."""
    from engine.commands.screen import human_size

    total, free = memory_bytes()
    detail = f"{human_size(free)} free of {human_size(total)}"
    if free >= SMALLEST_MEMORY_BYTES:
        return Finding(name="Memory", state="ok", detail=detail)
    todo = "Close other programs, or choose a smaller model: oneday models list"
    return Finding(name="Memory", state="limited", detail=detail, todo=todo)


def memory_bytes(cgroup: Path = Path("/sys/fs/cgroup")) -> tuple[int, int]:
    """Total and free memory in bytes, bounded by the control group we are in.

    Args:
        cgroup: mount point of the control groups (version 2, else the memory controller of version 1).
    """
    import psutil

    machine = psutil.virtual_memory()
    limit = _number(cgroup / "memory.max") or _number(cgroup / "memory" / "memory.limit_in_bytes")
    used = _number(cgroup / "memory.current") or _number(cgroup / "memory" / "memory.usage_in_bytes")
    if limit is None or limit >= machine.total:
        return machine.total, machine.available
    return limit, min(machine.available, max(limit - (used or 0), 0))


def _number(file: Path) -> int | None:
    try:
        text = file.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def disk(folders: UserFolders) -> Finding:
    """Room where models and runs are kept."""
    from engine.commands.screen import human_size

    place = next(folder for folder in (folders.models, *folders.models.parents) if folder.is_dir())
    free = shutil.disk_usage(place).free
    detail = f"{human_size(free)} free in {folders.models}"
    if not os.access(place, os.W_OK):
        return Finding(
            name="Disk",
            state="missing",
            detail=f"{place} cannot be written to",
            todo="Give yourself the right to write there, or set ONEDAY_HOME to another folder.",
            needed=True,
        )
    if free >= SMALLEST_DISK_BYTES:
        return Finding(name="Disk", state="ok", detail=detail)
    return Finding(name="Disk", state="limited", detail=detail, todo="Make room, or set ONEDAY_HOME to another disk.")


def script_packages() -> Finding:
    """The libraries that scripts of a model may use (found, not loaded)."""
    absent = [name for module, name in SCRIPT_PACKAGES.items() if importlib.util.find_spec(module) is None]
    if not absent:
        detail = ", ".join(SCRIPT_PACKAGES.values())
        return Finding(name="Libraries for scripts", state="ok", detail=detail)
    todo = "Install the program again: pip install --force-reinstall oneday-desk"
    return Finding(name="Libraries for scripts", state="missing", detail="not found: " + ", ".join(absent), todo=todo)


async def _output(argv: list[str], limit_s: float) -> str:
    """Standard output of a short command; empty if it failed, could not start or took too long."""
    try:
        child = await spawn(argv)
    except OSError:
        return ""
    try:
        data = await asyncio.wait_for(child.stdout.read(), limit_s)
        status = await asyncio.wait_for(child.wait(), limit_s)
    except TimeoutError:
        return ""
    finally:
        await child.stop()
    return data.decode(errors="replace") if status == 0 else ""
