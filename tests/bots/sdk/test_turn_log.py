"""The turn log of a bot."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from meijin.bots.sdk.answer import RESIGN, Analysis, Answer, Choice, Failure, Unchecked
from meijin.bots.sdk.position import Position
from meijin.bots.sdk.turn import Turn
from meijin.bots.sdk.turn_log import ENGINE_LOGGER, log_action, log_turn, logger, open_turn_log
from meijin.bots.sdk.wire import Action
from meijin.game import GOMOKU, Board, TimeControl, encode_moves

POSITION = Position(Board(GOMOKU), TimeControl.parse("5/move"), game_id="7")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "log"
    before = list(logger.handlers)
    open_turn_log(path, "ada")
    yield path
    for handler in [each for each in logger.handlers if each not in before]:
        for other in (logger, logging.getLogger(ENGINE_LOGGER)):
            other.removeHandler(handler)
            other.setLevel(logging.NOTSET)
        handler.close()
    logger.propagate = True


def test_turns_and_answers_are_told_in_order(log: Path) -> None:
    """Each in a line with its time; an engine's own lines stand between."""
    centre = GOMOKU.cells // 2
    log_turn(POSITION, Turn(1, encode_moves((centre,)), 5000, 4500, 0.0))
    logging.getLogger(ENGINE_LOGGER).debug("> TURN 7,7")
    log_action(POSITION, Action(1, 1, Choice(0, Analysis(score=30, depth=5, nodes=99))))
    lines = [line.split(" ", 1)[1] for line in log.read_text().splitlines()]
    assert lines == [
        "ada < game 7 ply 1, 5.000 s and 4.500 s left: h8",
        "ada > TURN 7,7",
        "ada > game 7 ply 1: a15, score 30, depth 5, nodes 99",
    ]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (14, "o15"),
        (Choice(14), "o15"),
        (Unchecked(999), "cell 999, unchecked"),
        (RESIGN, "resigns"),
        (Failure("no cell"), "fails: no cell"),
    ],
)
def test_every_answer_is_told(log: Path, answer: Answer | Failure, text: str) -> None:
    log_action(POSITION, Action(1, 0, answer))
    assert log.read_text().rstrip().endswith(f"game 7 ply 0: {text}")
