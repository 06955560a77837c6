from datetime import timedelta

from meijin.cli.classes.forecast import FEWEST_GAMES, USUAL_GAMES, Forecast
from meijin.v1 import tournament_service_pb2 as pb


def made_test(key: str, finished: int, *, is_over: bool = False) -> pb.Tournament:
    state = pb.TOURNAMENT_STATE_FINISHED if is_over else pb.TOURNAMENT_STATE_RUNNING
    settings = pb.TournamentSettings(sprt=pb.Sprt(most_games=100))
    return pb.Tournament(tournament_id=key, state=state, finished_games=finished, settings=settings)


def test_the_slowest_anchor_says_how_long_it_takes() -> None:
    """Games of an earlier run say nothing of the speed; tests that are over take no more."""
    forecast = Forecast(begun=100.0)
    begun = {
        "fast": [made_test("1", 10), made_test("2", 0)],
        "slow": [made_test("3", 0), made_test("4", 20, is_over=True)],
    }
    assert forecast.left(begun, 100.0) is None
    few = {**begun, "fast": [made_test("1", 20), made_test("2", 20)]}
    assert forecast.left(few, 110.0) is None
    later = {**few, "slow": [made_test("3", FEWEST_GAMES), *begun["slow"][1:]]}
    slow = (USUAL_GAMES - FEWEST_GAMES) * 10 / FEWEST_GAMES
    assert forecast.left(later, 110.0) == timedelta(seconds=slow)


def test_a_long_test_is_expected_to_go_to_its_end() -> None:
    forecast = Forecast(begun=0.0)
    forecast.left({"level 1": [made_test("1", 0)]}, 0.0)
    assert forecast.left({"level 1": [made_test("1", 50)]}, 100.0) == timedelta(seconds=100)
    over = {"level 1": [made_test("1", 60, is_over=True)]}
    assert forecast.left(over, 120.0) == timedelta(0)
