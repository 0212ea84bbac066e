"""Bad input through the command line: what happened, what was kept, what to do, the right status, nothing lost."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
ORDERS = "region,item,amount\nNorth,apple,10.5\nSouth,pear,4\nNorth,plum,1.25\nEast,apple,7\n"
REQUEST = "Add up the amount for each region and save the totals as totals.csv with the columns region and amount."

pytestmark = pytest.mark.processes


def right(name: str) -> str:
    return (
        f"```python\nimport pandas as pd\n"
        f'table = pd.read_csv({name!r}).groupby("region", as_index=False)["amount"].sum()\n'
        f'table.to_csv("totals.csv", index=False)\nprint(table)\n```'
    )


FINISH = '{"tool": "finish", "arguments": {"answer": "I looked at it.", "files": []}}'


class Desk:
    """The command line in a home of its own; every call also sees that nothing is left running."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder
        self.out = folder / "out"

    def script(self, *replies: object) -> Path:
        path = self.folder / "replies.json"
        path.write_text(json.dumps(replies), encoding="utf-8")
        return path

    def argv(self, request: str, *attached: Path, out: Path | None = None, mode: str = "verify") -> list[str]:
        argv = [sys.executable, "-m", "engine.cli", "run", request, "--mode", mode, "--profile", "scripted"]
        for path in attached:
            argv += ["--attach", str(path)]
        return [*argv, "--out", str(out or self.out), "--script", str(self.folder / "replies.json")]

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, "ONEDAY_HOME": str(self.home), "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}

    def run(self, *attached: Path, out: Path | None = None, mode: str = "verify") -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.argv(REQUEST, *attached, out=out, mode=mode),
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        assert "Traceback" not in done.stderr + done.stdout, done.stderr
        assert self.left() == []
        return done

    def left(self) -> list[str]:
        """Command lines of processes that still work on something below the home."""
        found = []
        for process in psutil.process_iter():
            try:
                line = " ".join(process.cmdline())
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
            if str(self.home) in line:
                found.append(line)
        return found


@pytest.fixture(scope="module")
def bad_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bad-input-home")


@pytest.fixture
def bench(bad_home: Path, tmp_path: Path) -> Desk:
    desk = Desk(bad_home, tmp_path)
    desk.script({"text": FINISH, "repeat": True})
    return desk


def made(path: Path, content: str | bytes = ORDERS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 1, done.stdout + done.stderr
    for word in words:
        assert word in done.stderr.replace("\n", " "), done.stderr


def test_what_cannot_be_attached_starts_nothing(bench: Desk) -> None:
    folder = bench.folder / "a folder"
    folder.mkdir()
    refused(bench.run(bench.folder / "gone 表.csv"), "gone 表.csv", "There is no file", "Nothing was started", "Check")
    refused(bench.run(folder), "is a folder, not a file", "Attach the files in it")
    assert not (bench.home / "data" / "runs").exists() or list((bench.home / "data" / "runs").iterdir()) == []


def test_a_file_that_may_not_be_read(bench: Desk) -> None:
    secret = made(bench.folder / "secret.csv")
    secret.chmod(0)
    if os.access(secret, os.R_OK):  # the superuser may read everything but this, where reading fails in the middle
        secret = Path("/proc/self/mem")
    if not secret.exists():
        pytest.skip("nothing here that cannot be read")
    refused(bench.run(secret), "cannot be read", "untouched", "permission")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("report.pdf", b"%PDF-1.7 and then nothing of the kind"),
        ("book.xlsx", b"PK\x03\x04 cut in the middle"),
        ("what.qqq", bytes(range(256)) * 40),
    ],
    ids=["empty", "corrupt pdf", "corrupt xlsx", "unknown"],
)
def test_a_file_that_holds_nothing_readable_is_told_and_kept(bench: Desk, name: str, content: bytes) -> None:
    path = made(bench.folder / name, content)
    done = bench.run(path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Not done" in done.stdout and path.read_bytes() == content


def test_two_files_of_one_name_and_names_that_are_hard_to_write(bench: Desk) -> None:
    names = ['it\'s "two" words.csv', "数据 😀.csv", "plain.csv"]
    paths = [made(bench.folder / str(n) / name) for n, name in enumerate(names)]
    twin = made(bench.folder / "other" / "plain.csv", ORDERS.replace("10.5", "99"))
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (*paths, twin)]
    bench.script(right("plain (2).csv"), {"text": FINISH, "repeat": True})
    done = bench.run(*paths, twin, mode="direct")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100.25" in (bench.out / "totals.csv").read_text()
    assert [hashlib.sha256(path.read_bytes()).hexdigest() for path in (*paths, twin)] == hashes


