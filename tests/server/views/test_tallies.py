"""Tallies of tournaments: counted on, and right whatever has become of the games."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Connection, func, select, update
from tests.query_plans import plans
from tests.store.league import League

from meijin.game import Result
from meijin.server.tournaments.formats.crosstable import PairScore
from meijin.server.views import tallies
from meijin.server.views.tallies import TournamentTally
from meijin.store import Database
from meijin.store.schema import BotId, BotVersion, Game, GameId, GameState, Tournament, TournamentId
from meijin.store.tournaments import get_tournament
from meijin.store.tournaments.match_counts import BegunGame, games_from

TOURNAMENT = TournamentId(1)
BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


@pytest.fixture
def league(tmp_path: Path) -> Iterator[League]:
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        yield League(database)


def recount(connection: Connection) -> None:
    """Have the tournament count games that were changed behind the journal's back."""
    for state, column in (
        (GameState.RUNNING, Tournament.running),
        (GameState.FINISHED, Tournament.finished),
    ):
        games = select(func.count()).where(Game.tournament_id == Tournament.id, Game.state == state)
        connection.execute(update(Tournament).values({column: games.scalar_subquery()}))


def count_on(league: League, before: TournamentTally) -> TournamentTally:
    def count(connection: Connection) -> TournamentTally:
        return before.at(connection, get_tournament(connection, TOURNAMENT))

    league.database.write(recount)
    return league.database.read(count)


@pytest.fixture
def read_games(monkeypatch: pytest.MonkeyPatch) -> list[GameId]:
    read: list[GameId] = []

    def noted(
        connection: Connection, tournament_id: TournamentId, first: GameId
    ) -> Iterator[Sequence[BegunGame]]:
        for games in games_from(connection, tournament_id, first):
            read.extend(game.id for game in games)
            yield games

    monkeypatch.setattr(tallies, "games_from", noted)
    return read


def test_faults_are_counted_by_bot(league: League) -> None:
    """A forfeit is its loser's, with either colour; a voided one is nobody's."""
    ada, bob, *_ = league.bots
    league.finish((0, 1, WHITE), (1, 0, BLACK), (0, 1, BLACK), (1, 0, WHITE), forfeit=True)
    league.finish((0, 1, WHITE))
    league.void(4)
    assert count_on(league, TournamentTally()).faults == {ada: 2, bob: 1}


def test_only_what_is_new_is_read(league: League, read_games: list[GameId]) -> None:
    """From the first game that was not over, in the order in which they were begun."""
    league.finish_random(50)
    tally = count_on(league, TournamentTally())
    assert len(read_games) == tally.games == 50
    read_games.clear()
    tally = count_on(league, tally)
    assert read_games == []
    league.finish((0, 1, BLACK))
    league.change_game(51, state=GameState.RUNNING)
    league.finish((1, 2, BLACK))
    tally = count_on(league, tally)
    assert (len(read_games), tally.games) == (2, 51)
    read_games.clear()
    league.change_game(51, state=GameState.FINISHED, end_sequence=53)
    tally = count_on(league, tally)
    assert (len(read_games), tally.games) == (2, 52)


@pytest.mark.parametrize("seed", range(5))
def test_a_tally_that_is_counted_on_is_that_of_all_games(league: League, seed: int) -> None:
    """Whatever ends, and whatever is voided between two looks."""
    rng = random.Random(seed)
    tally, games, finished = TournamentTally(), 0, set[int]()
    for _ in range(12):
        for _ in range(rng.randrange(3)):
            ended = rng.randrange(1, 8)
            league.finish_random(ended, seed=rng.randrange(1000))
            finished |= set(range(games + 1, games + ended + 1))
            games += ended
        if finished and rng.random() < 0.5:
            voided = rng.choice(sorted(finished))
            league.void(voided)
            finished.remove(voided)
        tally, anew = count_on(league, tally), count_on(league, TournamentTally())
        assert list(tally.crosstable) == list(anew.crosstable) == brute_force(league)
        assert tally.games == anew.games == len(finished)


def brute_force(league: League) -> list[PairScore]:
    counts: dict[tuple[BotId, BotId], Counter[Result]] = {}
    rows = league.database.read(
        lambda at: at.execute(select(BotVersion.id, BotVersion.bot_id)).all()
    )
    versions = {row.id: row.bot_id for row in rows}
    query = select(Game.black_id, Game.white_id, Game.result).where(
        Game.state == GameState.FINISHED
    )
    for black, white, result in league.database.read(lambda at: at.execute(query).all()):
        one, other = versions[black], versions[white]
        counts.setdefault((one, other), Counter())[result] += 1
        turned = {BLACK: WHITE, WHITE: BLACK, DRAW: DRAW}[result]
        counts.setdefault((other, one), Counter())[turned] += 1
    return [
        PairScore(*pair, score[BLACK], score[DRAW], score[WHITE])
        for pair, score in sorted(counts.items())
    ]


def test_a_tally_walks_its_own_games_alone(league: League) -> None:
    """By the index of a tournament's games, in their order: nothing is sorted."""
    league.finish_random(5)
    with plans(league.database) as found:
        league.database.read(lambda at: list(games_from(at, TOURNAMENT, GameId(3))))
    (plan,) = found
    assert "game_of_tournament (tournament_id=? AND id>?)" in plan
    assert "TEMP B-TREE" not in plan
