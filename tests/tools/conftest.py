"""A pool of real workers and the context that tools get."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from engine.protocol.errors import ModelError
from tools.documents.pool import DocumentPool
from tools.sandbox.bubblewrap import BubblewrapSandbox, find_bubblewraps
from tools.sandbox.unconfined import UnconfinedSandbox


class Context:
    """The part of a tool context that file and table tools use."""

    def __init__(self, workspace: Path, documents: DocumentPool) -> None:
        self.workspace = workspace
        self.documents = documents
        self.observation_chars = 4000

    def resolve(self, name: str) -> Path:
        path = self.workspace / name
        if not path.exists():
            raise ModelError(f"There is no file {name!r}.")
        return path

    def target(self, name: str) -> Path:
        if Path(name).name != name:
            raise ModelError("Not a plain name.")
        return self.workspace / name


def sandbox(tmp_path: Path) -> Any:
    programs = find_bubblewraps(tmp_path)
    return BubblewrapSandbox(programs[0]) if programs else UnconfinedSandbox()


@pytest.fixture
async def context(tmp_path: Path) -> AsyncIterator[Context]:
    workspace = tmp_path / "work space 'ü' 表 😀"
    workspace.mkdir()
    pool = DocumentPool(sandbox(tmp_path), readable=(workspace,), scratch=tmp_path / "scratch")
    async with pool:
        yield Context(workspace, pool)
