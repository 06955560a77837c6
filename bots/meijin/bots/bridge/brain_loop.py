"""A brain's input and output: lines of a manager, obeyed until END or the end of the input."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import BinaryIO

from meijin.bots.bridge.brain import Brain
from meijin.bots.bridge.lines import LineBuffer

logger = logging.getLogger("meijin.bots")


def obey(brain: Brain, commands: BinaryIO, answers: BinaryIO) -> None:
    """Answer `commands`, each line at once; a search that fails is an ERROR and no end.

    `commands` is unbuffered: a read returns what there is.
    """
    for line in _lines(commands):
        try:
            for answer in brain.answer(line):
                _write(answers, answer)
        except OSError:
            return  # the manager has gone
        except Exception as error:
            logger.exception("failed at %.100r", line)
            _write(answers, f"ERROR {type(error).__name__}")
        if brain.is_over:
            return


def _lines(commands: BinaryIO) -> Iterator[str]:
    buffer = LineBuffer()
    while data := commands.read(1 << 16):
        buffer.feed(data)
        yield from iter(buffer.pop, None)
    if rest := buffer.pop_partial():
        yield rest


def _write(answers: BinaryIO, line: str) -> None:
    answers.write(f"{line}\r\n".encode())
    answers.flush()
