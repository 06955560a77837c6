"""The turn log: what a bot is asked and what it answers, a line each, in the order of time.

A line has the time, the bot, ``<`` for what it is asked or ``>`` for its answer, the game and its
ply. For wrapped engines the lines that are said to them and by them stand between.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from meijin.bots.sdk.answer import Choice, Failure, Resignation, Unchecked
from meijin.bots.sdk.position import Position
from meijin.bots.sdk.turn import Turn
from meijin.bots.sdk.wire import Action
from meijin.game import Analysis, Variant, cell_name, decode_moves
from meijin.game.records.analysis import format_analysis
from meijin.game.records.record import format_position

logger = logging.getLogger("meijin.bots.turns")

ENGINE_LOGGER = "meijin.bots.engine"
"""Tells what is said to a wrapped engine and by it."""

MILLISECONDS = 1000


def open_turn_log(path: Path, name: str) -> None:
    """Write the log of this process's bot to a file, behind what others write there meanwhile.

    Raises:
        OSError: it can't be written.
    """
    handler = logging.FileHandler(path, encoding="utf-8")
    form = f"%(asctime)s.%(msecs)03d {name} %(message)s"
    handler.setFormatter(logging.Formatter(form, "%Y-%m-%dT%H:%M:%S"))
    for each in (logger, logging.getLogger(ENGINE_LOGGER)):
        each.addHandler(handler)
        each.setLevel(logging.DEBUG)
    logger.propagate = False


def log_turn(position: Position, turn: Turn) -> None:
    """Note what a bot is asked, if anybody wants to know."""
    if logger.isEnabledFor(logging.DEBUG):
        moves = format_position(decode_moves(turn.moves), position.variant)
        own, other = (ms / MILLISECONDS for ms in (turn.own_ms, turn.opponent_ms))
        logger.debug(
            "< game %s ply %d, %.3f s and %.3f s left: %s",
            *(position.game_id, turn.ply, own, other, moves),
        )


def log_action(position: Position, action: Action) -> None:
    """Note what a bot answers, if anybody wants to know."""
    if logger.isEnabledFor(logging.DEBUG):
        text = _answer_text(action.answer, position.variant)
        logger.debug("> game %s ply %d: %s", position.game_id, action.ply, text)


def _answer_text(answer: object, variant: Variant) -> str:
    match answer:
        case int() | Choice(int(), None):
            text = cell_name(answer if isinstance(answer, int) else answer.cell, variant)
        case Choice(cell, Analysis() as analysis):
            said = ", ".join(format_analysis(replace(analysis, pv=()), variant))
            text = f"{cell_name(cell, variant)}, {said}"
        case Unchecked(cell):
            text = f"cell {cell}, unchecked"
        case Failure(message):
            text = f"fails: {message}"
        case Resignation():
            text = "resigns"
        case _:
            text = str(answer)
    return text
