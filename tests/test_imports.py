"""The import rules hold, and each of them is able to fail."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("engine", "models", "tools", "prompts", "desktop")
LEAVES_MAY_USE = {
    "engine/protocol": {"msgspec", "engine"},
    "engine/system": {"msgspec", "filelock", "platformdirs", "engine"},
}
MAY_START_PROCESSES = {"engine/system/spawn.py", "engine/system/guard.py"}
"""The guard is the process that `spawn` puts between us and a foreign server; it starts that one server."""
PROCESS_MODULES = {"subprocess", "multiprocessing", "pty"}


def imported_names(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    start = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", start, "--no-logo", "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("import-rules")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.mark.processes
def test_rules_hold() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.processes
@pytest.mark.parametrize(
    ("module", "imports", "contract"),
    [
        ("engine/protocol/planted.py", "engine.planted_target", "the leaves use nothing of ours but leaves"),
        ("engine/system/planted.py", "models.planted_target", "the leaves use nothing of ours but leaves"),
        ("models/planted.py", "engine.planted_target", "reach the engine only through its leaves"),
        ("tools/planted.py", "engine.planted_target", "reach the engine only through its leaves"),
        ("prompts/planted.py", "engine.planted_target", "reach the engine only through its leaves"),
        ("desktop/planted.py", "engine.planted_target", "reach the engine only through its leaves"),
        ("models/planted.py", "tools.planted_target", "do not know each other"),
        ("tools/planted.py", "prompts.planted_target", "do not know each other"),
        ("prompts/planted.py", "models.planted_target", "do not know each other"),
        ("desktop/planted.py", "models.planted_target", "do not know each other"),
        ("engine/planted.py", "desktop.planted_target", "the engine does not know the window"),
    ],
)
def test_each_rule_can_fail(copy: Path, module: str, imports: str, contract: str) -> None:
    target = copy / (imports.replace(".", "/") + ".py")
    planted = copy / module
    target.write_text("VALUE = 1\n")
    planted.write_text(f"def late() -> int:\n    from {imports} import VALUE\n\n    return VALUE\n")
    try:
        done = lint(copy)
    finally:
        target.unlink()
        planted.unlink()
    assert done.returncode != 0
    broken = [line for line in done.stdout.splitlines() if " BROKEN" in line]
    assert any(contract in line for line in broken), done.stdout


@pytest.mark.parametrize("leaf", sorted(LEAVES_MAY_USE))
def test_leaves_use_few_libraries(leaf: str) -> None:
    for file in sorted((ROOT / leaf).rglob("*.py")):
        tops = {name.partition(".")[0] for name in imported_names(file.read_text(encoding="utf-8"))}
        foreign = tops - set(sys.stdlib_module_names) - LEAVES_MAY_USE[leaf]
        assert not foreign, f"{file.relative_to(ROOT)} imports {foreign}"


def test_only_spawn_starts_processes() -> None:
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            if file.relative_to(ROOT).as_posix() in MAY_START_PROCESSES:
                continue
            source = file.read_text(encoding="utf-8")
            tops = {name.partition(".")[0] for name in imported_names(source)}
            assert not tops & PROCESS_MODULES, f"{file.relative_to(ROOT)} imports {tops & PROCESS_MODULES}"
            for call in ("create_subprocess_", "os.system(", "os.popen(", "os.posix_spawn", "os.fork("):
                assert call not in source, f"{file.relative_to(ROOT)} uses {call}"


def test_packaging_is_no_package() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()
    assert (ROOT / "engine" / "__init__.py").read_text(encoding="utf-8").strip() == ""
