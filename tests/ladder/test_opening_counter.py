"""Finished games, counted by the positions of their first moves."""

from __future__ import annotations

import random
import threading
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Connection, event, func, select
from tests.ladder.counted import count_openings
from tests.store.made_up import publish, run_of

from meijin.game import GOMOKU, Result, encode_moves
from meijin.game.board.canonical_position import canonical_position
from meijin.game.board.symmetry import symmetries
from meijin.ladder import opening_counter
from meijin.ladder.opening_counter import OpeningCounter
from meijin.ladder.opening_moves import count_moves
from meijin.store import Database
from meijin.store.openings.counting import forget_counts
from meijin.store.openings.explored import counted_games, moves_in
from meijin.store.openings.games_to_count import DEPTH
from meijin.store.schema import (
    GAME_ENDED,
    Game,
    GameState,
    OpeningGame,
    OpeningMove,
    OpeningRecheck,
    StrengthBand,
)

if TYPE_CHECKING:
    from tests.store.league import League

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW
Counts = Counter[tuple[int, int, Result]]
"""Games by the key of a position, the canonical cell of a move in it, and the result."""


def some_lines(games: int, seed: int) -> list[list[int]]:
    """Lines of moves near a corner, of any length; many share positions, mirror images too."""
    rng = random.Random(seed)
    cells = [0, 1, 15, 16, 224]
    lines = []
    for _ in range(games):
        image = rng.choice(symmetries(GOMOKU))
        rest = rng.sample(range(30, 200), rng.randrange(11))
        start = rng.sample(cells, rng.randrange(1, len(cells)))
        lines.append([image[cell] for cell in (*start, *rest)])
    return lines


def finish(league: League, lines: list[list[int]]) -> None:
    """Finish a game of each line."""
    for place, line in enumerate(lines):
        league.finish((place % 2, 2, (BLACK, WHITE, DRAW)[place % 3]), line=line)


def kept(database: Database) -> Counts:
    """The counts as they are kept, whatever the bands."""

    def read(connection: Connection) -> Counts:
        found: Counts = Counter()
        rows = connection.execute(select(*OpeningMove.__table__.c))
        for row in rows:
            assert row.black_wins + row.draws + row.white_wins > 0
            for result, games in (
                (BLACK, row.black_wins),
                (DRAW, row.draws),
                (WHITE, row.white_wins),
            ):
                found[row.position, row.cell, result] += games
        return +found

    return database.read(read)


def expected(database: Database) -> Counts:
    """The counts of all games that count, made one by one."""

    def read(connection: Connection) -> Counts:
        found: Counts = Counter()
        query = select(Game.moves, Game.result).where(
            Game.state == GameState.FINISHED, Game.is_repeat.is_(False)
        )
        for data, result in connection.execute(query):
            cells = [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2)]
            for ply in range(min(len(cells), DEPTH) + 1):
                position = canonical_position(cells[:ply], GOMOKU)
                then = cells[ply : ply + 1]
                cell = position.canonical_cell(then[0]) if then else GAME_ENDED
                found[position.key, cell, result] += 1
        return found

    return database.read(read)


def assert_exact(league: League) -> None:
    """The counts are those of the games, and nothing waits."""
    assert kept(league.database) == expected(league.database)
    games = select(func.count()).select_from(OpeningGame)
    waiting = select(func.count()).select_from(OpeningRecheck)

    def numbers(connection: Connection) -> tuple[int, int | None, int | None]:
        return counted_games(connection), connection.scalar(games), connection.scalar(waiting)

    counted, rows, rechecks = league.database.read(numbers)
    assert (counted, rechecks) == (rows, 0)


def test_games_are_counted_by_canonical_positions(any_league: League) -> None:
    """As one by one, whatever the order of stones and the mirror image; again changes nothing."""
    finish(any_league, some_lines(60, seed=1))
    count_openings(any_league.database)
    assert_exact(any_league)
    before = kept(any_league.database)
    count_openings(any_league.database)
    assert kept(any_league.database) == before


