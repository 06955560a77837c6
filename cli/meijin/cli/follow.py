"""Following a tournament to its end.

A line for every game, and at the foot of the screen one that says how far it is, or where the test
stands that decides.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

import grpc
from rich.live import Live

from meijin.arena.errors import LeftTournamentError
from meijin.cli.connection import PAGE, Connection, pages
from meijin.cli.errors import CommandError
from meijin.cli.live_line import LiveLine
from meijin.cli.output import PlainConsole, printable, state_text
from meijin.cli.sprt import standing_parts
from meijin.v1 import game_pb2
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.v1 import tournament_service_pb2 as pb

RECONNECT_TIMEOUT = timedelta(minutes=1)
"""A server may be away for this time before following it is given up."""

RECONNECT_INTERVAL = timedelta(seconds=1)

LADDER_TIMEOUT = timedelta(minutes=1)
"""The ladder's job may take this time."""

POLL_INTERVAL = timedelta(milliseconds=100)
"""Between two looks whether it is done."""

END_STATES = (pb.TOURNAMENT_STATE_FINISHED, pb.TOURNAMENT_STATE_CANCELLED)


REFRESH_RATE = 4
"""How often a second the live line is drawn."""

PLAYERS = 2
"""Of a match."""

MOST_FAULT_LINES = 10
"""Games of a test that are told of one by one, since a bot has failed in them."""


class Rating(NamedTuple):
    """What a match has come to, told now and then."""

    interval: int
    """After so many games."""
    lines: Callable[[int], Sequence[str]]
    """What to say when so many games have a result."""


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


def follow(
    connection: Connection, tournament: pb.Tournament, view: View = USUAL_VIEW
) -> pb.GetTournamentResponse:
    """Show a tournament's games until it ends, and return it with its crosstable.

    Raises:
        LeftTournamentError: Ctrl-C; the tournament goes on at the server.
    """
    key = tournament.tournament_id
    line = LiveLine(printable(f"tournament {key}"), time.monotonic)
    screen = PlainConsole(stderr=True)
    try:
        with _shown(line, screen, view):
            _Follower(connection, key, line, screen, view).run()
    except KeyboardInterrupt:
        message = (
            f"tournament {key} goes on at the server; "
            f"`meijin tournament watch {key}` follows it again, `cancel {key}` stops it"
        )
        raise LeftTournamentError(message) from None
    return connection.ask(
        connection.tournaments.GetTournament, pb.GetTournamentRequest(tournament_id=key)
    )


@contextmanager
def _shown(line: LiveLine, screen: PlainConsole, view: View) -> Iterator[None]:
    """The line at the foot of a screen, if there is one; nothing of it is left at the end."""
    if view.is_quiet or not screen.is_terminal:
        yield
        return
    with Live(line, console=screen, refresh_per_second=REFRESH_RATE, transient=True):
        yield


class _Follower:
    """Keeps the live line up to date, over as many streams as it takes."""

    def __init__(
        self, connection: Connection, key: str, line: LiveLine, screen: PlainConsole, view: View
    ) -> None:
        self._connection = connection
        self._key = key
        self._line = line
        self._screen = screen
        self._view = view
        self._bots: Sequence[str] = ()
        self._has_test = False
        self._has_ended = False
        self._told: set[str] = set()
        self._finished = 0
        """Of the games that were told."""
        self._faults: Counter[str] = Counter()
        self._deadline: float | None = None
        """For a server that is away to return."""

    def run(self) -> None:
        while not self._has_ended:
            try:
                self._watch()
            except grpc.RpcError as error:
                if _code(error) is not grpc.StatusCode.UNAVAILABLE or self._is_given_up():
                    raise
                self._warn("the server is away")
                time.sleep(RECONNECT_INTERVAL.total_seconds())

    def _is_given_up(self) -> bool:
        """Whether the server has been away for too long, counted from the first failure."""
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + RECONNECT_TIMEOUT.total_seconds()
        return now > self._deadline

    def _watch(self) -> None:
        request = pb.WatchTournamentRequest(
            tournament_id=self._key, with_ended_games=self._view.ended_too
        )
        for fact in self._connection.watch(self._connection.tournaments.WatchTournament, request):
            self._deadline = None
            match fact.WhichOneof("fact"):
                case "tournament":
                    self._show(fact.tournament)
                case "game_ended":
                    self._hear(fact.game_ended)
                case "game_started":
                    self._show_start(fact.game_started)
                case "sprt":
                    self._line.standing = standing_parts(fact.sprt)
                case "ladder_standing":
                    self._show_order(fact.ladder_standing)

    def _show(self, tournament: pb.Tournament) -> None:
        self._line.total = tournament.planned_games or None
        self._line.set_done(max(tournament.finished_games, self._finished))
        self._bots = tournament.settings.bots
        if tournament.waiting_for:
            self._warn(f"waiting: {tournament.waiting_for}")
        else:
            self._line.note = ""
        self._has_ended = tournament.state in END_STATES
        self._has_test = tournament.HasField("sprt")
        if self._has_test:
            self._line.standing = standing_parts(tournament.sprt)
        if tournament.HasField("ladder_standing"):
            self._show_order(tournament.ladder_standing)

    def _show_order(self, standing: pb.LadderStanding) -> None:
        self._line.standing = (printable(order_line(standing)),)

    def _warn(self, text: str) -> None:
        """Note why nothing goes on; where there is no live line, in a line of its own."""
        if not self._screen.is_terminal and not self._view.is_quiet and text != self._line.note:
            self._print(text)
        self._line.note = text

    def _print(self, *lines: str) -> None:
        for text in lines:
            self._screen.print(text)

    def _show_start(self, game: game_pb2.Game) -> None:
        if self._has_test:
            return
        why = f": {game.pairing_reason}" if game.pairing_reason else ""
        self._line.note = f"{game.black} - {game.white}{why}"

    def _hear(self, game: game_pb2.Game) -> None:
        if game.game_id in self._told:
            return
        self._told.add(game.game_id)
        culprit = culprit_of(game)
        if culprit:
            self._faults[culprit] += 1
            if len(self._bots) == PLAYERS:
                self._line.faults = [self._faults[bot] for bot in self._bots]
        is_shown = not self._has_test or (culprit and self._faults.total() <= MOST_FAULT_LINES)
        if is_shown and not self._view.is_quiet:
            self._print(game_line(game))
        for listener in self._view.listeners:
            listener(game)
        if game.state == game_pb2.GAME_STATE_FINISHED:
            self._count()

    def _count(self) -> None:
        """Count a result, and say what they have come to when it is time."""
        self._finished += 1
        self._line.set_done(max(self._line.done, self._finished))
        rating = self._view.rating
        if rating is not None and self._finished % rating.interval == 0:
            self._print(*rating.lines(self._finished))


