"""What a bot is asked as an engine, one question at a time."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine, Sequence
from typing import cast

from meijin.bots.bridge.brain_board import CommandError
from meijin.bots.sdk.answer import Answer
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.position import Position
from meijin.game import Color, Placement, Seat


def answer_turn(bot: Bot, position: Position) -> Answer:
    """What the bot plays."""
    if type(bot).choose is Bot.choose:
        found = bot.choose_many([position])
        return cast("Sequence[Answer]", _result(found))[0]
    return cast("Answer", _result(bot.choose(position)))


def answer_opening(bot: Bot, position: Position) -> Color | Sequence[int]:
    """The stones that the bot places in an opening, or the side that it chooses.

    Raises:
        CommandError: the opening asks for nothing after so many stones, or the bot answers
            what it isn't asked for.
    """
    board = position.board
    rule = board.variant.opening_rule
    task = rule.task(board.ply)
    if task is None or board.ply not in {0, rule.stones, rule.most_stones}:
        raise CommandError(f"{rule.name} has no choice after {board.ply} stones")
    position.color = Color.BLACK if task.seat is Seat.FIRST else Color.WHITE
    if task.may_choose:
        found = _result(bot.choose_side(position, task.stones))
    else:
        found = _result(bot.place_opening(position, task.stones))
    if isinstance(found, Color):
        return found
    cells = found.cells if isinstance(found, Placement) else tuple(cast("Sequence[int]", found))
    if not cells or len(cells) != task.stones:
        raise CommandError(f"{bot.name} places {len(cells)} stones, asked to {task}")
    return cells


def _result(found: object) -> object:
    """What a method returned, or what comes of it where it is ``async``."""
    if inspect.isawaitable(found):
        return asyncio.run(cast("Coroutine[object, object, object]", found))
    return found
