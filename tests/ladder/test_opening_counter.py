"""Finished games, counted by the positions of their first moves."""

import random
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, event
from tests.ladder.counted import count_openings
from tests.store.league import BLACK, DRAW, WHITE, League
from tests.store.made_up import publish, run_of
from tests.store.stored import stored

from meijin.game import GOMOKU, Result, encode_moves
from meijin.game.board.symmetry import canonical_position, symmetries
from meijin.ladder import opening_counter
from meijin.ladder.opening_counter import OpeningCounter, count_moves
from meijin.store import Database
from meijin.store.ladders.openings import DEPTH, counted_games, forget_counts, moves_in
from meijin.store.schema import (
    GAME_ENDED,
    Game,
    GameState,
    OpeningGame,
    OpeningMove,
    OpeningRecheck,
    StrengthBand,
)

Counts = Counter[tuple[int, int, Result]]
"""Games by the key of a position, the canonical cell of a move in it, and the result."""


def finish_some(league: League, games: int, seed: int) -> None:
    """Finish games of lines near a corner, of any length; many share positions, and mirrored ones."""
    rng = random.Random(seed)
    cells = [0, 1, 15, 16, 224]
    for place in range(games):
        image = rng.choice(symmetries(GOMOKU))
        rest = rng.sample(range(30, 200), rng.randrange(11))
        start = rng.sample(cells, rng.randrange(1, len(cells)))
        line = [image[cell] for cell in (*start, *rest)]
        league.finish((place % 2, 2, (BLACK, WHITE, DRAW)[place % 3]), line=line)


def kept(database: Database) -> Counts:
    """The counts as they are kept, whatever the bands."""
    found: Counts = Counter()
    results = (OpeningMove.black_wins, OpeningMove.draws, OpeningMove.white_wins)
    for position, cell, *games in stored(
        database, OpeningMove.position, OpeningMove.cell, *results
    ):
        assert sum(games) > 0
        for result, count in zip((BLACK, DRAW, WHITE), games, strict=True):
            found[position, cell, result] += count
    return +found


def expected(database: Database) -> Counts:
    """The counts of all games that count, made one by one."""
    found: Counts = Counter()
    counts = (Game.state == GameState.FINISHED) & Game.is_repeat.is_(False)
    for data, result in stored(database, Game.moves, Game.result, where=counts):
        cells = [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2)]
        for ply in range(min(len(cells), DEPTH) + 1):
            position = canonical_position(cells[:ply], GOMOKU)
            then = cells[ply : ply + 1]
            cell = position.canonical_cell(then[0]) if then else GAME_ENDED
            found[position.key, cell, result] += 1
    return found


def check_count(league: League, games: int | None = None) -> None:
    """Count; see that the counts are those of the games, of so many, and that nothing waits."""
    count_openings(league.database)
    assert kept(league.database) == expected(league.database)
    counted = league.database.read(counted_games)
    assert len(stored(league.database, OpeningGame.game_id)) == counted
    assert stored(league.database, OpeningRecheck.id) == []
    assert games in {None, counted}


def test_games_are_counted_by_canonical_positions(any_league: League) -> None:
    """As one by one, whatever the order of stones and the mirror image; again changes nothing.

    So they are from nothing, by the games that are there then.
    """
    finish_some(any_league, 60, seed=1)
    check_count(any_league)
    before = kept(any_league.database)
    check_count(any_league)
    assert kept(any_league.database) == before
    any_league.void(1)
    any_league.database.write(forget_counts)
    assert not kept(any_league.database)
    check_count(any_league)
    assert kept(any_league.database) != before