def culprit_of(game: game_pb2.Game) -> str:
    """The bot that has forfeited a game; empty where none has."""
    culprits = {game_pb2.PARTY_BLACK: game.black, game_pb2.PARTY_WHITE: game.white}
    if game.state != game_pb2.GAME_STATE_FINISHED:
        return ""
    return culprits.get(game.outcome.at_fault, "")


def order_line(standing: pb.LadderStanding) -> str:
    """How sure a ladder's order is, and who of it least, in one line."""
    return (
        f"sure to {standing.confidence:.0%}; least {standing.ahead} over {standing.behind} "
        f"({standing.lead:+.0f} Elo, error {standing.deviation:.0f})"
    )


def game_line(game: game_pb2.Game) -> str:
    """A game that has ended, in one line."""
    players = f"{game.black} - {game.white}"
    return f"game {game.game_id:<4} {players:<28} {state_text(game)}, {game.ply} plies"


def _code(error: grpc.RpcError) -> grpc.StatusCode | None:
    return error.code() if isinstance(error, grpc.Call) else None


class Machines(NamedTuple):
    """Which lines of a table are shown, by what they say of their machines."""

    hardware: str = ""
    """In what they run on."""
    min_nodes: int = 0
    """A second, of the reference search there."""
    max_nodes: int = 0
    """A second; 0 for no limit."""


EVERY_MACHINE = Machines()


def whole_table(
    connection: Connection,
    ladder: str,
    run: str = "",
    *,
    all_versions: bool = False,
    machines: Machines = EVERY_MACHINE,
) -> ladder_pb.GetStandingsResponse:
    """A ladder's table, of an earlier run where one is named, with all of its pages."""
    request = ladder_pb.GetStandingsRequest(
        ladder=ladder,
        run_id=run,
        page_size=PAGE,
        all_versions=all_versions,
        hardware=machines.hardware,
        min_nodes_per_second=machines.min_nodes,
        max_nodes_per_second=machines.max_nodes,
    )
    table, *others = pages(connection.ask, connection.ladders.GetStandings, request)
    for page in others:
        table.standings.extend(page.standings)
    table.next_page_token = ""
    return table


def final_standings(
    connection: Connection, tournament: pb.Tournament
) -> ladder_pb.GetStandingsResponse:
    """The standings of the final run of a tournament that has settled its ladder.

    Raises:
        CommandError: the ladder's job does not come to it.
    """
    request = pb.GetTournamentRequest(tournament_id=tournament.tournament_id)
    deadline = time.monotonic() + LADDER_TIMEOUT.total_seconds()
    while time.monotonic() < deadline:
        found = connection.ask(connection.tournaments.GetTournament, request).tournament
        if found.final_run:
            return whole_table(connection, found.ladder, found.final_run)
        time.sleep(POLL_INTERVAL.total_seconds())
    raise CommandError(_TOO_LATE)


def current_standings(connection: Connection, ladder: str) -> ladder_pb.GetStandingsResponse:
    """A ladder's standings once its job has taken in every finished game.

    Raises:
        CommandError: the job does not come to it.
    """
    deadline = time.monotonic() + LADDER_TIMEOUT.total_seconds()
    while time.monotonic() < deadline:
        response = whole_table(connection, ladder)
        if response.ladder.current:
            return response
        time.sleep(POLL_INTERVAL.total_seconds())
    raise CommandError(_TOO_LATE)


_TOO_LATE = (
    f"the ladder was not computed within {LADDER_TIMEOUT.total_seconds():g} s; is a worker running?"
)
