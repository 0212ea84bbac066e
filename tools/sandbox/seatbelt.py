"""Confinement on macOS by ``sandbox-exec``. The profile is tested as text; it has not been run on macOS yet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.protocol.sandbox import Outcome, SandboxPolicy
from engine.system.spawn import Child
from tools.sandbox.execution import Execution
from tools.sandbox.unconfined import execute_guarded, start_guarded

PROGRAM = Path("/usr/bin/sandbox-exec")
_SYSTEM = (
    "/usr/lib",
    "/usr/bin",
    "/usr/share",
    "/bin",
    "/sbin",
    "/System",
    "/Library/Fonts",
    "/private/var/db/timezone",
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper")


class SeatbeltSandbox:
    """Runs commands under ``sandbox-exec``, below the guard, as macOS has no process namespaces."""

    @property
    def name(self) -> str:
        return "seatbelt"

    @property
    def confines(self) -> bool:
        return True

    @property
    def state(self) -> str:
        """One sentence for people."""
        return "Commands are confined by sandbox-exec: only the task's own files, no network."

    async def spawn(self, argv: Sequence[str], policy: SandboxPolicy, *, stderr: Path | None = None) -> Child:
        """Start confined with pipes on stdin and stdout.

        Raises:
            OSError: it could not be started.
        """
        return await start_guarded(seatbelt_argv(argv, policy), policy, stderr=stderr)

    async def run(self, argv: Sequence[str], policy: SandboxPolicy, stdin: bytes = b"") -> Outcome:
        """Run to the end or to a limit."""
        return await (await execute_guarded(seatbelt_argv(argv, policy), policy, stdin)).wait()

    async def start(self, argv: Sequence[str], policy: SandboxPolicy) -> Execution:
        """Start in the background."""
        return await execute_guarded(seatbelt_argv(argv, policy), policy, b"")


def seatbelt_argv(argv: Sequence[str], policy: SandboxPolicy) -> list[str]:
    """The command line that runs `argv` under the profile of `policy`."""
    return [str(PROGRAM), "-p", profile(policy), *argv]


def profile(policy: SandboxPolicy) -> str:
    """Profile text: everything is denied but reading the system and the given paths, and writing the workspace.

    No service of the security daemon may be looked up, so that the keychain stays out of reach.
    """
    readable = [Path(path) for path in _SYSTEM] + [path.resolve() for path in policy.read_only_paths]
    workspace = policy.workspace.resolve()
    lines = [
        "(version 1)",
        "(deny default)",
        "(allow process-exec process-fork)",
        "(allow signal (target same-sandbox))",
        "(allow sysctl-read)",
        '(allow file-read-metadata (subpath "/"))',
        '(allow file-read-data (literal "/"))',
        "(allow file-read*",
        *(f"  (subpath {_quoted(path)})" for path in [*readable, workspace]),
        *(f"  (literal {_quoted(Path(device))})" for device in _DEVICES),
        ")",
        f"(allow file-write* (subpath {_quoted(workspace)}))",
        '(allow file-write-data (literal "/dev/null") (literal "/dev/zero"))',
    ]
    inside = [path.resolve() for path in policy.read_only_paths if path.resolve().is_relative_to(workspace)]
    lines += [f"(deny file-write* (subpath {_quoted(path)}))" for path in inside]
    lines += [f"(deny file-read-data (subpath {_quoted(path.resolve())}))" for path in policy.hidden_paths]
    # Renaming a folder above the workspace would move it out from under the rules.
    lines += [f"(deny file-write-unlink (literal {_quoted(parent)}))" for parent in workspace.parents]
    if policy.network:
        lines += ["(allow network-outbound (remote ip))", '(allow mach-lookup (global-name "com.apple.dnssd.service"))']
    return "\n".join(lines) + "\n"


def _quoted(path: Path) -> str:
    text = str(path)
    if any(ord(character) < 32 for character in text):
        raise ValueError(f"a control character in {text!r}")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