def test_games_that_end_later_are_added(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """In batches, of which one is a cursor; games of no ladder have one of their own."""
    monkeypatch.setattr(opening_counter, "BATCH", 7)
    monkeypatch.setattr(opening_counter, "LEAST_BATCH", 1)
    for seed in (1, 2):
        finish_some(league, 20, seed=seed)
        league.change_game(20 * seed, ladder_id=None)
        check_count(league)
    league.void(20)
    check_count(league, 39)


def test_slow_transactions_become_smaller(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """And larger again, within bounds, so that moves wait for none of them long."""
    monkeypatch.setattr(opening_counter, "BATCH", 16)
    monkeypatch.setattr(opening_counter, "LEAST_BATCH", 3)
    now, step = 0.0, 1.0

    def clock() -> float:
        nonlocal now
        now += step
        return now

    counter = OpeningCounter(league.database, clock=clock, rest_factor=0)
    sizes = []
    for slow in (True,) * 5 + (False,) * 5:
        step = 1.0 if slow else 0.001
        league.finish_random(opening_counter.BATCH, seed=1)
        before = league.database.read(counted_games)
        counter.count()
        sizes.append(league.database.read(counted_games) - before)
    assert sizes == [16, 8, 4, 3, 3, 3, 6, 12, 16, 16]


def test_repeats_and_void_games_do_not_count(any_league: League) -> None:
    """Nor do running ones; the cursor is past them."""
    for _ in range(3):
        any_league.finish((0, 1, BLACK), line=[112, 113])
    any_league.add_unrated(GameState.VOID)
    any_league.add_unrated(GameState.RUNNING)
    check_count(any_league, 1)


@pytest.mark.parametrize("is_counted", [False, True])
def test_a_void_takes_a_game_away_and_counts_its_repeat(
    any_league: League, *, is_counted: bool
) -> None:
    """However often, and whether it was counted before or not."""
    for _ in range(3):
        any_league.finish((0, 1, BLACK), line=[112, 113, 114])
    any_league.finish((0, 1, WHITE), line=[112, 113, 115])
    if is_counted:
        check_count(any_league, 2)
    for number, games in ((1, 2), (2, 2), (4, 1), (3, 0)):
        any_league.void(number)
        check_count(any_league, games)
    assert not kept(any_league.database)


def test_a_void_in_the_midst_of_a_count_is_seen_to(
    any_league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The game was read before; SQLite has the void wait, and PostgreSQL has the recheck do so."""
    finish_some(any_league, 5, seed=3)
    with ThreadPoolExecutor(1) as pool:
        voids: list[Future[None]] = []

        def void_meanwhile(games: object) -> object:
            if not voids:
                voids.append(pool.submit(any_league.void, 2))
                if not any_league.database.is_sqlite:
                    voids[0].result(20)
            return count_moves(games)  # type: ignore[arg-type]

        monkeypatch.setattr(opening_counter, "count_moves", void_meanwhile)
        OpeningCounter(any_league.database, rest_factor=0).count()
        voids[0].result(20)
    check_count(any_league, 4)


def test_counters_beside_each_other_count_once(any_league: League) -> None:
    """Whoever has the cursor counts, and the others wait for it."""
    finish_some(any_league, 40, seed=4)
    for number in (1, 2, 3):
        any_league.void(number)
    counters = [OpeningCounter(any_league.database, rest_factor=0) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(OpeningCounter.count, counters * 2))
    check_count(any_league)


def test_a_death_between_two_statements_leaves_nothing(league: League) -> None:
    """Cursor and counts are committed together."""
    finish_some(league, 20, seed=5)

    def fail(_conn: object, _cursor: object, statement: str, *_rest: object) -> None:
        if statement.startswith("INSERT INTO opening_move"):
            raise KeyboardInterrupt

    event.listen(league.database.writer, "before_cursor_execute", fail)
    with pytest.raises(KeyboardInterrupt):
        OpeningCounter(league.database, rest_factor=0).count()
    event.remove(league.database.writer, "before_cursor_execute", fail)
    assert not kept(league.database)
    check_count(league)


def test_bands_follow_the_published_run(league: League) -> None:
    """Of the time of the count: the mean of the two, and none before there is one."""

    def bands(cell: int) -> dict[StrengthBand, int]:
        position = canonical_position([], GOMOKU)
        wanted = position.canonical_cell(cell)
        rows = league.database.read(moves_in, position.key)
        return {StrengthBand(row.band): row.black_wins for row in rows if row.cell == wanted}

    league.finish((0, 1, BLACK), line=[112])
    count_openings(league.database)
    for revision, elo in enumerate((1150.0, 1205.0, 1402.5, 1995.0), start=1):
        publish(league, run_of(league, revision, elo=elo))
        league.finish((0, 1, BLACK), line=[112, revision])
        count_openings(league.database)
    assert bands(112) == {
        StrengthBand.UNRATED: 1,
        StrengthBand.BELOW_1200: 1,
        StrengthBand.FROM_1200: 1,
        StrengthBand.FROM_1400: 1,
        StrengthBand.FROM_1800: 1,
    }
    league.void(2)
    count_openings(league.database)
    assert StrengthBand.BELOW_1200 not in bands(112)


def test_a_cell_off_the_board_ends_the_line(league: League) -> None:
    """Of a game that was stored wrong: what is before it counts."""
    league.finish((0, 1, BLACK), line=[112])
    league.change_game(1, moves=encode_moves([112, 500, 3]))
    count_openings(league.database)
    empty = canonical_position([], GOMOKU)
    after = canonical_position([112], GOMOKU)
    assert kept(league.database) == {
        (empty.key, 112, BLACK): 1,
        (after.key, GAME_ENDED, BLACK): 1,
    }


def test_a_failure_ends_no_worker(league: League) -> None:
    """Neither the database's nor any other; the next sweep goes on."""
    league.finish((0, 1, BLACK), line=[112])
    for old, new in (("opening_move", "away"), ("away", "opening_move")):
        rename = f"ALTER TABLE {old} RENAME TO {new}"
        league.database.write(Connection.exec_driver_sql, statement=rename)
        assert not OpeningCounter(league.database, rest_factor=0).sweep()
    check_count(league, 1)
