"""A tournament that is followed over the restarts of its server."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from meijin.cli import follow as module
from meijin.cli.follow import RECONNECT_TIMEOUT, Rating, View, follow, order_line
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb

HOUR = 3600.0
LIMIT = RECONNECT_TIMEOUT.total_seconds()


class Clock:
    """What stands in for `time`: it goes on when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """Seconds since the test began."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


class LostError(grpc.RpcError, grpc.Call):  # type: ignore[misc]  # as gRPC's own errors
    """A stream that has ended with a status."""

    def __init__(self, status: grpc.StatusCode) -> None:
        self._status = status

    def code(self) -> grpc.StatusCode:
        """Its status."""
        return self._status


def watch(method: Any, request: object) -> Any:
    """As a connection calls it, to a server that asks for no token."""
    return method(request)


class Server:
    """Streams that are lost after a fact, at hours of its own, and a tournament that ends."""

    def __init__(self, clock: Clock, *, lives: list[float], downtime: float) -> None:
        self.tournaments = self
        self.watch = watch
        self._clock = clock
        self._lives = lives
        self._downtime = downtime
        self._returns_at = 0.0

    def WatchTournament(  # noqa: N802 - the contract's name
        self, _request: pb.WatchTournamentRequest
    ) -> Iterator[pb.WatchTournamentResponse]:
        """Tell of the tournament, until the life is over or the tournament."""
        if self._clock.now < self._returns_at:
            raise lost(grpc.StatusCode.UNAVAILABLE)
        yield fact(pb.TOURNAMENT_STATE_RUNNING)
        if self._lives:
            self._clock.sleep(self._lives.pop(0))
            self._returns_at = self._clock.now + self._downtime
            raise lost(grpc.StatusCode.UNAVAILABLE)
        yield fact(pb.TOURNAMENT_STATE_FINISHED)

    def GetTournament(self, _request: object) -> pb.GetTournamentResponse:  # noqa: N802
        """The tournament as it ended."""
        return pb.GetTournamentResponse(tournament=pb.Tournament(tournament_id="7"))

    def ask(self, method: Any, request: object) -> Any:
        """Call a method."""
        return method(request)


def lost(status: grpc.StatusCode) -> grpc.RpcError:
    """The end of a stream."""
    return LostError(status)  # type: ignore[abstract]  # of a call the status alone is read


def fact(state: pb.TournamentState.ValueType) -> pb.WatchTournamentResponse:
    """What is told of a tournament."""
    return pb.WatchTournamentResponse(tournament=pb.Tournament(tournament_id="7", state=state))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time of who follows."""
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def followed(connection: Any) -> pb.GetTournamentResponse:
    """The tournament at its end."""
    return follow(connection, pb.Tournament(tournament_id="7"))


@pytest.mark.parametrize("lives", [[], [HOUR], [HOUR, HOUR], [HOUR, 0.0, 0.0]])
def test_a_server_may_restart_at_any_time(clock: Clock, lives: list[float]) -> None:
    """It has its time to return from when it was lost, and from every loss anew."""
    restarts = len(lives)
    downtime = 0.8 * LIMIT
    server = Server(clock, lives=list(lives), downtime=downtime)
    assert followed(server).tournament.tournament_id == "7"
    assert clock.now >= sum(lives) + restarts * downtime


@pytest.mark.parametrize("life", [0.0, HOUR])
def test_a_server_that_stays_away_is_given_up(clock: Clock, life: float) -> None:
    """After its time, and not much later."""
    server = Server(clock, lives=[life], downtime=HOUR)
    with pytest.raises(grpc.RpcError):
        followed(server)
    assert LIMIT <= clock.now - life <= LIMIT + 2


def test_another_failure_is_not_waited_for(clock: Clock) -> None:
    """Nothing but a server that is away comes back."""

    def fail(_request: object) -> Iterator[pb.WatchTournamentResponse]:
        raise lost(grpc.StatusCode.NOT_FOUND)

    stubs = SimpleNamespace(WatchTournament=fail)
    connection = SimpleNamespace(tournaments=stubs, watch=watch)
    with pytest.raises(grpc.RpcError):
        followed(connection)
    assert clock.now == 0


