"""Following a tournament to its end.

A line for every game, and at the foot of the screen one that says how far it is, or where the test
stands that decides.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

import grpc
from rich.live import Live

from meijin.cli.game.view import state_text
from meijin.cli.output import PlainConsole, print_note, printable
from meijin.cli.tournament.live_line import LiveLine
from meijin.cli.tournament.sprt import standing_parts
from meijin.local.connection import Connection, get_tournament
from meijin.local.errors import LeftTournamentError
from meijin.local.first_fault import culprit_of
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb

RECONNECT_TIMEOUT = timedelta(minutes=1)
"""A server may be away for this time before following it is given up."""

RECONNECT_INTERVAL = timedelta(seconds=1)
END_STATES = (pb.TOURNAMENT_STATE_FINISHED, pb.TOURNAMENT_STATE_CANCELLED)
REFRESH_RATE = 4
"""How often a second the live line is drawn."""
PLAYERS = 2
"""Of a match."""
RATING_SHARE = 0.01
"""Of the time at most a match takes to say where it stands: the server goes through all its games."""
MOST_FAULT_LINES = 10
"""Games of a test that are told of one by one, since a bot has failed in them."""


class Rating(NamedTuple):
    """What a match has come to, told now and then."""

    interval: int
    """After this many games, unless `RATING_SHARE` is used up."""
    lines: Callable[[int], Sequence[str]]
    """What to say when this many games have a result."""


@dataclass(frozen=True, slots=True)
class View:
    """What is told of a tournament that is followed."""

    ended_too: bool = False
    """The games too that ended before."""
    is_quiet: bool = False
    """Neither games nor the live line."""
    rating: Rating | None = None
    listeners: Sequence[Callable[[game_pb2.Game], object]] = ()
    """Are called with every game that has ended."""


USUAL_VIEW = View()
NEW_VIEW = View(ended_too=True)
"""Of a tournament that was just made: on a busy machine games end before it is looked at."""


def follow(
    connection: Connection, tournament: pb.Tournament, view: View = USUAL_VIEW
) -> pb.GetTournamentResponse:
    """Show a tournament's games until it ends, and return it with its crosstable or match report."""
    key = tournament.tournament_id
    screen = PlainConsole(stderr=True)
    follower = _Follower(connection, key, screen, view)
    is_live = screen.is_terminal and not view.is_quiet
    live = Live(follower.line, console=screen, refresh_per_second=REFRESH_RATE, transient=True)
    try:
        with live if is_live else nullcontext():
            follower.run()
    except KeyboardInterrupt:
        message = (
            f"tournament {key} goes on at the server; "
            f"`meijin tournament watch {key}` follows it again, `cancel {key}` stops it"
        )
        raise LeftTournamentError(message) from None
    return get_tournament(connection, key, with_match_report=True)


class _Follower:
    """Keeps the live line up to date, over as many streams as it takes."""

    def __init__(self, connection: Connection, key: str, screen: PlainConsole, view: View) -> None:
        self.line = LiveLine(printable(f"tournament {key}"), time.monotonic)
        self._connection = connection
        self._key = key
        self._screen = screen
        self._view = view
        self._bots: Sequence[str] = ()
        self._has_test = False
        self._has_ended = False
        self._ended: set[str] = set()
        self._finished = 0
        """Of the games that were told."""
        self._faults: Counter[str] = Counter()
        self._rating_time = 0.0
        """Not before it is said where the match stands."""
        self._deadline: float | None = None
        """For a server that is away to return."""

    def run(self) -> None:
        while not self._has_ended:
            try:
                self._watch()
            except grpc.RpcError as error:
                code = error.code() if isinstance(error, grpc.Call) else None
                if code is not grpc.StatusCode.UNAVAILABLE or self._is_given_up():
                    raise
                self._warn("the server is away")
                time.sleep(RECONNECT_INTERVAL.total_seconds())

    def _is_given_up(self) -> bool:
        """Whether the server has been away for too long, counted from the first failure."""
        now = time.monotonic()
        self._deadline = self._deadline or now + RECONNECT_TIMEOUT.total_seconds()
        return now > self._deadline

    def _watch(self) -> None:
        ended_too = self._view.ended_too
        request = pb.WatchTournamentRequest(tournament_id=self._key, with_ended_games=ended_too)
        for fact in self._connection.watch(self._connection.tournaments.WatchTournament, request):
            self._deadline = None
            match fact.WhichOneof("fact"):
                case "tournament":
                    self._show(fact.tournament)
                case "game_ended":
                    self._end_game(fact.game_ended)
                case "game_started" if not self._has_test:
                    game = fact.game_started
                    why = f": {game.pairing_reason}" if game.pairing_reason else ""
                    self.line.note = f"{game.black} - {game.white}{why}"
                case "sprt":
                    self.line.standing = standing_parts(fact.sprt)
                case "ladder_standing":
                    self._show_order(fact.ladder_standing)

    def _show(self, tournament: pb.Tournament) -> None:
        self.line.total = tournament.planned_games or None
        self.line.set_done(max(tournament.finished_games, self._finished))
        self._bots = tournament.settings.bots
        if tournament.waiting_for:
            self._warn(f"waiting: {tournament.waiting_for}")
        else:
            self.line.note = ""
        self._has_ended = tournament.state in END_STATES
        self._has_test = tournament.HasField("sprt")
        if self._has_test:
            self.line.standing = standing_parts(tournament.sprt)
        if tournament.HasField("ladder_standing"):
            self._show_order(tournament.ladder_standing)

    def _show_order(self, standing: pb.LadderStanding) -> None:
        self.line.standing = (printable(order_line(standing)),)

    def _warn(self, text: str) -> None:
        """Note why nothing goes on; where there is no live line, in a line of its own."""
        if not self._screen.is_terminal and not self._view.is_quiet and text != self.line.note:
            self._print(text)
        self.line.note = text

    def _print(self, *lines: str) -> None:
        say = self._screen.print if self._screen.is_terminal else print_note
        for text in lines:
            say(text)

    def _end_game(self, game: game_pb2.Game) -> None:
        if game.game_id in self._ended:
            return
        self._ended.add(game.game_id)
        if culprit := culprit_of(game):
            self._faults[culprit] += 1
            if len(self._bots) == PLAYERS:
                self.line.faults = [self._faults[bot] for bot in self._bots]
        is_shown = not self._has_test or (culprit and self._faults.total() <= MOST_FAULT_LINES)
        if is_shown and not self._view.is_quiet:
            self._print(game_line(game))
        for listener in self._view.listeners:
            listener(game)
        if game.state == game_pb2.GAME_STATE_FINISHED:
            self._count()

    def _count(self) -> None:
        self._finished += 1
        self.line.set_done(max(self.line.done, self._finished))
        rating, now = self._view.rating, time.monotonic()
        if rating is None or self._finished % rating.interval or now < self._rating_time:
            return
        lines = rating.lines(self._finished)
        self._rating_time = now + (time.monotonic() - now) / RATING_SHARE
        self._print(*lines)


def order_line(standing: pb.LadderStanding) -> str:
    """How sure a ladder's order is, and who of it least, in one line."""
    return (
        f"sure to {standing.confidence:.0%}; least {standing.ahead} over {standing.behind} "
        f"({standing.lead:+.0f} Elo, error {standing.deviation:.0f})"
    )


def game_line(game: game_pb2.Game) -> str:
    players = f"{game.black} - {game.white}"
    return f"game {game.game_id:<4} {players:<28} {state_text(game)}, {game.ply} plies"
