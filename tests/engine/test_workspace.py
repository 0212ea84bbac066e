from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.names import RequestNames
from engine.protocol.errors import ModelError, UserError
from engine.protocol.tools import ChangeSet
from engine.runfolder import RunFolder
from engine.system.clock import ManualClock
from engine.toolcontext import RunToolContext
from engine.workspace import Workspace

NAMES = ["data.csv", "two words.csv", "it's.txt", "说明 文件.md", "😀.txt", "ü" * 100 + ".txt", ".hidden", "no ending"]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "runs", ManualClock())


@pytest.fixture
async def workspace(folder: RunFolder) -> Workspace:
    return Workspace(folder)


def made(folder: Path, name: str, text: str = "x") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


def kinds(changes: ChangeSet) -> list[tuple[str, str]]:
    return [(change.kind, change.name) for change in changes.changes]


async def test_attachments_keep_their_names_and_have_pristine_copies(
    workspace: Workspace, folder: RunFolder, tmp_path: Path
) -> None:
    sources = [made(tmp_path / "in", name, name) for name in NAMES]
    before = [path.stat() for path in sources]
    originals = await workspace.attach(sources)
    assert list(originals) == NAMES
    for name, digest in originals.items():
        (workspace.root / name).write_text("changed")
        assert workspace.original(name).read_text() == name
        assert workspace.original(name).stat().st_mode & 0o222 == 0
        assert folder.blobs.get(digest).decode() == name
    assert [(s.st_mtime_ns, s.st_nlink, s.st_ino) for s in before] == [
        (s.st_mtime_ns, s.st_nlink, s.st_ino) for s in (path.stat() for path in sources)
    ]
    with pytest.raises(KeyError):
        workspace.original("other")


async def test_equal_names_are_numbered(workspace: Workspace, tmp_path: Path) -> None:
    sources = [made(tmp_path / str(n), name, str(n)) for n, name in enumerate(["a.csv", "a.csv", "A.csv", "a (2).csv"])]
    first = await workspace.attach(sources)
    assert list(first) == ["a.csv", "a (2).csv", "A (3).csv", "a (2) (2).csv"]
    assert [(workspace.root / name).read_text() for name in first] == ["0", "1", "2", "3"]
    assert list(await workspace.attach([sources[0]])) == ["a (4).csv"]


async def test_a_bad_attachment_leaves_nothing(workspace: Workspace, folder: RunFolder, tmp_path: Path) -> None:
    good = made(tmp_path / "in", "good.csv")
    bad = {"attachment.missing": tmp_path / "not {there}.csv", "attachment.folder": tmp_path / "in"}
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe")
        bad["attachment.special"] = tmp_path / "pipe"
    for key, path in bad.items():
        with pytest.raises(UserError) as caught:
            await workspace.attach([good, path])
        assert caught.value.key == key and str(path) in str(caught.value)
        assert not list(workspace.root.iterdir()) and not list(folder.originals.iterdir())


async def test_a_change_set_says_what_one_call_did(workspace: Workspace, tmp_path: Path) -> None:
    await workspace.attach([made(tmp_path / "in", name, "old") for name in ("kept", "changed", "gone")])
    async with workspace.mutation() as mutation:
        (workspace.root / "changed").write_text("new")
        (workspace.root / "gone").unlink()
        made(workspace.root / "sub" / "deeper", "added 😀.txt", "abc")
        made(workspace.root / "__pycache__", "junk.pyc")
        (workspace.root / "kept").touch()
    assert kinds(mutation.changes) == [
        ("modified", "changed"),
        ("deleted", "gone"),
        ("added", "sub/deeper/added 😀.txt"),
    ]
    assert mutation.changes.changes[2].size_bytes == 3
    assert mutation.before.digest != mutation.after.digest
    assert sorted(mutation.after.files) == ["changed", "kept", "sub/deeper/added 😀.txt"]
    async with workspace.mutation() as nothing:
        assert list(workspace.root.iterdir())
    assert nothing.changes == ChangeSet() and nothing.before.digest == nothing.after.digest


async def test_changes_between_calls_are_not_blamed_on_the_next(workspace: Workspace) -> None:
    await workspace.manifest()
    made(workspace.root, "person.txt")
    async with workspace.mutation() as mutation:
        made(workspace.root, "tool.txt")
    assert kinds(mutation.drift) == [("added", "person.txt")]
    assert kinds(mutation.changes) == [("added", "tool.txt")]


async def test_mutations_side_by_side_are_told_apart(workspace: Workspace) -> None:
    async def write(name: str) -> ChangeSet:
        async with workspace.mutation() as mutation:
            made(workspace.root, name)
            await asyncio.sleep(0)
            made(workspace.root, name + "2")
        return mutation.changes

    found = await asyncio.gather(*(write(name) for name in "abc"))
    assert [changes.names() for changes in found] == [("a", "a2"), ("b", "b2"), ("c", "c2")]


