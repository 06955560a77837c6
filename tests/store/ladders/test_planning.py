"""What the games of a continuous ladder are planned from."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import update
from tests.query_plans import plans
from tests.store.endings import play

from meijin.game import Result
from meijin.store import Database
from meijin.store.bots import EngineRow, bot_version
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.ladders.planning import (
    ladder_state,
    planned_games,
    published_run,
    unplayed_games,
)
from meijin.store.schema import EntryId, Game, LadderId, TournamentId

if TYPE_CHECKING:
    from tests.store.conftest import Planner, Scene

BLACK, DRAW, NONE = Result.BLACK_WINS, Result.DRAW, Result.NONE


def test_a_game_is_unplayed_until_it_has_a_result(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """Neither a void game nor one that runs is one."""
    play(database, scene, {1: BLACK, 2: NONE})
    entry = JournalEntry(EntryId(2))
    entry.starts = [scene.start(2, 3)]
    database.write(lambda to: commit_entry(to, entry))
    key = scene.tournament_id
    assert database.read(lambda at: planned_games(at, key)) == Counter({scene.bots: 4})
    assert database.read(lambda at: unplayed_games(at, key)) == Counter({scene.bots: 3})
    assert planner.get(key).finished == 1


def test_repeats_of_older_versions_are_forgotten(database: Database, scene: Scene) -> None:
    """A new version may play other games."""
    play(database, scene, {1: BLACK, 2: DRAW, 3: BLACK, 4: DRAW})
    change = update(Game).where(Game.id.in_([3, 4])).values(is_repeat=True)
    database.write(lambda to: to.execute(change))

    def repeats() -> Counter[tuple[int, int]]:
        state = database.read(lambda at: ladder_state(at, scene.ladder_id, scene.tournament_id))
        return Counter(state.repeats)

    assert repeats() == Counter({scene.bots: 2})
    engine = EngineRow("2.0", "another digest")
    database.write(lambda to: bot_version(to, scene.bots[1], engine, scene.now))
    assert repeats() == Counter()


def test_no_query_looks_at_every_game(sqlite_url: str) -> None:
    """A ladder that plays day and night has millions, and is looked at for every run."""
    with Database(sqlite_url) as database:
        database.migrate()
        ladder = (
            "INSERT INTO ladder (id, name, variant, revision, run_revision, voided, games)"
            " VALUES (1, 'x', 'freestyle 15x15', 0, 0, 0, 0)"
        )
        database.write(lambda to: to.exec_driver_sql(ladder))
        with plans(database) as found:
            database.read(lambda at: ladder_state(at, LadderId(1), TournamentId(1)))
            database.read(lambda at: published_run(at, LadderId(1)))
            for query in (planned_games, unplayed_games):
                database.read(partial(query, tournament_id=TournamentId(1)))
    assert len([plan for plan in found if "game" in plan]) == 4
    assert any("SEARCH day_tally" in plan for plan in found)
    assert not any("SCAN game" in plan for plan in found)
