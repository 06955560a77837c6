from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from meijin.cli.tournament import follow as module
from meijin.cli.tournament.follow import (
    RECONNECT_TIMEOUT,
    USUAL_VIEW,
    Rating,
    View,
    follow,
    order_line,
)
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb

HOUR = 3600.0
LIMIT = RECONNECT_TIMEOUT.total_seconds()
Fact = pb.WatchTournamentResponse
Watch = Callable[[pb.WatchTournamentRequest], Iterator[Fact]]


class Clock:
    """What stands in for `time`: it goes on when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


class LostError(grpc.RpcError, grpc.Call):  # type: ignore[misc]  # as gRPC's own errors
    """A stream that has ended with a status."""

    def __init__(self, status: grpc.StatusCode) -> None:
        self._status = status

    def code(self) -> grpc.StatusCode:
        return self._status


def lost(status: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE) -> grpc.RpcError:
    return LostError(status)  # type: ignore[abstract]  # of a call the status alone is read


def fact(state: pb.TournamentState.ValueType, **fields: Any) -> Fact:
    return Fact(tournament=pb.Tournament(tournament_id="7", state=state, **fields))


RUNNING, FINISHED = map(fact, (pb.TOURNAMENT_STATE_RUNNING, pb.TOURNAMENT_STATE_FINISHED))


def ended(key: str, culprit: game_pb2.Party.ValueType = game_pb2.PARTY_UNSPECIFIED) -> Fact:
    ending = game_pb2.ENDING_CRASH if culprit else game_pb2.ENDING_FIVE
    outcome = game_pb2.Outcome(winner=game_pb2.COLOR_WHITE, ending=ending, at_fault=culprit)
    state = game_pb2.GAME_STATE_FINISHED
    game = game_pb2.Game(game_id=key, black="ada", white="bob", state=state, outcome=outcome)
    return Fact(game_ended=game)


def followed(watch: Watch, view: View = USUAL_VIEW) -> None:
    """Follow a tournament whose streams are these, to its end."""

    def call(method: Any, request: object) -> Any:
        return method(request)

    stubs = SimpleNamespace(WatchTournament=watch, GetTournament=lambda _: None)
    connection: Any = SimpleNamespace(tournaments=stubs, ask=call, watch=call)
    follow(connection, pb.Tournament(tournament_id="7"), view)


def server(clock: Clock, lives: list[float], downtime: float) -> Watch:
    """Streams that are lost after a fact, at hours of their own, and a tournament that ends."""
    returns_at = 0.0

    def watch(_request: object) -> Iterator[Fact]:
        nonlocal returns_at
        if clock.now < returns_at:
            raise lost()
        yield RUNNING
        if lives:
            clock.sleep(lives.pop(0))
            returns_at = clock.now + downtime
            raise lost()
        yield FINISHED

    return watch


@pytest.mark.parametrize("lives", [[], [HOUR], [HOUR, HOUR], [HOUR, 0.0, 0.0]])
def test_a_server_may_restart_at_any_time(clock: Clock, lives: list[float]) -> None:
    """It has its time to return from when it was lost, and from every loss anew."""
    downtime = 0.8 * LIMIT
    followed(server(clock, list(lives), downtime))
    assert clock.now >= sum(lives) + len(lives) * downtime


@pytest.mark.parametrize("life", [0.0, HOUR])
def test_a_server_that_stays_away_is_given_up(clock: Clock, life: float) -> None:
    with pytest.raises(grpc.RpcError):
        followed(server(clock, [life], HOUR))
    assert LIMIT <= clock.now - life <= LIMIT + 2


def test_another_failure_is_not_waited_for(clock: Clock) -> None:
    def fail(_request: object) -> Iterator[Fact]:
        raise lost(grpc.StatusCode.NOT_FOUND)

    with pytest.raises(grpc.RpcError):
        followed(fail)
    assert clock.now == 0


def test_what_others_have_written_is_shown_as_it_is(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    game = ended("1")
    game.game_ended.outcome.detail = "[/y] :smile: \x1b]0;title\x07"
    last = fact(pb.TOURNAMENT_STATE_FINISHED, waiting_for="[/x] and \x1b[2Jmore")
    followed(lambda _: iter((game, last)))
    said = capsys.readouterr().err
    assert "waiting: [/x] and \ufffd[2Jmore" in said
    assert "[/y] :smile: \ufffd]0;title\ufffd" in said
    assert clock.now == 0
    assert not set(said) & {"\x1b", "\x07"}


def test_the_line_of_a_ladder_says_how_sure_its_order_is() -> None:
    standing = pb.LadderStanding(
        confidence=0.712, ahead="ada", behind="bob", lead=12.4, deviation=7.6
    )
    assert order_line(standing) == "sure to 71%; least ada over bob (+12 Elo, error 8)"


def told(view: View, *facts: Fact, begin: Fact = RUNNING) -> list[pb.WatchTournamentRequest]:
    """Follow a tournament of which these facts are told, on a second stream all of them again."""
    requests: list[pb.WatchTournamentRequest] = []

    def tell(request: pb.WatchTournamentRequest) -> Iterator[Fact]:
        requests.append(request)
        yield begin
        yield from facts
        if len(requests) == 1:
            raise lost()
        yield FINISHED

    followed(tell, view)
    return requests


def test_every_game_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[str] = []
    view = View(ended_too=True, listeners=[lambda game: heard.append(game.game_id)])
    requests = told(view, ended("1"), ended("2"))
    assert [request.with_ended_games for request in requests] == [True, True]
    assert heard == ["1", "2"]
    assert capsys.readouterr().err.count("game ") == 2


def test_a_test_tells_the_games_in_which_a_bot_failed(capsys: pytest.CaptureFixture[str]) -> None:
    begin = fact(pb.TOURNAMENT_STATE_RUNNING, sprt=pb.SprtStanding())
    told(View(), ended("1"), ended("2", game_pb2.PARTY_BLACK), begin=begin)
    said = capsys.readouterr().err
    assert "black forfeits" in said
    assert said.count("game ") == 1


def test_a_rating_is_all_that_is_told_when_it_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    told(View(is_quiet=True), ended("1"))
    assert capsys.readouterr().err == ""
    rating = Rating(2, lambda games: [f"after {games} games"])
    told(View(is_quiet=True, rating=rating), *(ended(str(key)) for key in range(5)))
    assert capsys.readouterr().err == "after 2 games\nafter 4 games\n"


def test_a_rating_that_takes_long_is_told_less_often(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    """No more than a hundredth of the time goes into it."""

    def lines(games: int) -> list[str]:
        clock.sleep(1.0)
        return [f"after {games} games"]

    rating, tick = Rating(1, lines), lambda _: clock.sleep(1.0)
    view = View(is_quiet=True, rating=rating, listeners=[tick])
    told(view, *(ended(str(key)) for key in range(200)))
    assert capsys.readouterr().err == "after 1 games\nafter 100 games\nafter 199 games\n"
