"""Ladders as they are shown."""

from pathlib import Path

from tests.store.league import League

from meijin.game import Result
from meijin.server.views.ladders import HeadToHead, head_to_head
from meijin.store import Database
from meijin.store.ladders.runs import Score
from meijin.store.schema import Base

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def test_head_to_head_counts_all_versions(tmp_path: Path) -> None:
    """From the bot's side, by its colour; neither repeats nor void games."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        Base.metadata.create_all(database.writer)
        league = League(database)
        league.finish((0, 1, BLACK), (0, 1, DRAW), (1, 0, BLACK), (0, 2, WHITE))
        league.renew(0, "2.0")
        league.renew(1, "2.0")
        league.finish((0, 1, BLACK), (0, 1, WHITE), (1, 0, WHITE), (1, 0, DRAW))
        league.finish((0, 1, DRAW), (0, 1, BLACK), line=(7,))
        league.void(9)
        one, other = (f"{league.name}-bot-{number}" for number in range(2))
        found = database.read(lambda connection: head_to_head(connection, league.name, one, other))
    assert found == HeadToHead(as_black=Score(3, 1, 1), as_white=Score(1, 1, 1), expectation=None)
