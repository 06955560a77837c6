"""Lines: what an engine writes, cut into lines and bounded."""

from __future__ import annotations

from collections import deque

MAX_LINE = 4096
"""Bytes of a line that are kept; the rest of it is dropped."""
_MARKS = "\ufeff\ufffd"
"""A byte order mark, as itself or, where it isn't UTF-8's, as what can't be read."""


class LineBuffer:
    """Cuts bytes into lines, which end in LF, CR or both; empty ones are left out.

    A line holds no NUL and no byte order mark, and what isn't UTF-8 is replaced, so that it can
    be shown. However long a line gets, no more than `MAX_LINE` bytes of it are kept.
    """

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        *ends, rest = data.replace(b"\0", b"").replace(b"\r", b"\n").split(b"\n")
        for end in ends:
            self._keep(end)
            if line := bytes(self._rest).strip():
                self._lines.append(line)
            self._rest.clear()
        self._keep(rest)

    def pop(self) -> str | None:
        """The next whole line, if there is one."""
        return _text(self._lines.popleft()) if self._lines else None

    @property
    def partial(self) -> str:
        """What has come of a line whose end hasn't."""
        return _text(self._rest)

    def pop_partial(self) -> str:
        """Take that as a line."""
        text = self.partial
        self._rest.clear()
        return text

    def _keep(self, part: bytes) -> None:
        self._rest += part[: MAX_LINE - len(self._rest)]


def _text(line: bytes | bytearray) -> str:
    return line.decode(errors="replace").lstrip(_MARKS).strip()
