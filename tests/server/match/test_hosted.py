"""Hosted programs: the wait for a core is on no clock, and what their host measures is charged."""

from __future__ import annotations

import pytest
from tests.server.match.hall import MS, SECOND, Bot, Hall

from meijin.game import Color, Ending, Party
from meijin.server.errors import BannedError, DisabledError, MeijinError
from meijin.server.match.live.commands import CPU_US, Measured
from meijin.server.match.live.live_game import LiveGame
from meijin.store.schema import BotId
from meijin.wire.capabilities import Capabilities

US_PER_SECOND = 1_000_000


def hosted(control: str) -> tuple[Hall, Bot, LiveGame]:
    """A game of two hosted bots, the first of which is asked."""
    hall = Hall(2, control, capabilities=Capabilities(is_hosted=True))
    return hall, hall.bots[0], hall.play(0, 1)


def answer(hall: Hall, bot: Bot, game: LiveGame, *, wall: float, cpu: float) -> None:
    measured = Measured(
        game.number, 0, int(wall * US_PER_SECOND), int(cpu * US_PER_SECOND), is_overstepped=False
    )
    hall.say(bot, (game.number, 0, 0, None, 7), measured=[measured])


@pytest.mark.parametrize("control", ["1/move", "1/move cpu"])
async def test_the_wait_for_a_core_is_on_no_clock(control: str) -> None:
    hall, bot, game = hosted(control)
    hall.pass_time(60 * SECOND)
    assert game.arbiter.outcome is None
    hall.say(bot, begun=[(game.number, 0)])
    answer(hall, bot, game, wall=0.5, cpu=0.25)
    assert list(game.arbiter.raw_ns) == [500 * MS]


@pytest.mark.parametrize(
    ("control", "wall", "cpu", "charged_ms"),
    [("1/move", 0.8, 0.3, 800), ("1/move cpu", 0.8, 0.3, 300), ("1/move cpu", 8.0, 0.3, 800)],
    ids=["wall", "cpu", "asleep"],
)
async def test_what_the_host_has_measured_is_charged(
    control: str, wall: float, cpu: float, charged_ms: int
) -> None:
    """Of a program that sleeps a tenth of what has passed, where processor time is charged."""
    hall, bot, game = hosted(control)
    hall.pass_time(10 * SECOND)
    hall.say(bot, begun=[(game.number, 0)])
    hall.pass_time(SECOND // 2)
    answer(hall, bot, game, wall=wall, cpu=cpu)
    assert list(game.arbiter.charged_ns) == [charged_ms * MS]
    assert list(game.arbiter.raw_ns) == [int(wall * 1000) * MS]
    assert game.analysis == {"0": {CPU_US: int(cpu * US_PER_SECOND)}}


async def test_the_flag_falls_where_the_wall_is_charged() -> None:
    """The server's own clock runs once the program has a core, whatever its host does then."""
    hall, bot, game = hosted("1/move")
    hall.say(bot, begun=[(game.number, 0)])
    hall.pass_time(3 * SECOND)
    assert game.final_outcome.ending is Ending.TIME


async def test_the_host_says_when_processor_time_is_used_up() -> None:
    hall, bot, game = hosted("1/move cpu")
    hall.say(bot, begun=[(game.number, 0)])
    hall.pass_time(3 * SECOND)
    assert game.arbiter.outcome is None
    hall.say(
        bot, measured=[Measured(game.number, 0, 3 * US_PER_SECOND, 1_200_000, is_overstepped=True)]
    )
    hall.pass_time(2 * SECOND)
    assert game.final_outcome.ending is Ending.TIME
    assert game.arbiter.evidence["charged_us"] >= 1_200_000  # type: ignore[operator]


async def test_a_measure_of_another_turn_has_no_effect() -> None:
    """Nor has one of a game that is somebody else's."""
    hall, bot, game = hosted("1/move")
    assert not hall.say(
        bot,
        begun=[(game.number, 1), (99, 0)],
        measured=[Measured(99, 0, 1, 1, is_overstepped=True)],
    )
    hall.pass_time(3 * SECOND)
    assert game.arbiter.outcome is None


@pytest.mark.parametrize("control", ["1/move", "1/move cpu"])
async def test_what_is_said_of_a_pending_turn_has_an_effect(control: str) -> None:
    """So that no host is slowed by it, however fast its programs are."""
    hall, bot, game = hosted(control)
    assert hall.say(bot, begun=[(game.number, 0)])
    assert hall.say(bot, measured=[Measured(game.number, 0, 1, 1, is_overstepped=True)])


async def test_other_bots_measure_nothing() -> None:
    """The clock of a bot that no host runs is the server's, whatever it says."""
    hall = Hall(2)
    bot, game = hall.bots[0], hall.play(0, 1)
    hall.pass_time(SECOND // 2)
    answer(hall, bot, game, wall=0.001, cpu=0.001)
    assert game.arbiter.charged_ns[0] > 200 * MS
    assert game.analysis is None


async def test_a_host_that_is_lost_costs_no_bot_its_game() -> None:
    """Its programs may come back for a while; then their games are void."""
    hall, bot, game = hosted("1/move")
    hall.say(bot, begun=[(game.number, 0)])
    hall.close(bot)
    hall.pass_time(20 * SECOND)
    assert game.arbiter.outcome is None
    hall.pass_time(20 * SECOND)
    outcome = game.final_outcome
    assert (outcome.ending, outcome.at_fault) == (Ending.VOID, Party.SERVER)


@pytest.mark.parametrize("error", [BannedError, DisabledError])
async def test_a_program_that_may_play_no_more_loses_its_game(error: type[MeijinError]) -> None:
    """As a bot does that is banned or disabled while it plays."""
    hall, bot, game = hosted("1/move")
    hall.lobby.expel_program(bot.session.player.bot_id, error("it mines"))
    hall.close(bot)
    hall.pass_time(40 * SECOND)
    outcome = game.final_outcome
    assert (outcome.ending, outcome.winner) == (Ending.DISCONNECT, Color.WHITE)


async def test_a_bot_that_connects_itself_is_no_program() -> None:
    """What becomes of a program that it once had ends no stream of its own."""
    hall = Hall(2)
    hall.lobby.expel_program(BotId(1), DisabledError("it mines"))
    assert not hall.bots[0].session.closed.done()


async def test_a_program_that_comes_back_has_its_turn_anew() -> None:
    """What had passed of it while its host was lost is on no clock."""
    hall, bot, game = hosted("1/move")
    hall.say(bot, begun=[(game.number, 0)])
    hall.close(bot)
    hall.pass_time(20 * SECOND)
    bot.session = hall.join(0)
    hall.pass_time(5 * SECOND)
    answer(hall, bot, game, wall=0.5, cpu=0.5)
    assert list(game.arbiter.raw_ns) == [500 * MS]
