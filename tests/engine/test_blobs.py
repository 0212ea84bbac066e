from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from engine.blobs import Blobs
from engine.protocol.errors import UserError


def test_bytes_and_files_come_back_under_their_hash(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    source = tmp_path / "数据 'x' 😀.csv"
    source.write_bytes(b"a,b\r\n" * 1000)
    digest = blobs.put_file(source)
    assert digest == hashlib.sha256(source.read_bytes()).hexdigest()
    assert blobs.put_bytes(source.read_bytes()) == digest
    assert blobs.get(digest) == source.read_bytes()
    assert blobs.path(digest).parent.name == digest[:2]
    assert blobs.has(digest) and not blobs.has("0" * 64)
    assert blobs.put_bytes(b"") == hashlib.sha256(b"").hexdigest()
    assert not list((tmp_path / "blobs" / "incoming").iterdir())


def test_a_source_is_only_read(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("x")
    source.chmod(0o444)
    before = source.stat()
    Blobs(tmp_path / "blobs").put_file(source)
    after = source.stat()
    assert (before.st_mtime_ns, before.st_mode, before.st_nlink) == (after.st_mtime_ns, after.st_mode, after.st_nlink)


def test_damage_is_found_on_reading_and_mended_by_storing_again(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    digest = blobs.put_bytes(b"content")
    place = blobs.path(digest)
    place.chmod(0o644)
    place.write_bytes(b"cOntent")
    with pytest.raises(UserError) as caught:
        blobs.get(digest)
    assert caught.value.key == "blob.corrupt"
    target = tmp_path / "out.txt"
    target.write_bytes(b"old")
    with pytest.raises(UserError):
        blobs.copy_to(digest, target)
    assert target.read_bytes() == b"old"
    place.write_bytes(b"cut")
    assert blobs.put_bytes(b"content") == digest
    assert blobs.get(digest) == b"content"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blobs", "out.txt"]


def test_a_missing_blob_and_a_bad_name_are_told(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    with pytest.raises(UserError) as caught:
        blobs.get("0" * 64)
    assert caught.value.key == "blob.missing"
    with pytest.raises(ValueError):
        blobs.path("../../etc/passwd")


def test_a_placed_blob_is_read_only_and_a_copy_is_not(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    digest = blobs.put_bytes(b"content")
    blobs.link_to(digest, tmp_path / "pristine.txt")
    blobs.copy_to(digest, tmp_path / "work.txt")
    assert (tmp_path / "pristine.txt").stat().st_mode & 0o222 == 0
    assert (tmp_path / "work.txt").stat().st_mode & 0o200
    (tmp_path / "work.txt").write_bytes(b"changed")
    assert blobs.get(digest) == b"content"
    with pytest.raises(FileExistsError):
        blobs.link_to(digest, tmp_path / "pristine.txt")


@pytest.mark.skipif(sys.platform == "win32", reason="folders of devices are POSIX")
def test_an_unreadable_source_leaves_nothing(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    with pytest.raises(OSError):
        blobs.put_file(tmp_path / "not there")
    assert [path.name for path in (tmp_path / "blobs").rglob("*")] == ["incoming"]
