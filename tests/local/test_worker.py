import pytest

from meijin.local import worker
from meijin.local.sides import Side
from meijin.local.worker import games_at_once
from meijin.v1 import tournament_service_pb2 as pb

ROUND_ROBIN = pb.TOURNAMENT_FORMAT_ROUND_ROBIN
GAUNTLET = pb.TOURNAMENT_FORMAT_GAUNTLET
SPRT = pb.TOURNAMENT_FORMAT_SPRT


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "cores", lambda: list(range(8)))


@pytest.mark.parametrize(
    ("form", "asked", "rounds", "games"),
    [
        (ROUND_ROBIN, 0, 100, 8),
        (ROUND_ROBIN, 0, 2, 6),
        (GAUNTLET, 0, 2, 4),
        (ROUND_ROBIN, 10_000, 4, 12),
        (ROUND_ROBIN, 20, 100, 20),
        (SPRT, 0, 0, 8),
    ],
)
def test_games_at_once(
    form: pb.TournamentFormat.ValueType, asked: int, rounds: int, games: int
) -> None:
    """One a core, or as many as are asked for; never more than there are."""
    wanted = pb.TournamentSettings(
        format=form, bots=["ada", "bob", "eve"], rounds=rounds, max_games=asked
    )
    assert games_at_once(wanted, [Side("random")] * 3) == games


def test_a_test_has_as_many_games_as_it_may_have() -> None:
    test = pb.Sprt(most_games=4)
    wanted = pb.TournamentSettings(format=SPRT, bots=["ada", "bob"], sprt=test)
    assert games_at_once(wanted, [Side("random")] * 2) == 4


@pytest.mark.parametrize(("threads", "games"), [("3", 2), ("16", 1), ("all", 8)])
def test_threads_of_a_side_need_cores(threads: str, games: int) -> None:
    sides = [Side("random"), Side(command=["x"], options={"Threads": threads})]
    wanted = pb.TournamentSettings(format=ROUND_ROBIN, bots=["ada", "bob"], rounds=100)
    assert games_at_once(wanted, sides) == games
