"""Replay: one turn of a recorded game is given to a bot, as a stream would give it."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta

from meijin.bots.sdk.answer import Answer, Evaluated, Failure
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.games import RunningGames
from meijin.bots.sdk.searcher import Searcher
from meijin.bots.sdk.stream import StreamOutbox
from meijin.bots.sdk.wire import Action
from meijin.game import Ending, GameRecord, OpeningAction, Outcome, Party, encode_moves
from meijin.game.records.recorded_turn import RecordedTurn, player_of
from meijin.v1.play_service_pb2 import Events, GameEnded, GameStarted, OpeningTask, TurnRequested
from meijin.wire.mapping import to_message
from meijin.wire.values import (
    color_to_proto,
    outcome_to_proto,
    time_control_to_proto,
    variant_to_proto,
)

NUMBER = 1
"""The game's number on the stream."""
_OVER = Outcome(Ending.VOID, None, Party.SERVER, "replayed")


class _AnswerBox(StreamOutbox):
    """Keeps the one answer instead of sending it."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: asyncio.Future[Action] = asyncio.get_running_loop().create_future()

    def add_action(self, action: Action) -> None:
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
    games, box = RunningGames(bot, searcher), _AnswerBox()
    games.open(box, returning=0)
    began = time.monotonic()
    answer = None
    try:
        games.apply(_events(record, turn), read_at=began)
        async with asyncio.timeout(wait.total_seconds()):
            found = (await box.answer).answer
            assert not isinstance(found, Evaluated)  # there is the game alone
            answer = found
    except TimeoutError:
        pass
    taken = timedelta(seconds=time.monotonic() - began)
    over = Events(ended=[GameEnded(game=NUMBER, outcome=outcome_to_proto(_OVER))])
    games.apply(over, read_at=time.monotonic())
    games.close()
    return answer, taken


def _events(record: GameRecord, turn: RecordedTurn) -> Events:
    moves = encode_moves(record.moves[: turn.ply])
    started = GameStarted(
        game=NUMBER,
        game_id=record.game_id,
        variant=variant_to_proto(record.variant),
        time_control=time_control_to_proto(record.clock().controls[turn.seat - 1]),
        color=color_to_proto(turn.color),
        opponent=player_of(record, turn.seat.other),
        moves=moves,
    )
    requested = TurnRequested(
        game=NUMBER,
        ply=turn.ply,
        moves=moves,
        own_clock_ms=max(turn.own_ns, 0) // 1_000_000,
        opponent_clock_ms=max(turn.opponent_ns, 0) // 1_000_000,
    )
    if turn.last_charge_ns is not None:
        raw_us, charged_us = (time_ns // 1000 for time_ns in turn.last_charge_ns)
        requested.charge.raw_us, requested.charge.charged_us = raw_us, charged_us
        requested.charge.lag_us = max(raw_us - charged_us, 0)
    if turn.task is not None:
        requested.task.CopyFrom(to_message(turn.task, OpeningTask))
    return Events(started=[started], turns=[requested])
