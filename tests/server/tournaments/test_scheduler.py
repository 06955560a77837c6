"""Which planned games start, and when, by a scheduler whose games are only noted."""

from __future__ import annotations

import weakref
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.server.tournaments.hall import NAMES, Hall

from meijin.game import Color, Ending, Outcome, Party, Result, Seat, TimeControl
from meijin.server.tournaments import scheduler
from meijin.server.tournaments.formats.base import Capacity
from meijin.server.tournaments.run import RunState
from meijin.server.tournaments.scheduler import MAX_AT_ONCE, MOST_TOLD
from meijin.store.schema import PERSON_PREFIX, BotId, PairingId, TournamentId, TournamentState
from meijin.store.tournaments import PendingPairing
from meijin.store.tournaments.match_counts import PairingResult
from meijin.wire.capabilities import Capabilities

VOID = Outcome(Ending.VOID, None, Party.SERVER)
LATE = Outcome(Ending.TIME, Color.WHITE, Party.BLACK)


@pytest.fixture
async def hall() -> Hall:
    return Hall()


async def test_no_game_starts_while_the_server_drains(hall: Hall) -> None:
    hall.lobby.is_draining = True
    hall.join(1)
    hall.join(2)
    hall.plan((1, 2))
    assert await hall.playing() == []


async def test_a_tournament_that_is_decided_by_a_fault_is_finished(hall: Hall) -> None:
    """And left, though a bot has failed too often; a void game decides nothing."""
    hall.join(1)
    hall.join(2)
    run = hall.plan((1, 2), max_faults=1)
    assert await hall.playing() == [(1, 2)]
    hall.end(1, 2, VOID)
    assert run.is_playing
    assert await hall.playing() == [(1, 2)]
    hall.end(1, 2, LATE)
    assert run.state is RunState.FINISHED
    assert hall.scheduler.runs == {}


async def test_a_suspended_tournament_starts_nothing(hall: Hall) -> None:
    """Its games go on, and those that are void are not played again."""
    hall.join(1)
    hall.join(2)
    run = hall.plan((1, 2), (2, 1))
    assert await hall.playing() == [(1, 2)]
    assert [hall.scheduler.suspend(run.id) for _ in range(2)] == [run, None]
    assert await hall.playing() == [(1, 2)]
    hall.end(1, 2, VOID)
    assert await hall.playing() == []
    assert (len(run.pending), run.state) == (0, RunState.SUSPENDED)


