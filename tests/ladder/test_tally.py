"""A ladder's games, added up."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection
from structlog.testing import capture_logs
from tests.ladder.sites import assert_published, logged_snapshot
from tests.ladder.statistics.made_games import replay
from tests.store.league import BLACK, DRAW, NOON, WHITE, League

from meijin.game import encode_moves
from meijin.ladder import tally as module
from meijin.ladder.rating_table import rate
from meijin.ladder.refresh import refresh
from meijin.ladder.statistics.fit.pair_counts import PairCounts
from meijin.ladder.tally import NO_CHAIN, Snapshot, Tally, TallyCache, versions_of
from meijin.store import Database, Durability
from meijin.store.ladders import ladders
from meijin.store.ladders.days import kept_tallies, last_versions
from meijin.store.ladders.games import FinishedGame, finished_games, opening_key
from meijin.store.ladders.versions import ParentOf
from meijin.store.schema import GameState, LadderId

EMPTY = opening_key(b"")

Told = tuple[object, ...]


def rows(counts: PairCounts) -> list[tuple[float, ...]]:
    """The rows of counts: first, second, opening, wins, draws and losses."""
    assert counts.openings is not None
    columns = (counts.first, counts.second, counts.openings)
    results = (counts.wins, counts.draws, counts.losses)
    return list(zip(*(column.tolist() for column in (*columns, *results)), strict=True))


def told(found: Snapshot) -> Told:
    """Everything that a snapshot tells but the ladder's revision, to be compared."""
    tally, ladder = found.tally, replace(found.ladder, revision=0, run_revision=0)
    numbers = (tally.cutoff, tally.chain, tally.games, tally.repeats, tally.day)
    return (rows(found.counts), ladder, numbers, tally.versions, [*tally.recent], found.anchors)


def logged(league: League, then: Snapshot | None = None) -> Snapshot:
    """The league's games read one by one, as they are now or as they were at a snapshot."""
    if then is None:
        return logged_snapshot(league, 10**9)
    return logged_snapshot(league, then.tally.cutoff, then.ladder)


def games_of(league: League) -> list[FinishedGame]:
    return league.database.read(lambda at: [*finished_games(at, league.ladder_id, after=0)])


# -- what is added up ---------------------------------------------------------------


def test_games_are_counted_by_players_and_opening(any_league: League) -> None:
    """Rows are sorted: black's wins, draws and losses."""
    any_league.finish((1, 0, BLACK), (0, 1, BLACK), (0, 1, BLACK), (0, 1, WHITE), (0, 1, DRAW))
    any_league.finish((0, 1, WHITE), line=(5, 6), opening_plies=1)
    any_league.finish((0, 1, WHITE), line=(5, 7), opening_plies=1)
    a, b = any_league.versions[:2]
    other = opening_key(encode_moves((5,)))
    found = any_league.snapshot()
    wanted = [(a, b, EMPTY, 2, 1, 1), (a, b, other, 0, 0, 2), (b, a, EMPTY, 1, 0, 0)]
    assert rows(found.counts) == sorted(wanted)
    assert (found.tally.games, found.counts.games) == (7, 7)


def test_classic_elo_is_that_of_a_replay(any_league: League) -> None:
    """To the last bit, in the order in which games ended; repeats count for nothing."""
    any_league.finish_random(80, lines=4)
    found = [game for game in games_of(any_league) if not game.is_repeat]
    replayed = replay((game.black_id, game.white_id, game.points / 2) for game in found)
    states = any_league.snapshot().tally.versions
    assert {key: state.classic_elo for key, state in states.items()} == replayed


def test_forfeits_are_counted_for_the_loser(any_league: League) -> None:
    """Losses on the board are no faults; a forfeit that repeats another is one more."""
    any_league.finish((0, 1, BLACK), (1, 2, WHITE))
    any_league.finish((0, 1, BLACK), (1, 2, WHITE), (2, 0, BLACK), forfeit=True)
    any_league.finish((1, 2, WHITE), (1, 2, WHITE), line=(7,), forfeit=True)
    a, b, c = any_league.versions[:3]
    states = any_league.snapshot().tally.versions
    assert {key: state.faults for key, state in states.items()} == {a: 1, b: 4, c: 0}


def test_the_last_day_of_a_version_is_that_of_its_last_rated_game(any_league: League) -> None:
    """A repeat doesn't count; days never go back."""
    any_league.finish((0, 1, BLACK), line=(7,))
    any_league.finish((0, 1, BLACK), line=(7,), day=2)
    any_league.finish((2, 3, BLACK), day=1)
    first, third = NOON.toordinal(), (NOON + timedelta(days=2)).toordinal()
    states = any_league.snapshot().tally.versions
    days = [states[version].last_day for version in any_league.versions[:4]]
    assert days == [first, first, third, third]
    assert first < third


