"""Which planned games start, and when, by a scheduler whose games are only noted."""

from __future__ import annotations

import weakref
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.server.tournaments.hall import NAMES, Hall

from meijin.game import Color, Ending, Outcome, Party, TimeControl
from meijin.server.tournaments import scheduler
from meijin.server.tournaments.fault_limit import FaultLimit
from meijin.server.tournaments.formats.base import Capacity
from meijin.server.tournaments.formats.challenge import ChallengeFormat
from meijin.server.tournaments.run import RunState
from meijin.server.tournaments.scheduler import MAX_AT_ONCE, MOST_TOLD
from meijin.store.schema import BotId, PairingId, TournamentId, TournamentState
from meijin.store.tournaments import PendingPairing
from meijin.wire import Capabilities

VOID = Outcome(Ending.VOID, None, Party.SERVER)


@pytest.fixture
async def hall() -> Hall:
    """A hall without bots."""
    return Hall()


async def test_a_game_starts_when_both_bots_are_there(hall: Hall) -> None:
    """Whether the tournament comes before the bots or after them."""
    hall.plan((1, 2))
    hall.join(1)
    assert await hall.playing() == []
    hall.join(2)
    assert await hall.playing() == [(1, 2)]
    hall.join(3)
    hall.plan((3, 1), first=2)
    assert await hall.playing() == [(1, 2)]
    hall.end(1, 2)
    assert await hall.playing() == [(3, 1)]


async def test_a_bot_plays_as_many_games_as_it_can(hall: Hall) -> None:
    """Each bot's capacity counts over all tournaments, and is filled in schedule order."""
    hall.join(1, Capabilities(max_games=3))
    hall.join(2, Capabilities(max_games=2))
    hall.join(3, Capabilities(max_games=9))
    hall.plan((1, 2), (2, 1), (1, 2), (1, 3), (1, 3))
    hall.plan((2, 3), (3, 2), first=2)
    assert await hall.playing() == [(1, 2), (2, 1), (1, 3)]
    hall.end(2, 1)
    assert await hall.playing() == [(1, 2), (1, 3), (1, 2)]