async def test_so_many_games_start_in_one_commit(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others once these are committed."""
    monkeypatch.setattr(scheduler, "MOST_UNCOMMITTED", 2)
    hall.games.is_committing = False
    for bot in (1, 2, 3, 4):
        hall.join(bot, Capabilities(max_games=9))
    games = [(1, 2), (1, 3), (2, 3), (2, 1), (4, 1)]
    hall.plan(*games[:4])
    hall.plan(games[4], first=2)
    for count in (2, 4, 5):
        assert await hall.playing() == games[:count]
        assert await hall.playing() == games[:count]
        hall.games.commit_starts()


async def test_nobody_is_offered_to_a_tournament_that_has_no_place(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many come and go while its games are as many as it may have."""
    for bot in range(1, 9):
        hall.join(bot)
    run = hall.plan((1, 2), (3, 4), (5, 6), max_games=1)
    assert await hall.playing() == [(1, 2)]
    monkeypatch.setattr(run.pending, "offer", None)
    for bot in range(3, 9):
        hall.join(bot)
    assert await hall.playing() == [(1, 2)]
    monkeypatch.undo()
    hall.end(1, 2)
    assert await hall.playing() == [(3, 4)]


async def test_cancelling_voids_what_runs_and_starts_nothing(hall: Hall) -> None:
    hall.join(1)
    hall.join(2)
    run = hall.plan((1, 2), (1, 2))
    hall.plan((2, 1), first=2)
    assert await hall.playing() == [(1, 2)]
    (game,) = hall.games.running.values()
    hall.scheduler.cancel(run)
    assert game.arbiter.outcome == Outcome(
        Ending.VOID, None, Party.OPERATOR, "the tournament was cancelled"
    )
    assert not run.format.is_decided
    assert len(run.pending) == 1
    assert await hall.playing() == [(2, 1)]


@pytest.mark.parametrize("is_swapped", [False, True])
async def test_a_format_hears_of_results(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, *, is_swapped: bool
) -> None:
    """As if nobody had swapped the colours, with what games that repeat each other share."""
    for bot in (1, 2):
        hall.join(bot)
    run = hall.plan((1, 2))
    heard: list[PairingResult] = []
    monkeypatch.setattr(run.format, "game_ended", heard.append)
    assert await hall.playing() == [(1, 2)]
    (game,) = hall.games.running.values()
    game.symmetric_fingerprint = 7
    if is_swapped:
        game.arbiter.position.black = Seat.SECOND
    hall.games.end(game, Outcome(Ending.FIVE, Color.BLACK))
    result = Result.WHITE_WINS if is_swapped else Result.BLACK_WINS
    assert heard == [PairingResult(1, BotId(1), BotId(2), result, 7)]


async def test_a_bot_that_fails_too_often_ends_its_tournament(hall: Hall) -> None:
    """By this many forfeits of its own, those before a restart among them; void games are none."""
    for bot in (1, 2, 3):
        hall.join(bot)
    run = hall.plan(*[(1, 2)] * 5, games=9, max_faults=3)
    run.faults[BotId(1)] = 1
    assert await hall.playing() == [(1, 2)]
    hall.end(1, 2, VOID)
    assert await hall.playing() == [(1, 2)]
    hall.end(1, 2, Outcome(Ending.TIME, Color.BLACK, Party.WHITE))
    assert await hall.playing() == [(1, 2)]
    hall.end(1, 2, Outcome(Ending.TIME, Color.WHITE, Party.BLACK))
    assert run.state is RunState.PLAYING
    hall.plan((3, 2), first=2)
    assert await hall.playing() == [(1, 2)]
    detail = "ValueError: " + "x" * 500 + " (bot.py, line 12)"
    hall.end(1, 2, Outcome(Ending.CRASH, Color.WHITE, Party.BLACK, detail))
    assert not run.is_playing
    assert run.id not in hall.scheduler.runs
    (end,) = hall.ends
    assert end.state is TournamentState.CANCELLED
    assert end.verdict.startswith("ada has lost 3 games by its own faults; the last: crash: Value")
    assert end.verdict.endswith("x (bot.py, line 12)")
    assert len(end.verdict) < 200
    assert await hall.playing() == [(3, 2)]


@pytest.mark.parametrize(
    ("limit", "detail", "verdict"),
    [
        ({"games": 1}, "the tournament was decided", ""),
        (
            {"max_faults": 1},
            "the tournament was cancelled",
            "ada has lost a game by its own faults; the last: time: 2.000 s",
        ),
    ],
)
async def test_what_runs_at_the_end_is_void(
    hall: Hall, limit: dict[str, Any], detail: str, verdict: str
) -> None:
    """Through nobody's fault, since the other bot may have been winning; it is not replayed."""
    hall.join(1, Capabilities(max_games=2))
    hall.join(2, Capabilities(max_games=2))
    hall.plan((1, 2), (2, 1), **limit)
    assert await hall.playing() == [(1, 2), (2, 1)]
    _, other = hall.games.running.values()
    hall.end(1, 2, Outcome(Ending.TIME, Color.WHITE, Party.BLACK, "2.000 s"))
    assert other.arbiter.outcome == Outcome(Ending.VOID, None, Party.NOBODY, detail)
    assert [end.verdict for end in hall.ends] == [verdict]
    assert await hall.playing() == []


def seats(capacity: Capacity) -> dict[int, tuple[int, int]]:
    return {bot_id: (seat.free, seat.altogether) for bot_id, seat in capacity.seats.items()}


async def test_it_says_what_a_tournament_could_play(hall: Hall) -> None:
    """Of bots that are here and can play it: how many games more, and how many altogether.

    People are no bots.
    """
    hall.join(1, Capabilities(max_games=5))
    hall.join(2, Capabilities(max_games=2))
    hall.join(3, Capabilities(min_size=19, max_size=19))
    hall.join(4, name=f"{PERSON_PREFIX}eve")
    run = hall.plan((1, 2), (2, 1), (1, 2))
    assert await hall.playing() == [(1, 2), (2, 1)]
    found = await hall.scheduler.capacity(run)
    assert seats(found) == {1: (3, 5), 2: (0, 2)}
    assert (found.waiting, found.held) == (1, {1: 1, 2: 1})
    assert found.room == MAX_AT_ONCE - 2
    hall.leave(1)
    alone = await hall.scheduler.capacity(run)
    assert (seats(alone), alone.held) == ({2: (0, 2)}, {})
    bounded = hall.plan(max_games=4, first=2)
    hall.join(1, Capabilities(max_games=5))
    assert seats(await hall.scheduler.capacity(bounded))[1] == (3, 4)
    assert (await hall.scheduler.capacity(bounded)).room == 4


async def test_more_games_are_planned_while_a_tournament_goes_on(hall: Hall) -> None:
    hall.join(1)
    hall.join(2)
    run = hall.plan(games=1)
    more = PendingPairing(PairingId(7), 1, BotId(2), BotId(1), b"")
    hall.scheduler.plan(run, [more])
    assert await hall.playing() == [(2, 1)]
    hall.scheduler.cancel(run)
    hall.scheduler.plan(run, [more])
    assert await hall.playing() == []
    assert not run.pending


async def test_a_clock_of_a_pairing_is_for_bots_that_can_play_it(hall: Hall) -> None:
    """It waits for the one that can't any more, and says so; other games go on."""
    hall.join(1, Capabilities(min_move_time=timedelta(seconds=1)))
    hall.join(2)
    run = hall.plan()
    first = PendingPairing(PairingId(1), 1, BotId(1), BotId(2), b"")
    second = PendingPairing(PairingId(2), 2, BotId(2), BotId(1), b"")
    hall.scheduler.plan(run, [replace(first, time_control=TimeControl.parse("1")), second])
    found = await hall.scheduler.capacity(run)
    assert found.seats[BotId(1)].least_move_time == timedelta(seconds=1)
    assert await hall.playing() == [(2, 1)]
    assert hall.scheduler.waiting_for(run.id, NAMES) == "ada needs 1 s a move"
    hall.end(2, 1)
    hall.join(1)
    assert await hall.playing() == [(1, 2)]


async def test_it_says_what_a_tournament_waits_for(hall: Hall) -> None:
    """Bots that are away or can't play it; nothing when all is well or nothing is pending."""

    def words() -> str:
        return hall.scheduler.waiting_for(TournamentId(1), NAMES)

    assert words() == ""
    hall.plan((1, 2), (2, 3))
    hall.join(2)
    assert words() == "ada is not connected; cleo is not connected"
    hall.join(1, Capabilities(min_move_time=timedelta(seconds=5)))
    hall.join(3)
    assert words() == "ada needs 5 s a move"
    hall.join(1)
    assert words() == ""
    assert await hall.playing() == [(1, 2)]
    hall.leave(1)
    assert words() == ""
    hall.leave(3)
    assert words() == "cleo is not connected"


async def test_what_is_waited_for_is_told_in_a_few_words(hall: Hall) -> None:
    """However many bots are away: some are named, and the others counted."""
    count = 2 * MOST_TOLD
    run = hall.plan(*((2 * pair + 1, 2 * pair + 2) for pair in range(MOST_TOLD)))
    names = {BotId(bot): f"bot-{bot}" for bot in range(1, count + 1)}
    told = hall.scheduler.waiting_for(run.id, names).split("; ")
    assert told[0] == "bot-1 is not connected"
    assert told[MOST_TOLD:] == [f"and {MOST_TOLD} others"]


async def test_the_session_of_a_bot_that_has_left_is_let_go(hall: Hall) -> None:
    hall.join(1)
    hall.plan((1, 2))
    assert await hall.playing() == []
    session = hall.players[BotId(1)].session
    assert session is not None
    kept = weakref.ref(session)
    del session
    hall.leave(1)
    assert kept() is None