@pytest.mark.parametrize("fault", [ValueError, asyncio.CancelledError])
async def test_a_call_that_fails_is_scanned_all_the_same(workspace: Workspace, fault: type[BaseException]) -> None:
    with pytest.raises(fault):
        async with workspace.mutation() as mutation:
            made(workspace.root, "half")
            raise fault
    assert mutation.changes.names() == ("half",)
    async with workspace.mutation():
        pass  # the lock was given back


async def test_a_change_of_equal_size_and_time_is_found(workspace: Workspace) -> None:
    path = made(workspace.root, "a", "111")
    first = await workspace.manifest()
    found = path.stat()
    path.write_text("222")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert (await workspace.manifest()).digest != first.digest


async def test_only_what_changed_is_hashed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    from engine import manifest
    from engine.system.atomic import sha256_file

    def counting(path: Path) -> str:
        hashed.append(path.name)
        return sha256_file(path)

    monkeypatch.setattr(manifest, "sha256_file", counting)
    monkeypatch.setattr(manifest, "_FRESH_NS", -10_000_000_000)
    for name in "abc":
        made(workspace.root, name)
    await workspace.manifest()
    (workspace.root / "b").write_text("changed")
    await workspace.manifest()
    assert hashed == ["a", "b", "c", "b"]


async def test_snapshot_and_restore_lose_nothing(workspace: Workspace, folder: RunFolder) -> None:
    made(workspace.root, "same", "same")
    made(workspace.root, "changed", "good")
    made(workspace.root / "sub", "gone", "gone")
    made(workspace.root, "becomes folder", "file")
    before = await workspace.manifest()
    files = await workspace.snapshot()
    assert files == before.hashes()
    (workspace.root / "changed").write_text("bad")
    (workspace.root / "sub" / "gone").unlink()
    (workspace.root / "sub").rmdir()
    made(workspace.root / "new", "added 😀", "precious")
    (workspace.root / "becomes folder").unlink()
    made(workspace.root / "becomes folder", "inner", "inner")
    changes = await workspace.restore(files)
    assert (await workspace.manifest()).hashes() == files
    assert ("deleted", "new/added 😀") in kinds(changes) and ("modified", "changed") in kinds(changes)
    trashed = {path.read_text() for path in folder.trash.rglob("*") if path.is_file()}
    assert trashed == {"bad", "precious", "inner"}
    assert not list(folder.scratch.iterdir())
    (workspace.root / "changed").write_text("still writable")


async def test_restore_from_a_damaged_blob_changes_nothing(workspace: Workspace, folder: RunFolder) -> None:
    made(workspace.root, "a", "good")
    files = await workspace.snapshot()
    blob = folder.blobs.path(files["a"])
    blob.chmod(0o644)
    blob.write_text("evil")
    (workspace.root / "a").write_text("newer")
    with pytest.raises(UserError) as caught:
        await workspace.restore(files)
    assert caught.value.key == "blob.corrupt"
    assert (workspace.root / "a").read_text() == "newer"


async def test_a_snapshot_can_be_of_some_files(workspace: Workspace) -> None:
    made(workspace.root, "a", "1")
    made(workspace.root, "b", "2")
    assert list(await workspace.snapshot(["b"])) == ["b"]
    with pytest.raises(KeyError):
        await workspace.snapshot(["c"])


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
async def test_links_are_reported_never_followed(workspace: Workspace, folder: RunFolder, tmp_path: Path) -> None:
    secret = made(tmp_path / "outside", "secret.txt", "secret")
    made(workspace.root, "real.txt")
    files = await workspace.snapshot()
    (workspace.root / "link.txt").symlink_to(secret)
    (workspace.root / "way").symlink_to(secret.parent)
    os.mkfifo(workspace.root / "pipe")
    manifest = await workspace.manifest()
    assert list(manifest.files) == ["real.txt"]
    assert manifest.skipped == {"link.txt": "link", "way": "link", "pipe": "special"}
    for name in ("link.txt", "way/secret.txt", "pipe"):
        with pytest.raises(ModelError):
            workspace.resolve(name)
    with pytest.raises(ModelError) as caught:
        workspace.target("link.txt")
    assert caught.value.code == "file.link"
    await workspace.restore(files)
    assert [path.name for path in workspace.root.iterdir()] == ["real.txt"]
    assert secret.read_text() == "secret"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has names that are no text")
async def test_names_that_are_no_text_are_reported(workspace: Workspace) -> None:
    made(workspace.root, os.fsdecode(b"b\xffd"))
    manifest = await workspace.manifest()
    assert not manifest.files and list(manifest.skipped.values()) == ["name"]