async def test_so_many_games_start_in_one_commit(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others do once these are committed, in their order, whatever happens meanwhile."""
    monkeypatch.setattr(scheduler, "MOST_UNCOMMITTED", 2)
    hall.games.is_committing = False
    for bot in (1, 2, 3):
        hall.join(bot, Capabilities(max_games=9))
    hall.plan((1, 2), (1, 3), (2, 3), (2, 1), (3, 1))
    assert await hall.playing() == [(1, 2), (1, 3)]
    hall.join(4)
    hall.plan((4, 1), first=2)
    assert await hall.playing() == [(1, 2), (1, 3)]
    hall.games.commit_starts()
    assert await hall.playing() == [(1, 2), (1, 3), (2, 3), (2, 1)]
    hall.games.commit_starts()
    assert (await hall.playing())[4:] == [(3, 1)]
    assert (await hall.playing())[4:] == [(3, 1), (4, 1)]


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


async def test_a_tournament_has_its_own_limit(hall: Hall) -> None:
    """`max_games` bounds one tournament, whatever the bots could take."""
    for bot in (1, 2):
        hall.join(bot, Capabilities(max_games=9))
    hall.plan(*[(1, 2)] * 5, max_games=2)
    other = hall.plan((2, 1), (2, 1), first=2)
    assert await hall.playing() == [(1, 2), (1, 2), (2, 1), (2, 1)]
    assert other.running == 2
    hall.end(1, 2)
    assert await hall.playing() == [(1, 2), (2, 1), (2, 1), (1, 2)]


async def test_an_absent_bot_holds_up_its_own_games_alone(hall: Hall) -> None:
    """Later games of others go first."""
    hall.plan((1, 2), (1, 3), (2, 3))
    hall.join(2)
    hall.join(3)
    assert await hall.playing() == [(2, 3)]


async def test_a_bot_that_left_starts_no_game(hall: Hall) -> None:
    """A player that is kept for its running games is not there for others."""
    hall.join(1)
    hall.join(2)
    hall.leave(1)
    hall.plan((1, 2))
    assert await hall.playing() == []


async def test_a_bot_is_not_paired_outside_of_its_capabilities(hall: Hall) -> None:
    """It waits for a tournament that it can play."""
    hall.join(1)
    hall.join(2, Capabilities(min_size=19, max_size=19))
    hall.plan((1, 2))
    assert await hall.playing() == []
    hall.join(2)
    assert await hall.playing() == [(1, 2)]


async def test_a_void_game_is_planned_again(hall: Hall) -> None:
    """Its pairing comes back with its colours and opening, and counts as not played."""
    hall.join(1)
    hall.join(2)
    run = hall.plan((1, 2), (2, 1))
    assert await hall.playing() == [(1, 2)]
    game = hall.end(1, 2, VOID)
    assert not run.format.is_decided
    assert await hall.playing() == [(2, 1)]
    hall.end(2, 1)
    assert await hall.playing() == [(1, 2)]
    (again,) = hall.games.running.values()
    assert again.pairing == game.pairing
    hall.end(1, 2)
    assert hall.scheduler.runs == {}


async def test_a_finished_tournament_is_left(hall: Hall) -> None:
    """After its last game nothing is looked for in it."""
    hall.join(1)
    hall.join(2)
    run = hall.plan((1, 2))
    await hall.playing()
    assert hall.scheduler.runs == {run.id: run}
    hall.end(1, 2)
    assert hall.scheduler.runs == {}


async def test_a_suspended_tournament_starts_nothing(hall: Hall) -> None:
    """Its games go on, and what becomes of them is for the run that takes its place."""
    hall.join(1)
    hall.join(2)
    run = hall.plan((1, 2), (2, 1))
    assert await hall.playing() == [(1, 2)]
    assert hall.scheduler.suspend(run.id) is run
    assert hall.scheduler.suspend(run.id) is None
    assert await hall.playing() == [(1, 2)]
    hall.end(1, 2, VOID)
    assert await hall.playing() == []
    assert (list(run.pending), run.state) == ([], RunState.SUSPENDED)


async def test_two_challenges_of_a_bot_that_was_full_begin_in_one_look(hall: Hall) -> None:
    """The first one's game keeps no place from the second's, where no tournament wants it."""
    hall.join(1, Capabilities(max_games=3))
    hall.join(2, Capabilities(max_games=9))
    hall.join(3, Capabilities(max_games=9))
    hall.plan((1, 2))
    assert await hall.playing() == [(1, 2)]
    hall.plan(*[(1, 2)] * 3, first=2, form=ChallengeFormat)
    hall.plan((1, 3), first=3, form=ChallengeFormat)
    assert await hall.playing() == [(1, 2)] * 3
    for _ in range(3):
        hall.end(1, 2)
    assert await hall.playing() == [(1, 2), (1, 3)]


async def test_cancelling_voids_what_runs_and_starts_nothing(hall: Hall) -> None:
    """Other tournaments take the bots over at once."""
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
    assert [pairing.id for pairing in run.pending] == [PairingId(12)]
    assert await hall.playing() == [(2, 1)]


async def test_a_bot_that_fails_too_often_ends_its_tournament(hall: Hall) -> None:
    """By so many forfeits of its own, those before a restart among them; void games are none."""
    for bot in (1, 2, 3):
        hall.join(bot)
    limit = FaultLimit(3, Counter({BotId(1): 1}))
    run = hall.plan(*[(1, 2)] * 5, games=9, faults=limit)
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
    (end,) = hall.journal.ends
    assert end.state is TournamentState.CANCELLED
    assert end.verdict.startswith("ada has lost 3 games by its own faults; the last: crash: Value")
    assert end.verdict.endswith("x (bot.py, line 12)")
    assert len(end.verdict) < 200
    assert await hall.playing() == [(3, 2)]


async def test_what_runs_when_a_bot_failed_too_often_is_void(hall: Hall) -> None:
    """Through nobody's fault: the other bot may have been winning."""
    hall.join(1, Capabilities(max_games=2))
    hall.join(2, Capabilities(max_games=2))
    hall.plan((1, 2), (2, 1), faults=FaultLimit(1))
    assert await hall.playing() == [(1, 2), (2, 1)]
    _, other = hall.games.running.values()
    hall.end(1, 2, Outcome(Ending.TIME, Color.WHITE, Party.BLACK, "2.000 s"))
    assert other.arbiter.outcome == Outcome(
        Ending.VOID, None, Party.NOBODY, "the tournament was cancelled"
    )
    (end,) = hall.journal.ends
    assert end.verdict == "ada has lost a game by its own faults; the last: time: 2.000 s"


async def test_a_tournament_that_is_decided_by_a_fault_is_finished(hall: Hall) -> None:
    """Though the bot has failed often enough to cancel it."""
    hall.join(1)
    hall.join(2)
    run = hall.plan((1, 2), faults=FaultLimit(1))
    await hall.playing()
    hall.end(1, 2, Outcome(Ending.TIME, Color.WHITE, Party.BLACK))
    assert run.state is RunState.FINISHED


async def test_a_cancelled_tournament_is_taken_up_again(hall: Hall) -> None:
    """As a new run over what is left."""
    hall.join(1)
    hall.join(2)
    hall.scheduler.cancel(hall.plan((1, 2)))
    assert await hall.playing() == []
    hall.plan((1, 2))
    assert await hall.playing() == [(1, 2)]


async def test_no_game_starts_while_the_server_drains(hall: Hall) -> None:
    """Bots that are free stay so."""
    hall.lobby.is_draining = True
    hall.join(1)
    hall.join(2)
    hall.plan((1, 2))
    assert await hall.playing() == []


def seats(capacity: Capacity) -> dict[int, tuple[int, int]]:
    """Of each bot the seats that are free, and all that it has."""
    return {bot_id: (seat.free, seat.altogether) for bot_id, seat in capacity.seats.items()}


async def test_it_says_what_a_tournament_could_play(hall: Hall) -> None:
    """Of bots that are here and can play it: how many games more, and how many altogether."""
    hall.join(1, Capabilities(max_games=5))
    hall.join(2, Capabilities(max_games=2))
    hall.join(3, Capabilities(min_size=19, max_size=19))
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
    """And none once it was cancelled."""
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
    run = hall.plan((1, 2), (2, 1))
    first, second = run.pending
    run.pending.clear()
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
    """Though the bot is needed still."""
    hall.join(1)
    hall.plan((1, 2))
    assert await hall.playing() == []
    session = hall.lobby.players[BotId(1)].session
    assert session is not None
    kept = weakref.ref(session)
    del session
    hall.leave(1)
    assert kept() is None
