"""A system call filter for the sandbox, assembled by hand for x86_64 and aarch64.

It closes what namespaces leave open: sockets other than IP (a unix socket can be connected to through a read-only
bind), keyrings, io_uring, tracing, new namespaces, mounts. Source of the layout: Linux ``seccomp(2)``, ``bpf``.
"""

from __future__ import annotations

import errno
import os
import struct

import msgspec

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_SET, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NR_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16
_X32 = 0x40000000
_CLONE_NAMESPACES = 0x7E020000
_AF_INET, _AF_INET6 = 2, 10
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE_MASK = 1, 5, 0xF
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

_DENIED: dict[str, tuple[int, int]] = {
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "fsconfig": (431, 431),
    "fspick": (433, 433),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "mount_setattr": (442, 442),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "vhangup": (153, 58),
}
"""System call to its numbers on x86_64 and aarch64."""


class _Machine(msgspec.Struct, frozen=True):
    arch: int
    column: int
    socket: int
    socketpair: int
    clone: int
    clone3: int
    ioctl: int
    has_x32: bool


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 0, 41, 53, 56, 435, 16, True),
    "aarch64": _Machine(0xC00000B7, 1, 198, 199, 220, 435, 29, False),
}


def program(machine: str) -> bytes | None:
    """The filter as bytes for ``bwrap --seccomp``.

    Args:
        machine: as ``os.uname().machine``.

    Returns:
        An array of ``struct sock_filter``; None for a machine without a table here.
    """
    table = _MACHINES.get(machine)
    if table is None:
        return None
    code = [_op(_LOAD, _ARCH_AT), _op(_JUMP_EQUAL, table.arch, 1, 0), _op(_RETURN, _KILL), _op(_LOAD, _NR_AT)]
    if table.has_x32:
        code += [_op(_JUMP_GREATER_EQUAL, _X32, 0, 1), _op(_RETURN, _KILL)]
    for numbers in _DENIED.values():
        code += _when(numbers[table.column], [_refuse(errno.EPERM)])
    # The C library falls back from clone3 to clone, whose flags can be looked at.
    code += _when(table.clone3, [_refuse(errno.ENOSYS)])
    code += _when(
        table.clone,
        [_argument(0), _op(_JUMP_SET, _CLONE_NAMESPACES, 0, 1), _refuse(errno.EPERM), _op(_RETURN, _ALLOW)],
    )
    code += _when(table.socket, [_argument(0), *_only((_AF_INET, _AF_INET6), errno.EAFNOSUPPORT)])
    # A datagram pair could be connected anew to a socket on disk, a stream pair cannot.
    code += _when(
        table.socketpair,
        [_argument(1), _op(_AND, _SOCK_TYPE_MASK), *_only((_SOCK_STREAM, _SOCK_SEQPACKET), errno.EPERM)],
    )
    code += _when(
        table.ioctl,
        [
            _argument(1),
            _op(_JUMP_EQUAL, _TIOCSTI, 1, 0),
            _op(_JUMP_EQUAL, _TIOCLINUX, 0, 1),
            _refuse(errno.EPERM),
            _op(_RETURN, _ALLOW),
        ],
    )
    code.append(_op(_RETURN, _ALLOW))
    return b"".join(code)


def memory_file(name: str, content: bytes) -> int:
    """A descriptor of a file in memory, read from its start by whoever inherits it (Linux)."""
    descriptor = os.memfd_create(name)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _argument(index: int) -> bytes:
    """Load the low half of an argument (both machines are little-endian)."""
    return _op(_LOAD, _ARGUMENTS_AT + 8 * index)


def _refuse(number: int) -> bytes:
    return _op(_RETURN, _ERRNO | number)


def _only(values: tuple[int, int], number: int) -> list[bytes]:
    """Allow the two values in the register, refuse all others with `number`."""
    first, second = values
    return [
        _op(_JUMP_EQUAL, first, 2, 0),
        _op(_JUMP_EQUAL, second, 1, 0),
        _refuse(number),
        _op(_RETURN, _ALLOW),
    ]


def _when(number: int, body: list[bytes]) -> list[bytes]:
    """`body` for this system call; it must return, as it may have overwritten the register."""
    return [_op(_JUMP_EQUAL, number, 0, len(body)), *body]
