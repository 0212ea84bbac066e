"""The sandbox against a hostile script: everything here is really tried."""

import asyncio
import json
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from engine.protocol.errors import UserError
from engine.protocol.sandbox import InterpreterEnv, SandboxPolicy
from engine.system.spawn import spawn
from engine.system.tree import parents
from tools.compute.interpreter_env import interpreter_env
from tools.sandbox.bubblewrap import BubblewrapSandbox, find_bubblewraps
from tools.sandbox.probe import choose_sandbox, probe
from tools.sandbox.seatbelt import profile
from tools.sandbox.unconfined import UnconfinedSandbox

pytestmark = [pytest.mark.processes]
ROOT = str(Path(__file__).resolve().parents[3])
linux = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
async def env(cache) -> InterpreterEnv:
    return await interpreter_env(cache)


@pytest.fixture
def workspace(tmp_path) -> Path:
    folder = tmp_path / "work 'space' 数据 🙂"
    folder.mkdir()
    return folder


@pytest.fixture
def sandbox(tmp_path) -> BubblewrapSandbox:
    return BubblewrapSandbox(find_bubblewraps(tmp_path)[0])


def policy(workspace, env, **options) -> SandboxPolicy:
    return SandboxPolicy(
        workspace=workspace,
        read_only_paths=env.read_only_paths,
        environment=env.environment,
        **{"timeout_s": 30.0, **options},
    )


PROBE = """
import ctypes, json, os, socket, sys, threading, subprocess, asyncio
outside, port, unix, host_pid = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
done = []
def attempt(name, action):
    try:
        action()
    except Exception as error:
        return
    done.append(name)
def call(number, *args):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, *args) < 0:
        raise OSError(ctypes.get_errno(), "refused")
def connect(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as link:
        link.settimeout(1); link.connect(address)
os.symlink(outside, "way")
attempt("write outside", lambda: open(outside + "/made", "w"))
attempt("write by link", lambda: open("way/made", "w"))
attempt("read outside", lambda: open(outside + "/private").read())
attempt("read by link", lambda: open("way/private").read())
attempt("root of pid 1", lambda: open("/proc/1/root" + outside + "/private").read())
attempt("hard link", lambda: os.link(outside + "/private", "taken"))
attempt("write to /usr", lambda: open("/usr/made", "w"))
attempt("write to /", lambda: open("/made", "w"))
attempt("home", lambda: os.listdir("/root/.ssh"))
attempt("shadow", lambda: open("/etc/shadow").read())
attempt("host process", lambda: os.listdir(f"/proc/{host_pid}") if host_pid > 1000 else 1 / 0)
attempt("tcp", lambda: connect(socket.AF_INET, ("127.0.0.1", port)))
attempt("outer tcp", lambda: connect(socket.AF_INET, ("192.0.2.1", 80)))
attempt("dns", lambda: socket.getaddrinfo("example.org", 80))
attempt("unix", lambda: connect(socket.AF_UNIX, unix))
attempt("abstract unix", lambda: socket.socket(socket.AF_UNIX))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("unix datagram pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
attempt("new user namespace", lambda: call(272 if os.uname().machine == "x86_64" else 97, 0x10000000))
attempt("keyctl", lambda: call(250 if os.uname().machine == "x86_64" else 219, 0, -3, 1))
attempt("io_uring", lambda: call(425, 8, 0))
attempt("ptrace", lambda: call(101 if os.uname().machine == "x86_64" else 117, 0, 0, 0, 0))
thread = threading.Thread(target=lambda: done.append("a thread")); thread.start(); thread.join()
attempt("a child", lambda: subprocess.run(["/bin/true"], check=True))
attempt("a loop", lambda: asyncio.run(asyncio.sleep(0)))
attempt("own file", lambda: open("mine.txt", "w"))
print(json.dumps({"done": done, "env": sorted(os.environ)}))
"""


@linux
async def test_hostile_script_reaches_nothing_outside(sandbox, env, workspace, tmp_path, monkeypatch):
    monkeypatch.setenv("CANARY_API_KEY", "canary")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private").write_text("private")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as unix:
        # The socket lies in the workspace itself: even a visible one must not be connected to.
        monkeypatch.chdir(workspace)
        unix.bind("s")
        unix.listen()
        port = server.getsockname()[1]
        argv = [str(env.python), "-I", "-c", PROBE, str(outside), str(port), "s", str(os.getpid())]
        outcome = await sandbox.run(argv, policy(workspace, env))
    assert outcome.status == "ok", outcome.output
    seen = json.loads(outcome.output)
    assert seen["done"] == ["a thread", "a child", "a loop", "own file"]
    assert set(seen["env"]) <= {*env.environment, "PWD", "LC_CTYPE"}
    assert [path.name for path in outside.iterdir()] == ["private"]
    assert (workspace / "mine.txt").exists()


@linux
@pytest.mark.parametrize(
    ("command", "status", "returncode"),
    [("exit 0", "ok", 0), ("exit 3", "failed", 3), ("kill -9 $$", "killed", -9), ("echo x > /usr/y", "denied", 2)],
)
async def test_ends_are_typed(sandbox, env, workspace, command, status, returncode):
    outcome = await sandbox.run(["/bin/sh", "-c", command], policy(workspace, env))
    assert (outcome.status, outcome.returncode) == (status, returncode), outcome