def test_a_request_over_hard_names_is_done_and_checked(bench: Desk) -> None:
    path = made(bench.folder / "Zahlen 数 '😀'.csv")
    bench.script(right(path.name))
    done = bench.run(path, out=bench.folder / 'das "Ergebnis" 结果')
    assert done.returncode == 0, done.stdout + done.stderr
    assert (bench.folder / 'das "Ergebnis" 结果' / "totals.csv").exists()


@pytest.mark.slow
def test_a_huge_file_ends_in_words(bench: Desk) -> None:
    path = bench.folder / "huge.csv"
    with path.open("wb") as file:
        file.write(ORDERS.encode())
        file.truncate(2 << 30)
    done = bench.run(path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert path.stat().st_size == 2 << 30
    said = done.stdout + done.stderr
    assert "Not done" in said or "free" in said, said


def test_an_output_folder_that_cannot_be_written_to(bench: Desk) -> None:
    path = made(bench.folder / "orders.csv")
    in_the_way = made(bench.folder / "file")
    refused(bench.run(path, out=in_the_way / "below"), "cannot be written", "nothing was started", "--out")
    refused(bench.run(path, out=in_the_way), "cannot be written")
    assert in_the_way.read_text() == ORDERS


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small disk"
    folder.mkdir()
    mount = shutil.which("mount")
    argv = [mount or "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if mount is None or subprocess.run(argv, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_an_output_folder_that_fills_keeps_the_result_in_the_run(bench: Desk, small_disk: Path) -> None:
    bench.script(right("orders.csv"))
    done = bench.run(made(bench.folder / "orders.csv"), out=small_disk)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "could not be written" in done.stdout
    (totals,) = (bench.home / "data" / "runs").glob("*/delivered/totals.csv")
    assert "11.75" in totals.read_text() and not list(small_disk.iterdir())


def test_what_lies_in_the_output_folder_is_never_overwritten(bench: Desk) -> None:
    mine = made(bench.out / "Totals.csv", "mine")
    report = made(bench.out / "ONEDAY-report.md", "mine too")
    bench.script(right("orders.csv"))
    done = bench.run(made(bench.folder / "orders.csv"))
    assert done.returncode == 0
    assert mine.read_text() == "mine" and report.read_text() == "mine too"
    assert sorted(path.name for path in bench.out.iterdir()) == [
        "ONEDAY-report.md",
        "Totals.csv",
        "oneday-report (2).md",
        "totals (2).csv",
    ]


def test_two_at_once_do_not_disturb_each_other(bench: Desk) -> None:
    bench.script(right("orders.csv"))
    path = made(bench.folder / "orders.csv")
    outs = [bench.folder / "one", bench.folder / "two"]
    both = [
        subprocess.Popen(
            bench.argv(REQUEST, path, out=out), env=bench.env, stdin=subprocess.DEVNULL, stdout=-1, stderr=-2
        )
        for out in outs
    ]
    for process in both:
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0, output
    assert all("11.75" in (out / "totals.csv").read_text() for out in outs)
    assert bench.left() == []


def test_wrong_to_the_end_is_status_3_and_direct_is_0(bench: Desk) -> None:
    lost = right("orders.csv").replace(".sum()\n", ".sum()[:2]\n")
    bench.script(lost, {"text": FINISH, "repeat": True})
    path = made(bench.folder / "orders.csv")
    done = bench.run(path)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Not verified" in (bench.out / "oneday-report.md").read_text()
    direct = bench.run(path, out=bench.folder / "direct", mode="direct")
    assert direct.returncode == 0
    assert "Unverified" in (bench.folder / "direct" / "oneday-report.md").read_text()


def test_a_bad_script_and_a_bad_profile_are_told(bench: Desk) -> None:
    path = made(bench.folder / "orders.csv")
    (bench.folder / "replies.json").write_text("{no json")
    refused(bench.run(path), "cannot be read", "JSON")
    (bench.folder / "replies.json").unlink()
    refused(bench.run(path), "cannot be read")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_control_c_pauses_and_the_run_is_resumed(bench: Desk) -> None:
    path = made(bench.folder / "orders.csv")
    bench.script({"text": right("orders.csv"), "delay_s": 60})
    argv = [*bench.argv(REQUEST, path), "--json"]
    with subprocess.Popen(argv, env=bench.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        run_id = next(json.loads(line)["run_id"] for line in process.stdout if '"type":"ModelCalled"' in line)
        process.send_signal(signal.SIGINT)
        last = [json.loads(line) for line in process.stdout][-1]
    assert process.returncode == 130 and last["body"]["status"] == "paused"
    assert bench.left() == []
    bench.script(right("orders.csv"))
    argv = [
        sys.executable,
        "-m",
        "engine.cli",
        "runs",
        "resume",
        run_id,
        "--script",
        str(bench.folder / "replies.json"),
    ]
    done = subprocess.run(argv, env=bench.env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "11.75" in (bench.out / "totals.csv").read_text()