def test_games_that_end_later_are_added(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """In batches, of which one is a cursor."""
    monkeypatch.setattr(opening_counter, "BATCH", 7)
    monkeypatch.setattr(opening_counter, "LEAST_BATCH", 1)
    for seed in (1, 2):
        finish(league, some_lines(20, seed=seed))
        count_openings(league.database)
        assert_exact(league)


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
    count_openings(any_league.database)
    assert_exact(any_league)
    assert any_league.database.read(counted_games) == 1


def test_a_void_takes_a_game_away_and_counts_its_repeat(any_league: League) -> None:
    """However often, and whether it was counted before or not."""
    for _ in range(3):
        any_league.finish((0, 1, BLACK), line=[112, 113, 114])
    any_league.finish((0, 1, WHITE), line=[112, 113, 115])
    count_openings(any_league.database)
    for number, games in ((1, 2), (2, 2), (4, 1), (3, 0)):
        any_league.void(number)
        count_openings(any_league.database)
        assert_exact(any_league)
        assert any_league.database.read(counted_games) == games
    assert not kept(any_league.database)


def test_a_void_before_the_count(league: League) -> None:
    """Its recheck finds nothing to take away."""
    league.finish((0, 1, BLACK), line=[112])
    league.finish((0, 1, BLACK), line=[112])
    league.void(1)
    count_openings(league.database)
    assert_exact(league)
    assert league.database.read(counted_games) == 1


def test_a_void_in_the_midst_of_a_batch(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games that were read before it are read again, though another worker has seen to it."""
    finish(league, some_lines(5, seed=3))
    voids = [2]
    stop = threading.Event()
    stop.set()

    def void_meanwhile(games: object) -> object:
        while voids:
            league.void(voids.pop())
            OpeningCounter(league.database, stop=stop).count()  # voids alone
        return count_moves(games)  # type: ignore[arg-type]

    monkeypatch.setattr(opening_counter, "count_moves", void_meanwhile)
    count_openings(league.database)
    count_openings(league.database)
    assert_exact(league)
    assert league.database.read(counted_games) == 4


def test_two_counters_count_once(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """When another worker has counted a batch meanwhile, this one's is dropped."""
    finish(league, some_lines(20, seed=4))
    others = [OpeningCounter(league.database, rest_factor=0)]

    def count_meanwhile(games: object) -> object:
        while others:
            others.pop().count()
        return count_moves(games)  # type: ignore[arg-type]

    monkeypatch.setattr(opening_counter, "count_moves", count_meanwhile)
    assert OpeningCounter(league.database, rest_factor=0).count()
    assert_exact(league)


def test_a_death_between_two_statements_leaves_nothing(league: League) -> None:
    """Cursor and counts are committed together."""
    finish(league, some_lines(20, seed=5))

    def fail(_conn: object, _cursor: object, statement: str, *_rest: object) -> None:
        if statement.startswith("INSERT INTO opening_move"):
            raise KeyboardInterrupt

    event.listen(league.database.writer, "before_cursor_execute", fail)
    with pytest.raises(KeyboardInterrupt):
        OpeningCounter(league.database, rest_factor=0).count()
    event.remove(league.database.writer, "before_cursor_execute", fail)
    assert not kept(league.database)
    count_openings(league.database)
    assert_exact(league)


def test_counts_can_be_made_anew(any_league: League) -> None:
    """From nothing to the same."""
    finish(any_league, some_lines(20, seed=6))
    count_openings(any_league.database)
    before = kept(any_league.database)
    any_league.void(1)
    any_league.database.write(forget_counts)
    assert not kept(any_league.database)
    count_openings(any_league.database)
    assert_exact(any_league)
    assert kept(any_league.database) != before


def test_games_of_no_ladder_count(league: League) -> None:
    """With a cursor of their own."""
    league.finish((0, 1, BLACK), line=[112])
    league.finish((0, 1, BLACK), line=[113])
    league.change_game(1, ladder_id=None)
    count_openings(league.database)
    assert_exact(league)
    assert league.database.read(counted_games) == 2
    league.void(1)
    count_openings(league.database)
    assert_exact(league)


def test_bands_follow_the_published_run(league: League) -> None:
    """Of the time of the count: the mean of the two, and none before there is one."""

    def bands(cell: int) -> dict[StrengthBand, int]:
        position = canonical_position([], GOMOKU)
        wanted = position.canonical_cell(cell)
        rows = league.database.read(lambda connection: moves_in(connection, position.key))
        return {row.band: row.black_wins for row in rows if row.cell == wanted}

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
    rename = "ALTER TABLE {} RENAME TO {}"
    for names in (("opening_move", "away"), ("away", "opening_move")):
        statement = rename.format(*names)
        league.database.write(partial(Connection.exec_driver_sql, statement=statement))
        assert not OpeningCounter(league.database, rest_factor=0).sweep()
    assert_exact(league)
