"""What the games of a continuous ladder are planned from."""

from collections import Counter

from sqlalchemy import update
from tests.store.conftest import Planner, Scene
from tests.store.endings import play

from meijin.game import Result
from meijin.store import Database
from meijin.store.access.versions import EngineRow, arrive
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.ladders.planning import (
    ladder_state,
    planned_games,
    unplayed_games,
)
from meijin.store.schema import EntryId, Game

BLACK, DRAW, NONE = Result.BLACK_WINS, Result.DRAW, Result.NONE


def test_a_game_is_unplayed_until_it_has_a_result(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """Neither a void game nor one that runs is one."""
    play(database, scene, {1: BLACK, 2: NONE})
    entry = JournalEntry(EntryId(2))
    entry.starts = [scene.start(2, 3)]
    database.write(commit_entry, entry)
    key = scene.tournament_id
    assert database.read(planned_games, key) == Counter({scene.bots: 4})
    assert database.read(unplayed_games, key) == Counter({scene.bots: 3})
    assert planner.get(key).finished == 1


def test_repeats_of_older_versions_are_forgotten(database: Database, scene: Scene) -> None:
    """A new version may play other games."""
    play(database, scene, {1: BLACK, 2: DRAW, 3: BLACK, 4: DRAW})
    change = update(Game).where(Game.id.in_([3, 4])).values(is_repeat=True)
    database.write(lambda to: to.execute(change))

    def repeats() -> Counter[tuple[int, int]]:
        state = database.read(ladder_state, scene.ladder_id, scene.tournament_id)
        return Counter(state.repeats)

    assert repeats() == Counter({scene.bots: 2})
    engine = EngineRow("2.0", "another digest")
    database.write(arrive, scene.bots[1], engine, scene.now)
    assert repeats() == Counter()
