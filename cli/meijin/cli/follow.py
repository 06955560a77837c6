"""Following a tournament to its end.

A progress bar and a line for every game; where a test decides, a line that says where it stands.
"""

import time
from datetime import timedelta
from typing import NamedTuple

import grpc
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column

from meijin.arena.errors import LeftTournamentError
from meijin.cli.connection import PAGE, Connection, pages
from meijin.cli.errors import CommandError
from meijin.cli.output import PlainConsole, printable, state_text
from meijin.cli.sprt import standing_line
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


def follow(connection: Connection, tournament: pb.Tournament) -> pb.GetTournamentResponse:
    """Show a tournament's games until it ends, and return it with its crosstable.

    Raises:
        LeftTournamentError: Ctrl-C; the tournament goes on at the server.
    """
    key = tournament.tournament_id
    columns = _line() if tournament.HasField("sprt") else _bar()
    if tournament.settings.ladder.confidence:
        columns.insert(-1, _text("{task.fields[standing]}", Column()))
    progress = Progress(*columns, console=PlainConsole(stderr=True))
    try:
        with progress:
            _Follower(connection, key, progress).run()
    except KeyboardInterrupt:
        message = (
            f"tournament {key} goes on at the server; "
            f"`meijin tournament watch {key}` follows it again, `cancel {key}` stops it"
        )
        raise LeftTournamentError(message) from None
    return connection.ask(
        connection.tournaments.GetTournament, pb.GetTournamentRequest(tournament_id=key)
    )


def _bar() -> list[ProgressColumn]:
    """How far it is; where the screen is narrow, a long note is cut and not the numbers."""
    text = _text("{task.description}", _whole(len("tournament 12")))
    count = MofNCompleteColumn(table_column=_whole(len("12345/?")))
    elapsed = TimeElapsedColumn(table_column=_whole(len("0:00:00")))
    return [text, BarColumn(), count, elapsed, _text("{task.fields[note]}", style="dim")]


def _whole(width: int) -> Column:
    return Column(no_wrap=True, min_width=width)


def _line() -> list[ProgressColumn]:
    """Where a test stands."""
    standing = _text("{task.fields[standing]}", Column())  # it may wrap
    note = _text("{task.fields[note]}", style="dim")
    return [_text("{task.description}"), standing, TimeElapsedColumn(), note]


def _text(form: str, column: Column | None = None, *, style: str = "none") -> TextColumn:
    """A column of text that is no markup."""
    return TextColumn(form, style, markup=False, table_column=column)


class _Follower:
    """Keeps the bar up to date, over as many streams as it takes."""

    def __init__(self, connection: Connection, key: str, progress: Progress) -> None:
        self._connection = connection
        self._key = key
        self._progress = progress
        description = printable(f"tournament {key}")
        self._task = progress.add_task(description, total=None, note="", standing="")
        self._has_test = False
        self._has_ended = False
        self._told: set[str] = set()
        self._deadline: float | None = None
        """For a server that is away to return."""

    def run(self) -> None:
        while not self._has_ended:
            try:
                self._watch()
            except grpc.RpcError as error:
                if _code(error) is not grpc.StatusCode.UNAVAILABLE or self._is_given_up():
                    raise
                self._note("the server is away")
                time.sleep(RECONNECT_INTERVAL.total_seconds())

    def _is_given_up(self) -> bool:
        """Whether the server has been away for too long, counted from the first failure."""
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + RECONNECT_TIMEOUT.total_seconds()
        return now > self._deadline

    def _watch(self) -> None:
        request = pb.WatchTournamentRequest(tournament_id=self._key)
        for fact in self._connection.watch(self._connection.tournaments.WatchTournament, request):
            self._deadline = None
            match fact.WhichOneof("fact"):
                case "tournament":
                    self._show(fact.tournament)
                case "game_ended":
                    self._show_end(fact.game_ended)
                case "game_started":
                    self._show_start(fact.game_started)
                case "sprt":
                    self._show_standing(fact.sprt)
                case "ladder_standing":
                    self._show_order(fact.ladder_standing)

    def _show(self, tournament: pb.Tournament) -> None:
        self._progress.update(
            self._task,
            total=tournament.planned_games or None,
            completed=tournament.finished_games,
        )
        self._note(tournament.waiting_for and f"waiting: {tournament.waiting_for}")
        self._has_ended = tournament.state in END_STATES
        self._has_test = tournament.HasField("sprt")
        if self._has_test:
            self._show_standing(tournament.sprt)
        if tournament.HasField("ladder_standing"):
            self._show_order(tournament.ladder_standing)

    def _show_standing(self, standing: pb.SprtStanding) -> None:
        self._progress.update(self._task, standing=standing_line(standing))

    def _show_order(self, standing: pb.LadderStanding) -> None:
        self._progress.update(self._task, standing=printable(order_line(standing)))

    def _note(self, text: str) -> None:
        self._progress.update(self._task, note=printable(text))

    def _show_start(self, game: game_pb2.Game) -> None:
        if self._has_test:
            return
        why = f": {game.pairing_reason}" if game.pairing_reason else ""
        self._note(f"{game.black} - {game.white}{why}")

    def _show_end(self, game: game_pb2.Game) -> None:
        if self._has_test or game.game_id in self._told:
            return
        self._told.add(game.game_id)
        self._progress.console.print(game_line(game))
        if game.state == game_pb2.GAME_STATE_FINISHED:
            self._progress.advance(self._task)


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
