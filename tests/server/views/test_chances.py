"""Maps of chances: fitted to games, made up or stored, and kept for a while."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.store.league import BLACK, DRAW, WHITE, League

from meijin.game.records.chances import ChanceMap
from meijin.server.views import chances
from meijin.server.views.chances import ChanceMaps, chance_map, fit_chances
from meijin.store import Database
from meijin.store.games import ToldScores, get_game
from meijin.store.schema import GameId, Record

if TYPE_CHECKING:
    from meijin.server.storage import Storage


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as opened:
        Record.metadata.create_all(opened.writer)
        yield opened


def played(truth: ChanceMap, games: int, strength: float = 0.0) -> list[ToldScores]:
    """Games whose scores are worth what a map says, and more for a bot that is the stronger."""
    rng = Random(1)
    actual = replace(truth, offset=truth.offset + strength)
    even = -truth.offset * truth.scale
    scores = [round(rng.gauss(even, 2 * truth.scale)) for _ in range(games)]
    return [ToldScores(float(rng.random() < actual.chance(each)), [each]) for each in scores]


@pytest.mark.parametrize("truth", [ChanceMap(75, 0.5), ChanceMap(3000, -1), ChanceMap(20, -2.5)])
@pytest.mark.parametrize("strength", [0, 1, -1])
def test_the_scale_of_an_engine_is_found(truth: ChanceMap, strength: float) -> None:
    """Whatever its unit and its score of an even position are, and however strong it is."""
    found = fit_chances(played(truth, 2000, strength))
    assert found.scale == pytest.approx(truth.scale, rel=0.25)
    assert found.chance(round(-truth.offset * truth.scale)) == pytest.approx(0.5, abs=0.13)
    assert found.games == 2000


def test_without_scores_the_map_is_the_common_one() -> None:
    """And proven scores say nothing of the others."""
    assert fit_chances([]) == fit_chances([ToldScores(1, [29_999])]) == ChanceMap()


def test_few_games_make_no_certainty() -> None:
    """Three that were won do not make the usual score of the bot a won one."""
    found = fit_chances([ToldScores(1, [50, 80, 120])] * 3)
    assert 0.6 < found.chance(80) < 0.95
    assert found.chance(-80) < 0.5


@pytest.mark.parametrize(
    "games",
    [
        [ToldScores(0, [500]), ToldScores(1, [-500])] * 100,
        [ToldScores(1, [0])] * 200,
        [ToldScores(won, [2**31 - 1, 1, -(2**31)]) for won in (0, 1)] * 100,
        [ToldScores(0, [10**9] + [1] * 50)] * 200,
    ],
    ids=["the wrong way", "nothing but 0", "the largest", "lost when sure"],
)
def test_any_scores_have_a_map(games: list[ToldScores]) -> None:
    """One with a scale, on which more is better."""
    found = fit_chances(games)
    assert 0 < found.scale < math.inf
    assert math.isfinite(found.offset)


def test_an_engine_that_writes_large_scores_for_wins_keeps_its_scale() -> None:
    """Some of them were wrong."""
    usual = played(ChanceMap(75, 0), 400)
    wrong = [ToldScores(0, [10_000])] * 2 + [ToldScores(1, [10_000])] * 20
    assert fit_chances(usual + wrong).scale == pytest.approx(fit_chances(usual).scale, rel=0.3)


def test_a_version_is_known_by_its_own_side(database: Database) -> None:
    """Its points with either colour, and what it said itself; not of games that were forfeited."""
    league = League(database, bots=2)
    league.finish((0, 1, BLACK), (1, 0, DRAW))
    league.finish((0, 1, WHITE), forfeit=True)
    for number in (1, 2, 3):
        said = {"0": {"score": 10}, "1": {"score": 20}, "2": {"depth": 3}, "3": {"score": None}}
        league.change_game(number, analysis=said)
    found = database.read(chance_map, league.versions[0])
    assert found == fit_chances([ToldScores(1, [10]), ToldScores(0.5, [20])])
    assert database.read(chance_map, league.versions[1]).games == 2


def test_no_more_games_are_read_than_say_enough(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bots may say much of every move."""
    monkeypatch.setattr(chances, "MOST_SCORES", 17)
    league = League(database, bots=2)
    league.finish(*[(0, 1, BLACK)] * 50)
    for number in range(1, 51):
        league.change_game(number, analysis={"0": {"score": number}})
    assert database.read(chance_map, league.versions[0]).games == 2 * chances.GAMES_AT_ONCE


class CountedStorage:
    """Reads a database, and notes what was asked."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.asked: list[Any] = []

    async def read(self, query: Any, *args: Any) -> Any:
        self.asked.append(query)
        return self._database.read(query, *args)


async def test_maps_are_kept_for_a_while(database: Database) -> None:
    """Then they are fitted anew."""
    league = League(database, bots=2)
    league.finish((0, 1, BLACK))
    game_id = GameId(league.ladder_id * 1_000_000 + 1)
    storage, now = CountedStorage(database), [1000.0]
    maps = ChanceMaps(cast("Storage", storage), lambda: now[0])
    for later in (0, chances.MAX_AGE.total_seconds(), 1):
        now[0] += later
        assert await maps.of_game(game_id) == (ChanceMap(), ChanceMap())
    looked = [get_game, chance_map, chance_map]
    assert storage.asked == [*looked, get_game, *looked]
