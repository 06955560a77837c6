"""Wrapped engines in games with opening rules."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from tests.bots.bridge.conftest import Table, brain, wrapped

from meijin.bots import Bot, Capabilities, Position, RandomBot, load_bot
from meijin.bots.bridge.errors import EngineStartError
from meijin.bots.bridge.wrapped import WrappedBot
from meijin.bots.sdk.answer import Unchecked
from meijin.game import FREE, GOMOKU, SWAP, SWAP1, SWAP2, Color, Ending, OpeningRule, Placement
from meijin.testing import run_server

pytestmark = pytest.mark.usefixtures("family")

THREE = [112, 128, 144]
FIVE = [*THREE, 0, 1]


def in_opening(
    mode: str,
    moves: Sequence[int],
    ask: Callable[[WrappedBot, Position], Awaitable[object]],
) -> object:
    """What comes of a question in a game of one of the tests' brains, which knows swap2."""

    async def play() -> object:
        position = table.position(variant=replace(GOMOKU, opening_rule=SWAP2), moves=moves)
        bot.game_started(position)
        try:
            return await ask(bot, position)
        finally:
            bot.game_ended(position.game_id, None)

    bot = wrapped(brain(mode), opening_rules=(SWAP2,))
    table = Table(bot)
    bot.prepare()
    try:
        return asyncio.run(play())
    finally:
        bot.close()


def test_first_stones() -> None:
    """The first player places three."""
    found = in_opening("Swap2", [], lambda bot, position: bot.place_opening(position, 3))
    assert found == Placement((112, 128, 144))


@pytest.mark.parametrize(
    ("mode", "moves", "settled"),
    [
        ("Swap2", THREE, Color.BLACK),
        ("Swap2Stays", THREE, Color.WHITE),
        ("Swap2More", THREE, Placement((0, 1))),
        ("Swap2", FIVE, Color.BLACK),
        ("Swap2Stays", FIVE, Color.WHITE),
    ],
)
def test_choice(mode: str, moves: list[int], settled: object) -> None:
    """SWAP takes black, a move stays with white, two stones leave it to the opponent."""
    stones = 2 if len(moves) == 3 else 0
    assert in_opening(mode, moves, lambda bot, it: bot.choose_side(it, stones)) == settled


def test_choice_that_is_asked_again() -> None:
    """The same question has the same answer, and the engine isn't asked twice."""

    async def ask(bot: WrappedBot, position: Position) -> object:
        return [await bot.place_opening(position, 3) for _ in range(2)]

    assert in_opening("Swap2Once", [], ask) == [Placement((112, 128, 144))] * 2


def test_move_that_comes_with_a_choice() -> None:
    """It is played when the move is asked for, and the next one is asked of the engine."""

    async def ask(bot: WrappedBot, position: Position) -> object:
        side = await bot.choose_side(position, 2)
        moves = [await bot.choose(position) for _ in range(2)]
        for cell in (0, 200):
            position.board.play(cell)
        return [side, *moves, await bot.choose(position)]

    assert in_opening("Swap2Stays", THREE, ask) == [Color.WHITE, 0, 0, 1]


def test_illegal_move_that_comes_with_a_choice() -> None:
    """It is left to the server, as any other."""

    async def ask(bot: WrappedBot, position: Position) -> object:
        return [await bot.choose_side(position, 0), await bot.choose(position)]

    found = in_opening("Swap2Occupied", FIVE, ask)
    assert found == [Color.WHITE, Unchecked(0)]


@pytest.mark.parametrize(
    ("mode", "rules"),
    [
        ("Brain", (FREE,)),
        ("Swap2", (FREE, SWAP2)),
        ("AllSwaps", (FREE, SWAP2, SWAP, SWAP1)),
        ("Swap2Few", (FREE,)),
        ("Swap2Off", (FREE,)),
        ("Swap2Dies", (FREE,)),
        ("Swap2Hangs", (FREE,)),
    ],
)
def test_openings_are_found_out(mode: str, rules: tuple[OpeningRule, ...]) -> None:
    """An engine that places the first stones plays the openings; it is asked once."""
    bot = wrapped(brain(mode), opening_rules=None)
    bot.prepare()
    try:
        assert bot.capabilities.opening_rules == rules
    finally:
        bot.close()