def test_games_link_those_who_played_them(any_league: League) -> None:
    """From opponent to opponent, whoever linked them first."""

    def components() -> list[int]:
        states = any_league.snapshot().tally.versions
        return [states[key].component for key in any_league.versions if key in states]

    any_league.finish((3, 4, DRAW), (1, 2, DRAW))
    a, b, _, d, _ = any_league.versions
    assert components() == [b, b, d, d]
    any_league.finish((4, 2, DRAW), (0, 3, DRAW))
    assert components() == [a] * 5


@pytest.mark.parametrize("state", [GameState.RUNNING, GameState.VOID])
def test_other_games_do_not_count(any_league: League, state: GameState) -> None:
    """Running and void games, and other ladders' games, are in no snapshot."""
    League(any_league.database, name="standard-15x15").finish((0, 1, BLACK), forfeit=True)
    any_league.add_unrated(state)
    for found in (any_league.snapshot(), logged(any_league)):
        assert (rows(found.counts), found.tally.versions, found.tally.chain) == ([], {}, NO_CHAIN)
        assert (found.tally.games, found.tally.repeats, found.tally.cutoff) == (0, 0, 0)


def test_a_checksum_can_be_made_by_hand(any_league: League) -> None:
    """Each game's line is hashed with what was before; anchors and parents come last."""
    any_league.finish((1, 0, DRAW), line=(7,))
    any_league.finish((0, 1, BLACK), forfeit=True)
    any_league.finish((1, 0, DRAW), line=(7,), day=1)
    any_league.set_anchors(1)
    a, b = any_league.versions[:2]
    one, two, three = games_of(any_league)
    day = NOON.toordinal()
    chain = bytes(32)
    for line in (
        f"{one.id} {one.fingerprint} {b} {a} {EMPTY} 1 0 0 {day}",
        f"{two.id} {two.fingerprint} {a} {b} {EMPTY} 2 2 0 {day}",
        f"{three.id} {one.fingerprint} {b} {a} {EMPTY} 1 0 1 {day + 1}",
    ):
        chain = hashlib.sha256(chain + f"{line}\n".encode()).digest()
    wanted = hashlib.sha256(f"{chain.hex()}\n{b}\n".encode()).hexdigest()
    found = any_league.snapshot()
    assert found.checksum == wanted
    assert replace(found, parents=[ParentOf(b, a)]).checksum != wanted


def test_a_snapshot_knows_where_it_ends(any_league: League) -> None:
    """Its cut-off is the end of the last finished game, rated or not."""

    def numbers() -> tuple[int, ...]:
        found = any_league.snapshot()
        tally = found.tally
        return tally.cutoff, tally.games, tally.repeats, found.ladder.voided

    any_league.finish((0, 1, BLACK), (0, 1, BLACK), (0, 1, BLACK), line=(7,))
    assert numbers() == (3, 1, 2, 0)
    any_league.void(3)
    assert numbers() == (2, 1, 1, 1)


# -- the log ------------------------------------------------------------------------


def test_the_log_knows_what_was_voided_later(any_league: League) -> None:
    """Each snapshot is found again, with the results and forfeits that were voided after it."""
    any_league.finish((0, 1, BLACK), (2, 3, WHITE), forfeit=True)
    found = [any_league.snapshot()]
    for number in (1, 6, 2, 9):
        any_league.finish_random(5, seed=number, lines=3)
        found.append(any_league.snapshot())
        any_league.void(number)
        found.append(any_league.snapshot())
    any_league.finish_random(40, lines=2)
    found.append(any_league.snapshot())
    assert [each.ladder.voided for each in found] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert found[-1].tally.repeats > 5
    for then in found:
        assert told(logged(any_league, then)) == told(then)


def test_the_log_believes_no_mark(any_league: League) -> None:
    """A game that is marked as a repeat and is none counts in the log alone; so with an opening."""
    any_league.finish((0, 1, BLACK), (0, 1, WHITE))
    any_league.change_game(2, is_repeat=True)
    any_league.change_game(1, opening=5)
    assert (any_league.snapshot().tally.games, logged(any_league).tally.games) == (1, 2)
    assert {row[2] for row in rows(logged(any_league).counts)} == {EMPTY}


# -- what is kept -------------------------------------------------------------------


def test_a_tally_is_kept_and_resumed(any_league: League) -> None:
    """After any game, and over any days; what is kept tells all that it knew."""
    any_league.finish_random(20, lines=3)
    any_league.finish_random(20, seed=2, lines=3, day=1)
    any_league.finish_random(20, seed=3, lines=3, day=4)
    games = games_of(any_league)
    ladder = any_league.database.read(lambda at: ladders.ladder_row(at, any_league.ladder_id))
    whole = told(Snapshot.of(ladder, Tally.of(games), (), ()))
    for cut in (0, 1, 19, 20, 21, 40, 59, 60):
        tally = Tally.of(games[:cut])
        resumed = Tally.resumed(tally.to_keep(), tally.recent)
        assert resumed.mark == resumed.base == tally.mark
        assert resumed.to_keep() == []
        resumed.add(games[cut:])
        assert told(Snapshot.of(ladder, resumed, (), ())) == whole


