"""A turn of a recorded game, given to a bot."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from meijin.bots import Bot, Capabilities, Charge, Position
from meijin.bots.sdk.replay import replay_turn
from meijin.bots.sdk.searcher import SearchThreads, searcher_for
from meijin.game import (
    GOMOKU,
    SWAP2,
    Choose,
    Color,
    GameRecord,
    Outcome,
    TimeControl,
    Variant,
)
from meijin.game.records.recorded_turn import recorded_turns

LONG = timedelta(seconds=60)


def record(variant: Variant = GOMOKU, seconds: Sequence[int] = (3, 4, 5)) -> GameRecord:
    times = tuple(timedelta(seconds=each) for each in seconds)
    control = TimeControl.parse("60+1,20/move")
    return GameRecord(
        variant, "ada", "bob", (0, 1, 2), times=times, time_control=control, game_id="7"
    )


async def replayed(bot: Bot, game: GameRecord, wait: timedelta = LONG) -> tuple[object, timedelta]:
    """What a bot answers at a game's last turn, and after how long."""
    *_, turn = recorded_turns(game)
    threads = SearchThreads()
    try:
        return await replay_turn(bot, searcher_for(bot, threads), game, turn, wait)
    finally:
        threads.close()


class Witness(Bot):
    """Takes the first cell, and notes what it hears."""

    capabilities = Capabilities(opening_rules=(SWAP2,))

    def __init__(self) -> None:
        self.heard: list[object] = []

    def game_started(self, position: Position) -> None:
        self.heard.append(f"started {position.game_id} at ply {position.board.ply}")

    def choose(self, position: Position) -> int:
        self.heard += [
            (position.color, position.opponent, list(position.board.moves)),
            (position.clock_left > timedelta(seconds=56), position.time_left),
            (position.opponent_time_left, position.last_charge),
        ]
        return position.legal_cells()[0]

    def choose_side(self, position: Position, stones: int) -> Color:
        self.heard.append((list(position.board.moves), stones))
        return Color.WHITE

    def game_ended(self, game_id: str, outcome: Outcome | None) -> None:  # noqa: ARG002 - a hook
        self.heard.append(f"ended {game_id}")


async def test_the_turn_is_what_it_was() -> None:
    """Side, moves, clocks and the charge of the last answer, between a start and an end."""
    bot = Witness()
    answer, taken = await replayed(bot, record())
    while len(bot.heard) < 5:  # noqa: ASYNC110 - the end is told in a search thread, to nobody else
        await asyncio.sleep(0)
    assert answer == (await replayed(bot, record()))[0] == 3
    assert timedelta(0) < taken < LONG
    start, who, own, other, end = bot.heard[:5]
    assert (start, end) == ("started 7 at ply 3", "ended 7")
    assert who == (Color.WHITE, "ada", [0, 1, 2])
    assert isinstance(own, tuple)
    assert own[0]
    assert timedelta(seconds=19) < own[1] <= timedelta(seconds=20)
    assert other == (timedelta(seconds=54), Charge(4_000_000, 0, 4_000_000))
    assert bot.heard[5] == "started 7 at ply 3"


async def test_a_task_of_an_opening_is_asked_for() -> None:
    bot = Witness()
    game = record(Variant(width=15, height=15, opening_rule=SWAP2), (3, 0, 0))
    answer, _ = await replayed(bot, game)
    assert answer == Choose(Color.WHITE)
    assert ([0, 1, 2], 2) in bot.heard


async def test_no_answer_is_none() -> None:
    """After the time that is waited."""

    class Slow(Bot):
        async def choose(self, position: Position) -> int:  # noqa: ARG002 - it never looks
            await asyncio.Event().wait()
            return 0

    answer, taken = await replayed(Slow(), record(), timedelta(milliseconds=1))
    assert answer is None
    assert taken >= timedelta(milliseconds=1)
