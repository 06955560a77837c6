"""Wrapped engines in games with opening rules."""

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.bots.bridge.conftest import Table, at_table, brain, wrapped

from meijin.bots import Bot, Capabilities, Position, RandomBot
from meijin.bots.bridge.dialogue import EngineStartError
from meijin.bots.bridge.wrapped import WrappedBot
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

    async def play(table: Table) -> object:
        position = table.position(variant=replace(GOMOKU, opening_rule=SWAP2), moves=moves)
        table.bot.game_started(position)
        try:
            return await ask(table.bot, position)
        finally:
            await table.bot.game_ended(position.game_id, None)

    return at_table(brain(mode), play, opening_rules=(SWAP2,))


@pytest.mark.parametrize(
    ("mode", "moves", "settled"),
    [
        ("Swap2", THREE, Color.BLACK),
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


@pytest.mark.parametrize(
    ("mode", "rules"),
    [
        ("Brain", (FREE,)),
        ("Swap2", (FREE, SWAP2)),
        ("AllSwaps", (FREE, SWAP2, SWAP, SWAP1)),
        ("WhoSwap2", (FREE, SWAP2)),
        ("Swap2First", (FREE,)),
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
    bot = wrapped(brain("Gtp"), protocol="gtp", opening_rules=(SWAP2,))
    with pytest.raises(EngineStartError, match="gtp has no command for swap2"):
        bot.prepare()
    bot.close()


class Placer(Bot):
    """Has the opponent choose, and places two stones more where it may."""

    capabilities = Capabilities(opening_rules=(FREE, SWAP2))

    def choose(self, position: Position) -> int:
        return position.legal_cells()[-1]

    def place_opening(self, position: Position, stones: int) -> Sequence[int]:
        return position.legal_cells()[-stones:]

    def choose_side(self, position: Position, stones: int) -> Color | Sequence[int]:
        return position.legal_cells()[-stones:] if stones else Color.BLACK


FORFEITS = {
    "Brain": (Ending.FIVE, ""),
    "DiesThird": (Ending.CRASH, "the engine has ended with status 7; it wrote: out of ideas"),
    "Refuses": (Ending.CRASH, "the engine answers BOARD with ERROR I don't like it"),
    "EndlessLine": (Ending.TIME, ""),
    "OffBoard": (Ending.ILLEGAL, "off the 15x15 board"),
}
OPENINGS = {
    "Swap2More": (Ending.FIVE, ""),
    "Swap2Dies": (Ending.CRASH, "has ended with status 4; it wrote: no book"),
    "Swap2Occupied": (Ending.ILLEGAL, "occupied"),
}


@pytest.mark.usefixtures("impatience")
@pytest.mark.parametrize(("variant", "causes"), [("15x15", FORFEITS), ("15x15 swap2", OPENINGS)])
def test_games_on_a_server(variant: str, causes: Mapping[str, tuple[Ending, str]]) -> None:
    """Each engine plays on or forfeits as what it did; afterwards the server finds it at work."""
    with run_server() as server:
        placer = server.add_bot(Placer())
        for mode, (ending, words) in causes.items():
            name = server.add_bot(wrapped(brain(mode), opening_rules=(SWAP2,)), name=mode)
            for game in server.play(name, placer, time="0.5/move", variant=variant):
                assert game.outcome.ending is ending, (mode, game.outcome)
                assert words in game.outcome.detail
                assert game.at_fault == (None if ending is Ending.FIVE else name)


def test_one_crash_costs_one_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No game begins before the engine's replacement is ready, however long that loads."""
    monkeypatch.setenv("MEIJIN_TEST_STARTS", str(tmp_path / "died"))
    with run_server() as server:
        engine = server.add_bot(wrapped(brain("DiesOnce")))
        rival = server.add_bot(Placer())
        games = server.play(engine, rival, games=4, time="1/move")
    assert sorted(game.outcome.ending.value for game in games) == ["crash", "five", "five", "five"]


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
