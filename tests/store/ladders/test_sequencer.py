"""Ended games are taken into their ladder's log, on SQLite and PostgreSQL."""

import random

import pytest
from tests.store.league import League
from tests.store.stored import stored

from meijin.game import Ending, Party, Result
from meijin.store.ladders import games, ladders, sequencer
from meijin.store.ladders.games import finished_games
from meijin.store.ladders.sequencer import Portion, keep_portion, next_portion
from meijin.store.schema import Game, GameState, Ladder, LadderId

BLACK = Result.BLACK_WINS
LINE = (112, 113, 97)


@pytest.fixture
def served(any_league: League) -> League:
    """A league whose games end as those of a server: none is in the log."""
    any_league.are_games_sequenced = False
    return any_league


def sequence(league: League) -> tuple[int, int, int, int]:
    """Take what has ended into the log; tell what is stored of it then."""
    sequencer.sequence(league.database, league.ladder_id)
    return logged(league)


def logged(league: League) -> tuple[int, int, int, int]:
    """Where the log ends, the ladder's revision, its games, and how many were voided."""
    columns = (Ladder.sequenced, Ladder.revision, Ladder.games, Ladder.voided)
    (found,) = stored(league.database, *columns, where=Ladder.id == league.ladder_id)
    end, revision, rated, voided = found
    return end, revision, rated, voided


def marks(league: League) -> list[bool]:
    return stored(league.database, Game.is_repeat, where=Game.ladder_id == league.ladder_id)


def portion_of(league: League) -> Portion:
    portion = league.database.read(next_portion, league.ladder_id)
    assert portion is not None
    return portion


def keep(league: League, portion: Portion) -> bool:
    return league.database.write(keep_portion, portion)


def is_dirty(league: League) -> bool:
    return league.database.read(ladders.is_dirty, league.ladder_id)


def test_games_count_once_they_are_in_the_log(served: League) -> None:
    """Before, they make the ladder dirty and nothing else; a run knows none of them."""
    assert not is_dirty(served)
    served.finish(*[(0, 1, BLACK)] * 3, line=LINE)
    assert is_dirty(served)
    assert served.database.read(ladders.dirty_ladders) == [served.ladder_id]
    assert (logged(served), marks(served)) == ((0, 0, 0, 0), [False] * 3)
    assert sequence(served) == (3, 3, 1, 0)
    assert marks(served) == [False, True, True]
    for unknown in (served.ladder_id, LadderId(99)):
        assert served.database.read(next_portion, unknown) is None
    served.finish((0, 1, BLACK))
    found = served.database.read(lambda at: [*finished_games(at, served.ladder_id, after=0)])
    assert [game.end_sequence for game in found] == [1, 2, 3]


@pytest.mark.parametrize(("games", "repeats"), [(2, 99), (99, 1), (1, 1)])
def test_portions_give_what_one_gives(
    served: League,
    monkeypatch: pytest.MonkeyPatch,
    games: int,
    repeats: int,
) -> None:
    """However small they are: repeats are looked for among all games before."""
    other = League(served.database, name="standard-15x15")
    monkeypatch.setattr(sequencer, "MOST_GAMES", games)
    monkeypatch.setattr(sequencer, "MOST_REPEATS", repeats)
    served.finish_random(30, lines=1)
    found = sequence(served)
    monkeypatch.undo()
    other.finish_random(30, lines=1)
    assert (found, marks(served)) == (logged(other), marks(other))
    assert any(marks(served))


def test_a_portion_is_kept_once(served: League) -> None:
    """Of two jobs that have looked at the same games one counts them."""
    served.finish(*[(0, 1, BLACK)] * 2, line=LINE)
    first, second = portion_of(served), portion_of(served)
    assert (keep(served, first), keep(served, second)) == (True, False)
    assert logged(served) == (2, 2, 1, 0)


def test_a_portion_is_not_kept_after_a_void(served: League) -> None:
    """One of its games may be void now, or be the first of its kind."""
    served.finish(*[(0, 1, BLACK)] * 2, line=LINE)
    portion = portion_of(served)
    served.void(1)
    assert not keep(served, portion)
    assert marks(served) == [False, False]
    assert sequence(served) == (2, 2, 1, 1)
    assert marks(served) == [False, False]


def test_voids_on_both_sides_of_the_logs_end(served: League) -> None:
    """A game that is not in the log takes nothing from its counts, and has no heir yet."""
    for _ in range(2):
        sequence(served)
        served.finish(*[(0, 1, BLACK)] * 2, line=LINE)
    seen = []
    for number in (3, 1, 2):
        served.void(number)
        seen.append(logged(served))
    assert seen == [(2, 3, 1, 1), (2, 4, 1, 2), (2, 5, 0, 3)]
    assert sequence(served) == (4, 6, 1, 3)
    assert marks(served) == [False] * 4


def test_results_since_a_run_leave_out_repeats_before_they_are_marked(served: League) -> None:
    """Whoever pairs meanwhile takes no game twice."""
    served.finish((0, 1, BLACK), line=LINE)
    sequence(served)
    served.finish((0, 1, BLACK), (1, 0, BLACK), line=LINE)
    served.finish((0, 1, BLACK))
    found = served.database.read(games.results_since, served.ladder_id, 1, limit=9)
    first, second = served.versions[:2]
    assert [game[:2] for game in found] == [(second, first), (first, second)]


def test_a_list_of_ladders_tells_of_ended_games(served: League) -> None:
    """They are counted there and make the ladder outdated, so that a lost worker shows.

    A ladder has games from the end of its first, not from its first run.
    """
    League(served.database, name="freestyle-15x15-blitz")
    served.finish((0, 1, BLACK))
    assert served.database.read(ladders.get_ladder, "") == served.ladder_id
    sequence(served)
    served.finish((0, 1, BLACK), (0, 1, BLACK))
    summary = served.database.read(ladders.summary, served.ladder_id)
    assert (summary.games, summary.run_games, summary.is_current) == (3, 0, False)
    assert served.database.read(ladders.backlog).changes == 3


def test_void_games_make_no_ladder_outdated(served: League) -> None:
    """They change nothing that is published; its job passes them over all the same."""
    other = League(served.database, name="freestyle-15x15-blitz")
    other.finish((0, 1, BLACK))
    served.finish((0, 1, BLACK))
    served.change_game(1, state=GameState.VOID, ending=Ending.VOID, at_fault=Party.SERVER)
    summary = served.database.read(ladders.summary, served.ladder_id)
    assert (summary.games, summary.is_current) == (0, True)
    assert served.database.read(ladders.backlog).outdated == 1
    assert served.database.read(ladders.get_ladder, "") == other.ladder_id
    assert is_dirty(served)
    assert sequence(served) == (1, 0, 0, 0)
    assert not is_dirty(served)


def test_jobs_beside_each_other_count_every_game_once(served: League) -> None:
    """Whatever they have looked at when the others keep what they have, and games are voided."""
    rng = random.Random(5)
    held: list[Portion] = []
    voids = 0
    for _ in range(40):
        served.finish_random(rng.randint(1, 3), seed=rng.randrange(99), lines=2)
        held.append(portion_of(served))
        if rng.random() < 0.5:
            keep(served, held.pop(rng.randrange(len(held))))
        if rng.random() < 0.1:
            served.void(2 * voids + 1)
            voids += 1
    end, _, rated, voided = sequence(served)
    repeats = sum(marks(served))
    assert (end, rated, voided) == (len(marks(served)), served.snapshot().tally.games, voids)
    assert rated + repeats == end - voids
    assert voids
