"""The engine that answers at once, for runners over pipes."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from line_engine import TALLY, engine
from pipe_runner import Engine, play
from tally import read_tally

OPENING = ["START 15", "BEGIN", "TURN 1,0", "RESTART", "TURN 7,7", "BOARD\n3,3,1\nDONE", "ABOUT"]


@contextmanager
def both(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """The engine in C, and the one of a machine without a compiler."""
    with ExitStack() as stack:
        in_c = stack.enter_context(engine())
        monkeypatch.setattr("shutil.which", lambda _: None)
        yield [in_c, stack.enter_context(engine())]


def answers(program: Path) -> list[str]:
    """What it says to some lines."""
    given = "".join(f"{line}\n" for line in [*OPENING, "END"])
    played = subprocess.run([program], input=given, capture_output=True, text=True, check=True)
    return played.stdout.splitlines()


@pytest.mark.parametrize("counts", [False, True])
def test_both_engines_play_alike(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, counts: bool
) -> None:
    """In the order of cells, or shuffled where they count."""
    if counts:
        monkeypatch.setenv(TALLY, str(tmp_path))
    with both(monkeypatch) as programs:
        in_c, in_python = map(answers, programs)
    assert in_c == in_python
    assert (in_c[1] == "0,0") is not counts


def test_moves_are_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Those of a whole game, in files that outlive the engines."""
    monkeypatch.setenv(TALLY, str(tmp_path))
    with both(monkeypatch) as programs, ExitStack() as stack:
        black, white = (Engine(stack, str(program)) for program in programs)
        board = play(black, white)
    assert board.winner is not None
    assert read_tally(tmp_path).moves == board.ply
