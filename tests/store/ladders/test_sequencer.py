"""Ended games are taken into their ladder's log, on SQLite and PostgreSQL."""

import random
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from meijin.game import Ending, Party, Result
from meijin.store.ladders import ladders, rated_games, sequencer
from meijin.store.ladders.log import finished_games
from meijin.store.ladders.sequencer import Portion, keep_portion, next_portion, sequence
from meijin.store.schema import Game, GameState, Ladder, LadderId

if TYPE_CHECKING:
    from tests.store.league import League

BLACK = Result.BLACK_WINS
LINE = (112, 113, 97)


@pytest.fixture
def served(any_league: "League") -> "League":
    """A league whose games end as those of a server: none is in the log."""
    any_league.are_games_sequenced = False
    return any_league


def logged(league: "League") -> dict[str, Any]:
    """What is stored of the log."""
    columns = (Ladder.sequenced, Ladder.revision, Ladder.games, Ladder.voided)
    query = select(*columns).where(Ladder.id == league.ladder_id)
    return dict(league.database.read(lambda at: at.execute(query).one()._mapping))


def marks(league: "League") -> list[bool]:
    """Which games are marked as repeats."""
    query = select(Game.is_repeat).where(Game.ladder_id == league.ladder_id).order_by(Game.id)
    return league.database.read(lambda at: list(at.scalars(query)))


def portion_of(league: "League") -> Portion:
    """The next one; there is one."""
    portion = league.database.read(lambda at: next_portion(at, league.ladder_id))
    assert portion is not None
    return portion


def keep(league: "League", portion: Portion) -> bool:
    """Keep a portion in a transaction."""
    return league.database.write(lambda to: keep_portion(to, portion))


def is_dirty(league: "League") -> bool:
    """Whether its job has something to do."""
    return league.database.read(lambda at: ladders.is_dirty(at, league.ladder_id))


def test_games_count_once_they_are_in_the_log(served: "League") -> None:
    """Before, they make the ladder dirty and nothing else."""
    assert not is_dirty(served)
    served.finish(*[(0, 1, BLACK)] * 3, line=LINE)
    assert is_dirty(served)
    assert served.database.read(ladders.dirty_ladders) == [served.ladder_id]
    assert logged(served) == {"sequenced": 0, "revision": 0, "games": 0, "voided": 0}
    assert marks(served) == [False] * 3
    sequence(served.database, served.ladder_id)
    assert logged(served) == {"sequenced": 3, "revision": 3, "games": 1, "voided": 0}
    assert marks(served) == [False, True, True]
    assert served.database.read(lambda at: next_portion(at, served.ladder_id)) is None


def test_the_log_is_read_up_to_its_end(served: "League") -> None:
    """A run knows no game that is not in it, though it has ended."""
    served.finish((0, 1, BLACK))
    sequence(served.database, served.ladder_id)
    served.finish((0, 1, BLACK))
    found = served.database.read(lambda at: [*finished_games(at, served.ladder_id, after=0)])
    assert [game.end_sequence for game in found] == [1]


def test_void_games_are_passed_over(served: "League") -> None:
    """They move the log on, since they have ended too, and count for nothing."""
    served.finish((0, 1, BLACK), (0, 1, BLACK))
    served.change_game(2, state=GameState.VOID, ending=Ending.VOID, at_fault=Party.SERVER)
    sequence(served.database, served.ladder_id)
    assert logged(served) == {"sequenced": 2, "revision": 1, "games": 1, "voided": 0}


@pytest.mark.parametrize(("games", "repeats"), [(2, 99), (99, 1), (1, 1)])
def test_portions_give_what_one_gives(
    served: "League", make_league: "type[League]", monkeypatch: Any, games: int, repeats: int
) -> None:
    """However small they are: repeats are looked for among all games before."""
    other = make_league(served.database, name="standard-15x15")
    monkeypatch.setattr(sequencer, "MOST_GAMES", games)
    monkeypatch.setattr(sequencer, "MOST_REPEATS", repeats)
    served.finish_random(30, lines=1)
    sequence(served.database, served.ladder_id)
    monkeypatch.undo()
    other.finish_random(30, lines=1)
    assert marks(served) == marks(other)
    assert any(marks(served))
    assert logged(served) == logged(other)


def test_a_portion_is_kept_once(served: "League") -> None:
    """Of two jobs that have looked at the same games one counts them."""
    served.finish(*[(0, 1, BLACK)] * 2, line=LINE)
    first, second = portion_of(served), portion_of(served)
    assert (keep(served, first), keep(served, second)) == (True, False)
    assert logged(served) == {"sequenced": 2, "revision": 2, "games": 1, "voided": 0}


