import shlex
import sys
from collections.abc import Sequence

import pytest

from meijin.cli.bot.doctor.command import _command
from meijin.cli.errors import UsageError

MEIJIN = [sys.executable, "-m", "meijin"]


@pytest.mark.parametrize(
    ("words", "options", "listen", "is_program", "hint"),
    [
        ([], [], None, False, "no bot to examine"),
        (["two", "words"], [], None, False, "behind --"),
        (["random"], [], "127.0.0.1:0", False, "leave the other one out"),
        (["program"], ["a=b"], None, True, "behind its name"),
    ],
)
def test_nothing_to_examine(
    words: list[str], options: list[str], listen: str | None, *, is_program: bool, hint: str
) -> None:
    with pytest.raises(UsageError, match=hint):
        _command(words, options, listen, is_program=is_program)


@pytest.mark.parametrize(
    ("words", "options", "is_program", "command"),
    [
        (["random"], ["seed=1"], False, [*MEIJIN, "bot", "run", "random", "--option=seed=1"]),
        (
            ["alphabeta:level=2"],
            [],
            False,
            [*MEIJIN, "bot", "run", "alphabeta", "--option=level=2"],
        ),
        (
            [f"{shlex.quote(sys.executable)} -u margin=20"],
            ["k=1"],
            False,
            [*MEIJIN, "bot", "wrap", "--margin=20", "--option=k=1", "--", sys.executable, "-u"],
        ),
        (["node", "bot.js"], [], True, ["node", "bot.js"]),
        (["meijin", "bot", "wrap"], [], True, [*MEIJIN, "bot", "wrap"]),
    ],
)
def test_programs(
    words: list[str], options: list[str], *, is_program: bool, command: Sequence[str]
) -> None:
    """A bot of the SDK, an engine, any program, and this one, by whatever name it was started."""
    assert _command(words, options, None, is_program=is_program) == command
