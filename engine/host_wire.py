"""The engine's end of the wire: private duplicates of stdin and stdout, a reader thread and a writer thread."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Callable

from engine.protocol.rpc import MAX_MESSAGE_BYTES

DROP_ABOVE = 256
_CHUNK = 1 << 16

OnLine = Callable[[bytes | None], None]

_log = logging.getLogger(__name__)


def private_stdio() -> tuple[int, int]:
    """Take the protocol away from stdin and stdout, so that no library and no child can disturb it.

    Afterwards descriptor 0 reads nothing and 1 goes where 2 goes.

    Returns:
        Descriptors to read from and to write to; children do not inherit them.
    """
    reading, writing = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(reading, os.O_BINARY)
        msvcrt.setmode(writing, os.O_BINARY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reading, writing


class Wire:
    """Lines in and out, without ever blocking the event loop. Made inside it.

    Args:
        reading: descriptor of what comes in.
        writing: descriptor of what goes out.
        on_line: called in the loop with each line (without its line feed; one byte longer than allowed if it was
            too long), and with None once when the other side is gone.
        drop_above: how many lines may wait before droppable ones are thrown away.
    """

    def __init__(self, reading: int, writing: int, on_line: OnLine, *, drop_above: int = DROP_ABOVE) -> None:
        self._reading = reading
        self._writing = writing
        self._on_line = on_line
        self._drop_above = drop_above
        self._loop = asyncio.get_running_loop()
        self._changed = threading.Condition()
        self._lines: deque[bytes] = deque()
        self._closing = False
        self._gone = False
        self.dropped = 0
        # Daemons: both may hang in the system for as long as the other side lives, which must not keep us.
        self._reader = threading.Thread(target=self._read, name="wire in", daemon=True)
        self._writer = threading.Thread(target=self._write, name="wire out", daemon=True)
        self._reader.start()
        self._writer.start()

    def send(self, line: bytes, *, droppable: bool = False) -> None:
        """Queue a line. A droppable one is thrown away while the other side does not keep up; others never are.

        Args:
            line: with its line feed.
            droppable: it may be lost.
        """
        with self._changed:
            if self._gone:
                return
            if droppable and len(self._lines) >= self._drop_above:
                self.dropped += 1
                return
            self._lines.append(line)
            self._changed.notify()

    async def aclose(self, *, grace_s: float = 1.0) -> None:
        """Write what is queued, for at most `grace_s` seconds."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        await asyncio.to_thread(self._writer.join, grace_s)

    def _read(self) -> None:
        buffer = bytearray()
        skipping = False
        while chunk := self._read_chunk():
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                buffer += line
                if not skipping:
                    self._tell(bytes(buffer[: MAX_MESSAGE_BYTES + 1]))
                buffer.clear()
                skipping = False
            buffer += rest
            if len(buffer) > MAX_MESSAGE_BYTES and not skipping:
                self._tell(bytes(buffer[: MAX_MESSAGE_BYTES + 1]))
                skipping = True
            if skipping:
                buffer.clear()
        self._tell(None)

    def _read_chunk(self) -> bytes:
        try:
            return os.read(self._reading, _CHUNK)
        except OSError as error:
            _log.warning("The face's end of the wire broke: %s", error)
            return b""

    def _write(self) -> None:
        while (line := self._next()) is not None:
            try:
                view = memoryview(line)
                while view:
                    view = view[os.write(self._writing, view) :]
            except OSError as error:
                _log.warning("The face no longer listens: %s", error)
                with self._changed:
                    self._gone = True
                    self._lines.clear()
                self._tell(None)
                return

    def _next(self) -> bytes | None:
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self._closing)
            return self._lines.popleft() if self._lines else None

    def _tell(self, line: bytes | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._on_line, line)
        except RuntimeError:  # the loop ended first; nobody is left to be told
            if not self._loop.is_closed():
                raise