async def test_resolve_finds_what_models_write(workspace: Workspace, folder: RunFolder) -> None:
    data = made(workspace.root, "Data 1.csv")
    inner = made(workspace.root / "sub", "x.txt")
    output = made(folder.outputs, "0001.txt")
    for name in ("Data 1.csv", "./Data 1.csv", " 'Data 1.csv' ", "data 1.CSV", str(data), '"Data 1.csv"'):
        assert workspace.resolve(name) == data
    assert workspace.resolve("sub/x.txt") == workspace.resolve("sub\\x.txt") == inner
    assert workspace.resolve("outputs/0001.txt") == output


@pytest.mark.parametrize(
    "name", ["../journal.sqlite", "sub/../../lock", "/etc/passwd", "~/x", "C:\\x", "..", "\\\\s\\x"]
)
async def test_resolve_and_target_stay_inside(workspace: Workspace, name: str) -> None:
    made(workspace.root, "a.txt")
    for ask in (workspace.resolve, workspace.target):
        with pytest.raises(ModelError):
            ask(name)


@pytest.mark.parametrize("name", ["说" * 100, "a\0b", "\ud800x", "x/" * 1500, ""])
async def test_names_no_file_has_are_the_models_to_mend(workspace: Workspace, name: str) -> None:
    for ask in (workspace.resolve, workspace.target):
        with pytest.raises(ModelError) as caught:
            ask(name)
        assert caught.value.text.encode()


async def test_names_that_models_change(workspace: Workspace, folder: RunFolder) -> None:
    tickets = made(workspace.root, "Festival tickets (May).csv")
    made(workspace.root, "a b.csv")
    made(workspace.root, "a-b.csv")
    output = made(folder.outputs, "0001 long.txt")
    for name in (
        "festival_tickets_(may).csv",
        "FestivalTickets(May).csv",
        "/workspace/Festival tickets (May).csv",
        "/mnt/data/festival-tickets (may).csv",
        "data/Festival tickets (May).csv",
        "workspace/“Festival tickets (May)”.csv",
    ):
        assert workspace.resolve(name) == tickets, name
    assert workspace.resolve("outputs/0001_long.txt") == output
    assert workspace.target("/workspace/new file.csv") == workspace.root / "new file.csv"
    for name in ("a_b.csv", "ab.csv", "/workspace/../x.csv", "/etc/Festival tickets (May).csv", "/workspace"):
        with pytest.raises(ModelError):
            workspace.resolve(name)


async def test_a_folder_called_workspace_is_a_folder(workspace: Workspace) -> None:
    inner = made(workspace.root / "workspace", "x.txt")
    assert workspace.resolve("workspace/x.txt") == inner


async def test_a_missing_file_brings_the_nearest_names(workspace: Workspace) -> None:
    with pytest.raises(ModelError, match="empty"):
        workspace.resolve("a.csv")
    for name in ("sales_2026.csv", "notes.md", "sub/costs.xlsx"):
        made((workspace.root / name).parent, Path(name).name)
    with pytest.raises(ModelError, match=r"sales_2026\.csv") as caught:
        workspace.resolve("sales2025.csv")
    assert caught.value.code == "file.missing"
    with pytest.raises(ModelError, match=r"sub/costs\.xlsx"):
        workspace.resolve("costs.xlsx")
    with pytest.raises(ModelError):
        workspace.resolve("sub")


@pytest.mark.parametrize(
    "name",
    ["", ".", "a/b.txt", "con", "NUL.txt", "a:b.txt", "a?.txt", "end.", "outputs", "__pycache__", "x" * 300],
)
async def test_target_refuses_what_no_file_should_be_called(workspace: Workspace, name: str) -> None:
    with pytest.raises(ModelError):
        workspace.target(name)


async def test_target_takes_plain_names_and_guards_case(workspace: Workspace) -> None:
    made(workspace.root, "Report.docx")
    (workspace.root / "folder").mkdir()
    for name in ("new.csv", "说明 😀.md", "./new.csv", str(workspace.root / "new.csv"), "Report.docx"):
        assert workspace.target(name).parent == workspace.root
    with pytest.raises(ModelError, match=r"Report\.docx") as caught:
        workspace.target("report.DOCX")
    assert caught.value.code == "file.case"
    with pytest.raises(ModelError):
        workspace.target("folder")


async def test_a_new_file_gets_the_name_of_the_request(workspace: Workspace, folder: RunFolder) -> None:
    unused: Any = None
    context = RunToolContext(
        workspace=workspace,
        outputs=folder.outputs,
        documents=unused,
        sandbox=unused,
        interpreter=unused,
        budget=unused,
        timeline=unused,
        ask=unused,
        names=RequestNames("Write largest value.md and my list.csv from list.csv"),
    )
    assert context.target("/workspace/largest_value.md") == workspace.root / "largest value.md"
    assert context.target("other_name.md") == workspace.root / "other_name.md"
    made(workspace.root, "my_list.csv")
    assert context.target("my_list.csv") == workspace.root / "my_list.csv"