@linux
async def test_time_memory_and_output_are_limited(sandbox, env, workspace):
    late = await sandbox.run(["/bin/sleep", "100"], policy(workspace, env, timeout_s=0.3))
    assert late.status == "timeout"
    hungry = [str(env.python), "-I", "-S", "-c", "bytearray(1 << 30)"]
    assert (await sandbox.run(hungry, policy(workspace, env, memory_bytes=256 << 20))).status == "out_of_memory"
    flood = ["/bin/sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo the end"]
    outcome = await sandbox.run(flood, policy(workspace, env, output_bytes=10_000))
    assert len(outcome.output) < 10_100 and outcome.output.endswith("the end\n") and "left out" in outcome.output
    big = await sandbox.run(
        ["/bin/sh", "-c", "head -c 2000000 /dev/zero > big"], policy(workspace, env, file_bytes=1 << 20)
    )
    assert big.status != "ok" and (workspace / "big").stat().st_size <= 1 << 20


@linux
async def test_too_many_processes_are_stopped(sandbox, env, workspace):
    fork = "for i in $(seq 60); do sleep 50 & done; wait"
    outcome = await sandbox.run(["/bin/sh", "-c", fork], policy(workspace, env, processes=20))
    assert outcome.status in ("killed", "failed", "out_of_memory")


@linux
async def test_daemon_is_gone_after_run_stop_and_kill_of_the_parent(sandbox, env, workspace, tmp_path):
    daemon = "(setsid setsid sleep 4321 &) ; echo started; "
    await sandbox.run(["/bin/sh", "-c", daemon], policy(workspace, env))
    assert not sleeping("4321")
    command = await sandbox.start(["/bin/sh", "-c", daemon + "sleep 4321"], policy(workspace, env))
    assert command.running
    assert (await command.stop()).status == "killed"
    assert not command.running and not sleeping("4321")
    program = f"""
import asyncio, sys
sys.path.insert(0, {ROOT!r})
from pathlib import Path
from engine.protocol.sandbox import SandboxPolicy
from tools.sandbox.bubblewrap import BubblewrapSandbox
async def main():
    box = BubblewrapSandbox(Path({str(sandbox._bwrap)!r}))
    policy = SandboxPolicy(workspace=Path({str(workspace)!r}), environment={{"PATH": "/usr/bin:/bin"}}, timeout_s=60)
    command = await box.start(["/bin/sh", "-c", {daemon!r} + "sleep 4322"], policy)
    while "started" not in command.output():
        await asyncio.sleep(0.01)
    print("ready", flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    parent = await spawn([sys.executable, "-c", program])
    assert await parent.stdout.readline() == b"ready\n"
    assert sleeping("4322")
    os.kill(parent.pid, signal.SIGKILL)
    await parent.wait()
    async with asyncio.timeout(5):
        while sleeping("4321") or sleeping("4322"):  # noqa: ASYNC110 - they are not our children
            await asyncio.sleep(0.01)
    await parent.stop()


@linux
async def test_hidden_and_read_only_paths(sandbox, env, workspace):
    (workspace / "ours").mkdir()
    (workspace / "ours" / "code.py").write_text("secret")
    (workspace / "given.txt").write_text("given")
    rules = SandboxPolicy(
        workspace=workspace,
        read_only_paths=(workspace / "given.txt",),
        hidden_paths=(workspace / "ours",),
        environment=env.environment,
    )
    outcome = await sandbox.run(["/bin/sh", "-c", "cat given.txt; cat ours/code.py; echo x > given.txt"], rules)
    assert outcome.output.startswith("given") and "secret" not in outcome.output and outcome.status == "denied"
    assert (workspace / "given.txt").read_text() == "given"


@linux
async def test_choice_is_proven_and_fails_closed(env, tmp_path):
    good = await choose_sandbox(tmp_path / "scratch", env)
    assert good.confines and "bubblewrap" in good.state
    bad = await choose_sandbox(tmp_path / "scratch", env, candidates=[BubblewrapSandbox(Path("/bin/false"))])
    assert not bad.confines and "asked about" in bad.state
    assert "outside" in await probe(UnconfinedSandbox(), tmp_path / "scratch", env)
    assert not list((tmp_path / "scratch").iterdir())


@linux
async def test_a_sandbox_that_does_not_start_is_loud(env, workspace):
    with pytest.raises(UserError) as caught:
        await BubblewrapSandbox(Path("/bin/false")).run(["/bin/true"], policy(workspace, env))
    assert caught.value.key == "sandbox.start_failed"


@linux
async def test_unconfined_leaves_no_daemon(workspace):
    rules = SandboxPolicy(workspace=workspace, environment={"PATH": "/usr/bin:/bin"})
    outcome = await UnconfinedSandbox().run(["/bin/sh", "-c", "(setsid sleep 4323 &); cat"], rules, b"hello")
    assert (outcome.status, outcome.output) == ("ok", "hello") and not sleeping("4323")


def test_seatbelt_profile_denies_by_default_and_quotes(tmp_path):
    text = profile(SandboxPolicy(workspace=tmp_path / 'a "b"'))
    assert "(deny default)" in text and 'a \\"b\\"' in text and "network" not in text


def sleeping(seconds: str) -> bool:
    for pid in parents():
        try:
            if Path(f"/proc/{pid}/cmdline").read_bytes() == f"sleep\0{seconds}\0".encode():
                return True
        except (FileNotFoundError, ProcessLookupError):
            continue
    return False
