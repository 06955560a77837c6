"""What a ladder says of two bots with several versions each."""

from pathlib import Path

from tests.ladder.conftest import League

from meijin.game import Result
from meijin.server.views.comparison import compare_two
from meijin.store import Database
from meijin.store.schema import Base
from meijin.v1 import ladder_service_pb2 as pb

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def test_head_to_head_counts_all_versions(tmp_path: Path) -> None:
    """From the bot's side, by its colour; neither repeats nor what was taken back."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        Base.metadata.create_all(database.writer)
        league = League(database)
        league.finish((0, 1, BLACK), (0, 1, DRAW), (1, 0, BLACK), (0, 2, WHITE))
        league.renew(0, "2.0")
        league.renew(1, "2.0")
        league.finish((0, 1, BLACK), (0, 1, WHITE), (1, 0, WHITE), (1, 0, DRAW))
        league.finish((0, 1, DRAW), (0, 1, BLACK), line=(7,))
        league.void(9)
        bot, other = league.bots[:2]
        found = database.read(
            lambda connection: compare_two(connection, league.ladder_id, bot, other)
        )
    as_black, as_white = pb.Score(wins=3, draws=1, losses=1), pb.Score(wins=1, draws=1, losses=1)
    assert found == pb.GetHeadToHeadResponse(as_black=as_black, as_white=as_white)