def test_a_portion_is_not_kept_after_a_void(served: "League") -> None:
    """One of its games may be void now, or be the first of its kind."""
    served.finish(*[(0, 1, BLACK)] * 2, line=LINE)
    portion = portion_of(served)
    served.void(1)
    assert not keep(served, portion)
    assert marks(served) == [False, False]
    sequence(served.database, served.ladder_id)
    assert logged(served) == {"sequenced": 2, "revision": 2, "games": 1, "voided": 1}
    assert marks(served) == [False, False]


def test_voids_on_both_sides_of_the_logs_end(served: "League") -> None:
    """A game that is not in the log takes nothing from its counts, and has no heir yet."""
    served.finish(*[(0, 1, BLACK)] * 2, line=LINE)
    sequence(served.database, served.ladder_id)
    served.finish(*[(0, 1, BLACK)] * 2, line=LINE)
    served.void(3)
    assert logged(served) == {"sequenced": 2, "revision": 3, "games": 1, "voided": 1}
    served.void(1)
    assert logged(served) == {"sequenced": 2, "revision": 4, "games": 1, "voided": 2}
    served.void(2)
    assert logged(served) == {"sequenced": 2, "revision": 5, "games": 0, "voided": 3}
    sequence(served.database, served.ladder_id)
    assert logged(served) == {"sequenced": 4, "revision": 6, "games": 1, "voided": 3}
    assert marks(served) == [False] * 4


def test_an_unknown_ladder_has_no_portion(served: "League") -> None:
    """Its job tells of it where it looks whether the ladder is dirty."""
    assert served.database.read(lambda at: next_portion(at, LadderId(99))) is None


def test_results_since_a_run_leave_out_repeats_before_they_are_marked(served: "League") -> None:
    """Whoever pairs meanwhile takes no game twice."""
    served.finish((0, 1, BLACK), line=LINE)
    sequence(served.database, served.ladder_id)
    served.finish((0, 1, BLACK), (1, 0, BLACK), line=LINE)
    served.finish((0, 1, BLACK))
    found = served.database.read(
        lambda at: rated_games.results_since(at, served.ladder_id, 1, limit=9)
    )
    first, second = served.versions[:2]
    assert [game[:2] for game in found] == [(second, first), (first, second)]


def test_a_list_of_ladders_tells_of_ended_games(served: "League") -> None:
    """They are counted there and make the ladder outdated, so that a lost worker shows."""
    served.finish((0, 1, BLACK))
    sequence(served.database, served.ladder_id)
    served.finish((0, 1, BLACK), (0, 1, BLACK))
    summary = served.database.read(lambda at: ladders.summary(at, served.ladder_id))
    assert (summary.games, summary.is_current) == (3, False)
    (progress,) = served.database.read(lambda at: ladders.ladder_progress(at, 9))
    assert (progress.games, progress.run_games) == (3, 0)
    assert served.database.read(ladders.backlog).changes == 3


def test_void_games_make_no_ladder_outdated(served: "League", make_league: "type[League]") -> None:
    """They change nothing that is published; its job passes them over all the same."""
    other = make_league(served.database, name="freestyle-15x15-blitz")
    other.finish((0, 1, BLACK))
    served.finish((0, 1, BLACK))
    served.change_game(1, state=GameState.VOID, ending=Ending.VOID, at_fault=Party.SERVER)
    summary = served.database.read(lambda at: ladders.summary(at, served.ladder_id))
    assert (summary.games, summary.is_current) == (0, True)
    assert served.database.read(ladders.backlog).outdated == 1
    assert served.database.read(lambda at: ladders.get_ladder(at, "")) == other.ladder_id
    assert is_dirty(served)
    sequence(served.database, served.ladder_id)
    assert not is_dirty(served)


def test_games_that_end_are_found_by_the_variant_alone(
    served: "League", make_league: "type[League]"
) -> None:
    """A ladder has games from the end of its first, not from its first run."""
    make_league(served.database, name="freestyle-15x15-blitz")
    served.finish((0, 1, BLACK))
    found = served.database.read(lambda at: ladders.get_ladder(at, ""))
    assert found == served.ladder_id


def test_jobs_beside_each_other_count_every_game_once(served: "League") -> None:
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
    sequence(served.database, served.ladder_id)
    ended = len(marks(served))
    rated = served.snapshot().games
    found = logged(served)
    assert (found["sequenced"], found["games"], found["voided"]) == (ended, rated, voids)
    assert rated + sum(marks(served)) == ended - voids
    assert voids
