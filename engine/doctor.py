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

from engine.protocol.errors import OneDayError
from engine.protocol.ports import Sandbox
from engine.protocol.sandbox import InterpreterEnv, SandboxPolicy
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
    """Which confinement scripts would run under; tried with a real command."""
    from engine.commands.setting_up import confinement as choose

    try:
        box, interpreter = await choose()
        problem = await _trial(box, interpreter)
    except OneDayError as error:
        return Finding(name="Confinement of scripts", state="limited", detail=str(error), todo=_confinement_todo())
    if not box.confines:
        detail = f"{box.name}: scripts are not confined; each one is asked about"
        return Finding(name="Confinement of scripts", state="limited", detail=detail, todo=_confinement_todo())
    if problem:
        detail = f"{box.name} was chosen, but a trial failed: {problem}"
        return Finding(name="Confinement of scripts", state="missing", detail=detail, todo=_confinement_todo())
    detail = f"{box.name}: no network, one folder, limits (tried)"
    return Finding(name="Confinement of scripts", state="ok", detail=detail)


async def _trial(box: Sandbox, interpreter: InterpreterEnv) -> str:
    """Run an empty script confined; gives what went wrong, or nothing."""
    if not box.confines:
        return ""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="oneday-doctor-") as folder:
        policy = SandboxPolicy(
            workspace=Path(folder),
            read_only_paths=interpreter.read_only_paths,
            hidden_paths=interpreter.hidden_paths,
            environment=interpreter.environment,
            timeout_s=20,
        )
        outcome = await box.run([str(interpreter.python), "-c", "print('works')"], policy)
    return "" if outcome.output.strip() == "works" else f"{outcome.status} {outcome.output.strip()[-200:]}"


def _confinement_todo() -> str:
    if sys.platform != "linux":
        return "Nothing to install here; you are asked before each script runs."
    return "Install bubblewrap (a package of your distribution) or allow unprivileged user namespaces."


def model_files(folders: UserFolders) -> list[Finding]:
    """Which local models are here."""
    from engine.commands.screen import human_size
    from engine.commands.setting_up import have_model, local_entries

    entries = local_entries()
    here = [entry for entry in entries if have_model(entry, folders.models)]
    if here:
        return [
            Finding(name="Local model", state="ok", detail=f"{entry.name}, {human_size(entry.size_bytes)}")
            for entry in here
        ]
    todo = f"Fetch one: oneday models fetch {entries[0].name}" if entries else ""
    return [Finding(name="Local model", state="missing", detail="none fetched yet", todo=todo, needed=True)]


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
