"""Kill-on-close jobs of Windows: what lies in one ends with the last handle on it. Untested on Windows so far."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

_EXTENDED_LIMITS = 9
_KILL_ON_JOB_CLOSE = 0x2000
_SET_QUOTA_AND_TERMINATE = 0x0100 | 0x0001


class _BasicLimits(ctypes.Structure):
    _fields_ = [
        ("per_process_time", ctypes.c_int64),
        ("per_job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("minimum_working_set", ctypes.c_size_t),
        ("maximum_working_set", ctypes.c_size_t),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    ]


class _Limits(ctypes.Structure):
    _fields_ = [
        ("basic", _BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    ]


class Job:
    """A job object that kills its members when it is closed, or when we die.

    Args:
        kernel32: the loaded system library (``ctypes.WinDLL("kernel32")``).

    Raises:
        OSError: the system refused the job.
    """

    def __init__(self, kernel32: Any) -> None:
        self._api = kernel32
        for name in ("CreateJobObjectW", "OpenProcess", "GetCurrentProcess"):
            getattr(kernel32, name).restype = ctypes.c_void_p
        self._handle = ctypes.c_void_p(kernel32.CreateJobObjectW(None, None))
        limits = _Limits()
        limits.basic.flags = _KILL_ON_JOB_CLOSE
        done = kernel32.SetInformationJobObject(
            self._handle, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
        )
        if not self._handle or not done:
            raise OSError("Windows refused a job object")

    @classmethod
    def of(cls, pid: int) -> Job | None:
        """A job with the process `pid` in it; None off Windows, or if the process has ended already."""
        if sys.platform != "win32":
            return None
        job = cls(ctypes.WinDLL("kernel32", use_last_error=True))
        process = ctypes.c_void_p(job._api.OpenProcess(_SET_QUOTA_AND_TERMINATE, False, pid))
        if not process:
            job.close()
            return None
        job._api.AssignProcessToJobObject(job._handle, process)
        job._api.CloseHandle(process)
        return job

    @classmethod
    def of_ourselves(cls) -> Job | None:
        """A job with this process and all its later children in it; keep it as long as the process lives."""
        if sys.platform != "win32":
            return None
        job = cls(ctypes.WinDLL("kernel32", use_last_error=True))
        job._api.AssignProcessToJobObject(job._handle, ctypes.c_void_p(job._api.GetCurrentProcess()))
        return job

    def kill(self) -> None:
        """Kill every member."""
        self._api.TerminateJobObject(self._handle, 1)

    def close(self) -> None:
        """Close our handle, which kills the members too."""
        self._api.CloseHandle(self._handle)