def test_protocol_without_openings() -> None:
    """Nobody claims what the protocol has no command for."""
    engine = [sys.executable, brain()[3].replace("brains.py", "gtp_engine.py")]
    bot = wrapped(engine, protocol="gtp", opening_rules=(SWAP2,))
    with pytest.raises(EngineStartError, match="gtp has no command for swap2"):
        bot.prepare()
    bot.close()


class Placer(Bot):
    """Has the opponent choose, and places two stones more where it may."""

    capabilities = Capabilities(opening_rules=(FREE, SWAP2))

    def choose(self, position: Position) -> int:
        """The last cell."""
        return position.legal_cells()[-1]

    def place_opening(self, position: Position, stones: int) -> Sequence[int]:
        """The last cells."""
        return position.legal_cells()[-stones:]

    def choose_side(self, position: Position, stones: int) -> Color | Sequence[int]:
        """Two more stones, or black."""
        return position.legal_cells()[-stones:] if stones else Color.BLACK


_FIVE = (Ending.FIVE, "")
_LATE = (Ending.TIME, "")


@pytest.mark.parametrize(
    "causes",
    [
        {
            "Swap2": (_FIVE, _FIVE),
            "Swap2Stays": (_FIVE, _FIVE),
            "Swap2More": (_FIVE, _FIVE),
            "Swap2Once": ((Ending.CRASH, "answers SWAP2BOARD with UNKNOWN command"), _FIVE),
            "Swap2Occupied": ((Ending.ILLEGAL, "occupied"),) * 2,
            "Swap2Off": ((Ending.ILLEGAL, "off the"),) * 2,
        },
        {
            "Swap2Few": ((Ending.CRASH, "the engine answers SWAP2BOARD with 7,7 8,8"), _FIVE),
            "Swap2Many": ((Ending.CRASH, "answers SWAP2BOARD with 0,0 1,1 2,2"),) * 2,
            "Swap2Dies": ((Ending.CRASH, "has ended with status 4; it wrote: no book"),) * 2,
            "Swap2Hangs": (_LATE, _LATE),
            "Swap2Garbage": (_LATE, _LATE),
        },
    ],
)
def test_games_with_openings(causes: Mapping[str, Sequence[tuple[Ending, str]]]) -> None:
    """Each engine plays on or forfeits as what it did, as first player and as second."""
    with run_server() as server:
        placer = server.add_bot(Placer())
        for mode, expected in causes.items():
            name = server.add_bot(wrapped(brain(mode), opening_rules=(SWAP2,)), name=mode)
            games = server.play(name, placer, time="0.5/move", variant="15x15 swap2")
            for game, (ending, words) in zip(games, expected, strict=True):
                assert game.outcome.ending is ending, (mode, game.outcome)
                assert words in game.outcome.detail
                assert game.at_fault == (None if ending is Ending.FIVE else name)


def test_bot_as_an_engine_with_openings() -> None:
    """A bot behind `meijin bot engine` is found to know all openings, and plays them to the end."""
    command = [sys.executable, "-m", "meijin", "bot", "engine", "random"]
    asked = wrapped(command, opening_rules=None)
    asked.prepare()
    asked.close()
    assert asked.capabilities.opening_rules == (FREE, SWAP2, SWAP, SWAP1)
    with run_server() as server:
        engine = server.add_bot(wrapped(command, opening_rules=(SWAP2, SWAP, SWAP1)))
        rival = server.add_bot(RandomBot(seed=1))
        for opening in ("swap2", "swap", "swap1"):
            variant = f"15x15 {opening}"
            for game in server.play(engine, rival, games=4, variant=variant, time="5/move"):
                assert game.outcome.ending in {Ending.FIVE, Ending.DRAW}


@pytest.mark.parametrize(
    ("name", "option"), [("alphabeta", "level=1"), ("mcts", "time_limit=0.02")]
)
def test_bot_that_searches_as_an_engine_with_swap2(name: str, option: str) -> None:
    """It plays swap2 in the wrapper to the end, as first player and as second."""
    load_bot(name, [option]).prepare()  # compiles what isn't: longer than an engine may take
    command = [sys.executable, "-m", "meijin", "bot", "engine", name, "--option", option]
    with run_server() as server:
        engine = server.add_bot(wrapped(command, opening_rules=(SWAP2,)))
        rival = server.add_bot(RandomBot(seed=1))
        for game in server.play(engine, rival, variant="15x15 swap2", time="60+1"):
            assert game.winner == engine
            assert game.outcome.ending is Ending.FIVE
