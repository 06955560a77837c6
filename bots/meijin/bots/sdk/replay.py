"""Replay: one turn of a recorded game is given to a bot, as a stream would give it."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta

from meijin.bots.sdk.answer import Answer, Evaluated, Failure
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.events import Charge, Events, GameEnded, GameStarted, OpeningTask, Turn
from meijin.bots.sdk.games import Games
from meijin.bots.sdk.outbox import Outbox
from meijin.bots.sdk.searcher import Searcher
from meijin.bots.sdk.wire import Action
from meijin.game import Ending, GameRecord, OpeningAction, Outcome, Party, encode_moves
from meijin.game.records.recorded_turn import RecordedTurn, player_of

NUMBER = 1
"""The game's number on the stream."""
_OVER = Outcome(Ending.VOID, None, Party.SERVER, "replayed")


class _AnswerBox(Outbox):
    """Keeps the one answer instead of sending it."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: asyncio.Future[Action] = asyncio.get_running_loop().create_future()

    def add_action(self, action: Action) -> None:
        """Keep it."""
        if not self.answer.done():
            self.answer.set_result(action)


async def replay_turn(
    bot: Bot, searcher: Searcher, record: GameRecord, turn: RecordedTurn, wait: timedelta
) -> tuple[Answer | OpeningAction | Failure | None, timedelta]:
    """Give a bot its game at one of its turns, and wait for its answer.

    Everything is as the server told it then, but the game's start has all moves so far, as it
    has for a bot that returns. The bot hears of that before, and of the end afterwards.

    Returns:
        The answer, or ``None`` when there was none in time; and how long it took.
    """
    games, box = Games(bot, searcher), _AnswerBox()
    games.open(box, returning=0)
    began = time.monotonic()
    answer = None
    try:
        games.apply(_events(record, turn))
        async with asyncio.timeout(wait.total_seconds()):
            found = (await box.answer).answer
            assert not isinstance(found, Evaluated)  # there is the game alone
            answer = found
    except TimeoutError:
        pass
    taken = timedelta(seconds=time.monotonic() - began)
    games.apply(Events(ended=[GameEnded(NUMBER, _OVER)]))
    games.close()
    return answer, taken


def _events(record: GameRecord, turn: RecordedTurn) -> Events:
    control = record.clock().controls[turn.seat - 1]
    moves = encode_moves(record.moves[: turn.ply])
    started = GameStarted(
        number=NUMBER,
        game_id=record.game_id,
        variant=record.variant,
        time_control=control,
        color=turn.color,
        opponent=player_of(record, turn.seat.other),
        moves=moves,
    )
    return Events(started=[started], turns=[_turn(turn, moves)])


def _turn(turn: RecordedTurn, moves: bytes) -> Turn:
    charge = None
    if turn.last_charge_ns is not None:
        raw_us, charged_us = (time_ns // 1000 for time_ns in turn.last_charge_ns)
        charge = Charge(raw_us, max(raw_us - charged_us, 0), charged_us)
    task = None if turn.task is None else OpeningTask(turn.task.stones, turn.task.may_choose)
    return Turn(
        NUMBER,
        turn.ply,
        moves,
        turn.own_ns // 1_000_000,
        turn.opponent_ns // 1_000_000,
        time.monotonic(),
        task,
        charge,
    )