def test_a_run_reads_the_new_games_alone(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the cut-off of the last, in this process or in another."""
    read: list[int] = []

    def watched(
        connection: Connection, ladder_id: LadderId, *, after: int
    ) -> Sequence[FinishedGame]:
        read.append(after)
        return [*finished_games(connection, ladder_id, after=after)]

    monkeypatch.setattr(module, "finished_games", watched)
    cache = TallyCache()
    for process in (cache, cache, TallyCache()):
        league.finish_random(10, seed=len(read))
        assert refresh(league.database, league.ladder_id, cache=process)
    assert read == [0, 10, 20]


def test_new_anchors_leave_the_tallies(league: League) -> None:
    """They change what is computed from them alone; the states in them are for who plans."""
    league.finish_random(30)
    refresh(league.database, league.ladder_id)
    before = league.database.read(kept_tallies, league.ladder_id)
    league.set_anchors(2)
    refresh(league.database, league.ladder_id)
    after = league.database.read(kept_tallies, league.ladder_id)
    assert [replace(each, rated_with=None) for each in (*after, *before)] == [
        replace(each, rated_with=None) for each in (*before, *after)
    ]
    assert_published(league)
    kept = league.database.read(last_versions, league.ladder_id)
    assert versions_of(kept) == league.snapshot().tally.versions
    assert versions_of(b"") == {}


def test_a_long_count_tells_the_log(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nobody takes the first run of many games for a worker that hangs."""
    monkeypatch.setattr(module, "PROGRESS", 10)
    league.finish_random(25)
    with capture_logs() as logs:
        refresh(league.database, league.ladder_id)
    assert [line["games"] for line in logs if line["event"] == "counting a ladder"] == [10, 20]
    assert_published(league)


# -- whatever happens ---------------------------------------------------------------

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("play"), st.integers(1, 4)),
        st.tuples(st.just("void"), st.integers(1, 12)),
        st.tuples(st.just("anchors"), st.integers(0, 3)),
        st.tuples(st.just("day"), st.integers(-1, 2)),
        st.tuples(st.sampled_from(["job", "late job"]), st.integers(0, 2)),
    ),
    min_size=3,
    max_size=25,
)


@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_any_order_of_events_gives_the_run_of_all_games(
    steps: list[tuple[str, int]],
) -> None:
    """Games, voids, anchors, jobs of three workers, and jobs overtaken by what they don't know."""
    with (
        TemporaryDirectory() as folder,
        Database(f"sqlite:///{Path(folder) / 'm.db'}", Durability.PROCESS) as database,
    ):
        database.migrate()
        league = League(database, bots=4)
        world = _World(league)
        for number, (step, value) in enumerate(steps):
            world.take(step, value, seed=number)
        league.finish((0, 1, BLACK))
        refresh(database, league.ladder_id, cache=world.caches[0])
        assert_published(league)


class _World:
    """A league that is played in, and three workers that refresh it."""

    def __init__(self, league: League) -> None:
        self.caches = [TallyCache() for _ in range(3)]
        self._league = league
        self._day = 0
        self._played: list[int] = []
        self._games = 0

    def take(self, step: str, value: int, *, seed: int) -> None:
        league = self._league
        if step == "play":
            league.finish_random(value, seed, lines=3, day=self._day)
            self._played += range(self._games + 1, self._games + value + 1)
            self._games += value
        elif step == "void" and value <= len(self._played):
            league.void(self._played.pop(-value))
        elif step == "anchors":
            league.set_anchors(*range(value))
        elif step == "day":
            self._day += value
        elif step == "job":
            refresh(league.database, league.ladder_id, cache=self.caches[value])
        elif step == "late job":
            self._overtake(self.caches[value], self.caches[value - 1], seed)

    def _overtake(self, slow: TallyCache, fast: TallyCache, seed: int) -> None:
        """Have a job compute while a game ends, one is voided, and another worker publishes."""

        def rate_slowly(found: Snapshot, create_time: datetime) -> object:
            if not overtaken:
                overtaken.append(found)
                self.take("play", 1, seed=seed)
                self.take("void", 1 + seed % 3, seed=seed)
                if seed % 2:
                    refresh(self._league.database, self._league.ladder_id, cache=fast)
            return rate(found, create_time)

        overtaken: list[Snapshot] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("meijin.ladder.refresh.rate", rate_slowly)
            refresh(self._league.database, self._league.ladder_id, cache=slow)
