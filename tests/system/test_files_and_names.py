"""Atomic files, locks, names, redaction, clock."""

import errno
import hashlib
import os

import pytest

from engine.protocol.errors import UserError
from engine.system import locks
from engine.system.atomic import atomic_file, copy_file, require_free_disk, sha256_file, write_atomic
from engine.system.clock import ManualClock, SystemClock
from engine.system.paths import extended, free_name, name_fault, safe_name, user_folders
from engine.system.redactor import MASK, Redactor


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path):
    path = tmp_path / "数据 'a'.txt"
    write_atomic(path, b"old")
    with pytest.raises(OSError, match="full"), atomic_file(path) as file:
        file.write(b"new, but only half")
        raise OSError(errno.ENOSPC, "full")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_copy_and_hash(tmp_path):
    source = tmp_path / "a"
    source.write_bytes(os.urandom(3 << 20))
    copy_file(source, tmp_path / "b")
    assert sha256_file(tmp_path / "b") == hashlib.sha256(source.read_bytes()).hexdigest()


def test_full_disk_is_told(tmp_path):
    require_free_disk(tmp_path, 1)
    with pytest.raises(UserError) as caught:
        require_free_disk(tmp_path, 1 << 60)
    assert caught.value.key == "disk.full"


async def test_a_lock_names_its_holder_and_is_free_afterwards(tmp_path):
    path = tmp_path / "locks" / "run.lock"
    async with locks.hold(path, "a report {x}"):
        with pytest.raises(UserError, match=f"process {os.getpid()}.*a report") as caught:
            async with locks.hold(path, "another"):
                pass
        assert caught.value.key == "lock.busy"
    async with locks.hold(path, "again", wait_s=1):
        assert locks.holder(path) == locks.Holder(pid=os.getpid(), what="again")
    assert locks.holder(path) is None


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "CON", "nul.txt", "x.", " x", "a:b", "a\0", "ä" * 101])
def test_names_that_do_not_work_everywhere(name):
    assert name_fault(name) and not name_fault(safe_name(name))


def test_good_names_stay(tmp_path):
    for name in ("a b.txt", "数据🙂.csv", "it's.md", ".hidden"):
        assert name_fault(name) == "" and safe_name(name) == name
    assert safe_name("x" * 500 + ".xlsx").endswith("x.xlsx")
    assert free_name("A.txt", {"a.txt", "a (2).txt"}) == "A (3).txt"
    assert extended("\\\\server\\share") == "\\\\?\\UNC\\server\\share" and extended("C:\\a") == "\\\\?\\C:\\a"
    assert user_folders({"ONEDAY_HOME": str(tmp_path)}).models == tmp_path / "cache" / "models"


def test_secrets_are_taken_out():
    redactor = Redactor(["canary/123"])
    texts = (
        "key canary/123 canary%2F123",
        "Authorization: Bearer abcdefghijkl",
        "https://me:password9@host/x?token=abcdef123&a=1",
        "OPENAI_API_KEY=abcdef123456",
        "sk-abcdefghijklmnop1234",
    )
    for text in texts:
        clean = redactor.redact_data({"a": [text]})["a"][0]
        assert MASK in clean
        for secret in ("canary", "abcdef", "password9"):
            assert secret not in clean
    assert redactor.redact("an ordinary sentence, total: 12") == "an ordinary sentence, total: 12"


def test_manual_clock_moves_only_forward():
    clock = ManualClock(10)
    clock.advance(5)
    assert (clock.now(), clock.monotonic()) == (15, 5) and SystemClock().now() > 1e9
    with pytest.raises(ValueError, match="back"):
        clock.advance(-1)