def test_what_others_have_written_is_shown_as_it_is(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither markup nor control characters are carried out."""
    monkeypatch.setenv("COLUMNS", "200")
    game = game_pb2.Game(
        game_id="1",
        black="ada",
        white="bob",
        state=game_pb2.GAME_STATE_VOID,
        outcome=game_pb2.Outcome(
            ending=game_pb2.ENDING_VOID, detail="[/y] :smile: \x1b]0;title\x07"
        ),
    )

    def tell(_request: object) -> Iterator[pb.WatchTournamentResponse]:
        yield pb.WatchTournamentResponse(game_ended=game)
        ended = fact(pb.TOURNAMENT_STATE_FINISHED)
        ended.tournament.waiting_for = "[/x] and \x1b[2Jmore"
        yield ended

    stubs = SimpleNamespace(WatchTournament=tell, GetTournament=lambda _: None)
    connection = SimpleNamespace(tournaments=stubs, ask=watch, watch=watch)
    followed(connection)
    said = capsys.readouterr().err
    assert "waiting: [/x] and \ufffd[2Jmore" in said
    assert "[/y] :smile: \ufffd]0;title\ufffd" in said
    assert clock.now == 0
    assert not set(said) & {"\x1b", "\x07"}


def test_the_line_of_a_ladder_says_how_sure_its_order_is() -> None:
    """And which two are least surely told apart."""
    standing = pb.LadderStanding(
        confidence=0.712, ahead="ada", behind="bob", lead=12.4, deviation=7.6
    )
    assert order_line(standing) == "sure to 71%; least ada over bob (+12 Elo, error 8)"


def ended(key: str, culprit: game_pb2.Party.ValueType = game_pb2.PARTY_UNSPECIFIED) -> Any:
    """A game of Ada and Bob that has ended."""
    game = game_pb2.Game(game_id=key, black="ada", white="bob", state=game_pb2.GAME_STATE_FINISHED)
    ending = game_pb2.ENDING_CRASH if culprit else game_pb2.ENDING_FIVE
    game.outcome.CopyFrom(
        game_pb2.Outcome(winner=game_pb2.COLOR_WHITE, ending=ending, at_fault=culprit)
    )
    return pb.WatchTournamentResponse(game_ended=game)


def told(
    monkeypatch: pytest.MonkeyPatch, view: View, *facts: Any, sprt: bool = False
) -> list[pb.WatchTournamentRequest]:
    """Follow a tournament of which these facts are told, on a second stream all of them again."""
    monkeypatch.setattr(module, "time", Clock())
    requests: list[pb.WatchTournamentRequest] = []

    def tell(request: pb.WatchTournamentRequest) -> Iterator[pb.WatchTournamentResponse]:
        requests.append(request)
        begin = fact(pb.TOURNAMENT_STATE_RUNNING)
        if sprt:
            begin.tournament.sprt.SetInParent()
        yield begin
        yield from facts
        if len(requests) == 1:
            raise lost(grpc.StatusCode.UNAVAILABLE)
        yield fact(pb.TOURNAMENT_STATE_FINISHED)

    stubs = SimpleNamespace(WatchTournament=tell, GetTournament=lambda _: None)
    connection: Any = SimpleNamespace(tournaments=stubs, ask=watch, watch=watch)
    follow(connection, pb.Tournament(tournament_id="7"), view)
    return requests


def test_every_game_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also those that had ended before, however often the stream is lost."""
    heard: list[str] = []
    view = View(ended_too=True, listeners=[lambda game: heard.append(game.game_id)])
    requests = told(monkeypatch, view, ended("1"), ended("2"))
    assert [request.with_ended_games for request in requests] == [True, True]
    assert heard == ["1", "2"]
    assert capsys.readouterr().err.count("game ") == 2


def test_a_test_tells_the_games_in_which_a_bot_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And no others."""
    told(monkeypatch, View(), ended("1"), ended("2", game_pb2.PARTY_BLACK), sprt=True)
    said = capsys.readouterr().err
    assert "black forfeits" in said
    assert said.count("game ") == 1


def test_quiet_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither of games nor of a server that is away."""
    told(monkeypatch, View(is_quiet=True), ended("1"))
    assert capsys.readouterr().err == ""


def test_a_rating_is_told_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After so many games, quiet or not."""
    rating = Rating(2, lambda games: [f"after {games} games"])
    told(monkeypatch, View(is_quiet=True, rating=rating), *(ended(str(key)) for key in range(5)))
    assert capsys.readouterr().err == "after 2 games\nafter 4 games\n"
