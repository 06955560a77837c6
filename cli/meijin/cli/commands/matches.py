"""`meijin match`: two bots against each other."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from google.protobuf.json_format import MessageToDict

from meijin.arena.errors import BotLostError, LeftTournamentError
from meijin.arena.local import local_arena
from meijin.arena.match_play import check_capabilities
from meijin.arena.startup import BOT_START_TIMEOUT
from meijin.arena.supervisor import Upkeep
from meijin.arena.tournaments import make_tournament
from meijin.cli.attendance import wait_for_bots
from meijin.cli.connection import (
    USUAL_SERVER,
    Connection,
    JsonOption,
    Server,
    TokenOption,
    connect,
    with_server,
)
from meijin.cli.errors import CommandError, TooManyFaultsError
from meijin.cli.first_faults import FirstFault, FirstFaults
from meijin.cli.follow import Rating, View, follow
from meijin.cli.game_lines import GameLines, opened
from meijin.cli.match_folder import MatchFolder
from meijin.cli.match_options import (
    DEFAULT_MAX_FAULTS,
    DEFAULT_WAIT,
    DrawOption,
    FirstArgument,
    FirstOptionOption,
    FirstTimeOption,
    GamesToOption,
    LogOption,
    MaxFaultsOption,
    QuietOption,
    RatingIntervalOption,
    ResignOption,
    RestartOption,
    SecondArgument,
    SecondOptionOption,
    SecondTimeOption,
    WaitOption,
    adjudication,
    set_clocks,
)
from meijin.cli.match_summary import rating_line, summary_lines
from meijin.cli.options import (
    DEFAULT_OPENING_RULE,
    DEFAULT_TIME,
    DEFAULT_VARIANT,
    MAX_UINT32,
    ConcurrencyOption,
    OpeningRuleOption,
    OpeningsOption,
    SeedOption,
    TimeOption,
    VariantOption,
    settings,
)
from meijin.cli.output import console, count_text, games_text, print_json, print_note
from meijin.cli.sides import Side, names_of
from meijin.cli.sprt import EXIT_STATUS, Scale, Unit, outcome_lines, requested_test, standing_line
from meijin.v1 import tournament_service_pb2 as pb

DEFAULT_GAMES = 10

RATED_GAMES = 20
"""From so many games on a match says now and then where it stands."""

RATINGS = 10
"""How often it does."""

TEST_INTERVAL = 100
"""Games after which a test says where it stands."""


@with_server
def match(
    first: FirstArgument,
    second: SecondArgument,
    games: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_UINT32,
            help="How many; colours alternate. 10 when left out. With --sprt the most that may be "
            "played, an even number; 100000 when left out.",
        ),
    ] = None,
    time: TimeOption = DEFAULT_TIME,
    first_time: FirstTimeOption = None,
    second_time: SecondTimeOption = None,
    variant: VariantOption = DEFAULT_VARIANT,
    opening_rule: OpeningRuleOption = DEFAULT_OPENING_RULE,
    seed: SeedOption = None,
    openings: OpeningsOption = None,
    concurrency: ConcurrencyOption = 0,
    resign: ResignOption = None,
    draw: DrawOption = None,
    max_faults: MaxFaultsOption = DEFAULT_MAX_FAULTS,
    rated: Annotated[bool, typer.Option("--rated", help="Count for the ladder.")] = False,
    sprt: Annotated[
        str | None,
        typer.Option(
            metavar="ELO0,ELO1",
            help="Play until a test has decided which of the two the first bot's advantage is.",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            min=0.0001,
            max=0.49,
            help="With --sprt, the chance to accept ELO1 where ELO0 is true; 0.05 when left out.",
        ),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(
            min=0.0001,
            max=0.49,
            help="With --sprt, the chance to accept ELO0 where ELO1 is true; 0.05 when left out.",
        ),
    ] = None,
    sprt_scale: Annotated[
        Scale | None,
        typer.Option(
            help="With --sprt, what ELO0 and ELO1 are in: normalised Elo (when left out) or Elo."
        ),
    ] = None,
    sprt_unit: Annotated[
        Unit | None,
        typer.Option(
            help="With --sprt, what the test counts: pairs of games on one opening (when left "
            "out) or games."
        ),
    ] = None,
    local: Annotated[
        bool,
        typer.Option(
            "--local",
            help="On a server of the match's own: the bots are names of built-in ones, or files.",
        ),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            help="With --local, a folder to keep the games in: the same command takes an "
            "interrupted match up again."
        ),
    ] = None,
    first_options: FirstOptionOption = None,
    second_options: SecondOptionOption = None,
    restarts: RestartOption = 1,
    wait: WaitOption = None,
    log: LogOption = None,
    games_to: GamesToOption = None,
    rating_interval: RatingIntervalOption = None,
    quiet: QuietOption = False,
    server: Server = USUAL_SERVER,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play a match between two bots and print the score.

    meijin match alphabeta:level=5 mcts --local --games 4 --time 0.5/move needs no server.

    The status is 5 when a bot's process has ended or never connected, and 6 when a bot has
    forfeited more games than --max-faults allows.

    With --sprt the match ends when the test is decided, and the status is 0 whichever way it was;
    it is 3 when the games were used up before, and 4 when the bots only repeat games that they
    have played. With --json the field tournament.sprt.decision is SPRT_DECISION_ELO0,
    SPRT_DECISION_ELO1, SPRT_DECISION_OPEN or SPRT_DECISION_NOTHING_NEW.
    """
    sides = Side.parse(first, first_options or ()), Side.parse(second, second_options or ())
    _check_local(sides, local=local, data=data, log=log)
    test = requested_test(sprt, alpha=alpha, beta=beta, scale=sprt_scale, unit=sprt_unit)
    names = names_of(*sides) if local else (first, second)
    wanted = settings(
        list(names),
        rounds=games or DEFAULT_GAMES,
        time=time,
        variant=variant,
        opening_rule=opening_rule,
        seed=seed,
        openings=openings,
        concurrency=concurrency,
        unrated=not rated,
        name=f"{names[0]} - {names[1]}",
    )
    set_clocks(wanted, time, first_time, second_time)
    wanted.max_faults = max_faults
    if (rules := adjudication(resign, draw)) is not None:
        wanted.adjudication.CopyFrom(rules)
    if test is not None:
        _set_test(wanted, test, games)
    request_id = "" if data is None else _request_id(wanted, with_seed=seed is not None)
    with ExitStack() as stack:
        folder: MatchFolder | None = None
        if local:
            folder = stack.enter_context(MatchFolder(data))
            if not quiet:
                _tell_names(sides, names)
            upkeep = _upkeep(restarts, wait, folder)
            bots = dict(zip(names, (_words(side, log) for side in sides), strict=True))
            connection = stack.enter_context(_local(bots, folder, upkeep, with_ladder=rated))
        else:
            connection = stack.enter_context(connect(server, token))
            wait_for_bots(connection, names, DEFAULT_WAIT if wait is None else wait)
        check_capabilities(connection, wanted)
        made = _made(connection, wanted, request_id)
        lines = None if games_to is None else stack.enter_context(opened(games_to))
        interval = _interval(wanted, rating_interval, quiet=quiet)
        faults = FirstFaults()
        listeners = [faults.hear]
        if lines is not None:
            listeners.append(GameLines(connection, lines).hear)
        view = View(
            ended_too=True,
            is_quiet=quiet,
            rating=_rating(connection, made, interval) if interval else None,
            listeners=listeners,
        )
        follow(connection, made, view)
        played = Played(_report(connection, made), faults.find(connection), folder)
        played.show(as_json=as_json)
    played.end()


@dataclass(frozen=True, slots=True)
class Played:
    """A match that is over."""

    response: pb.GetTournamentResponse
    faults: Sequence[FirstFault]
    """The first of each bot."""
    folder: MatchFolder | None
    """``None`` for one on another's server."""

    def show(self, *, as_json: bool) -> None:
        """Print how it ended; where there were faults the logs stay."""
        logs = ""
        if self.folder is not None and (self.faults or self.folder.has_logs_to_keep):
            logs = str(self.folder.keep_logs())
        if as_json:
            fields = MessageToDict(
                self.response,
                preserving_proto_field_name=True,
                always_print_fields_with_no_presence=True,
            )
            found = [asdict(fault) for fault in self.faults]
            print_json({**fields, "first_faults": found, "logs": logs})
            return
        lines = summary_lines(self.response)
        if self.response.tournament.HasField("sprt"):
            lines += outcome_lines(self.response.tournament)
        for fault in self.faults:
            lines += fault.lines()
        for line in lines:
            console.print(line, soft_wrap=True)
        if logs:
            console.print(f"logs: {logs}", soft_wrap=True)

    def end(self) -> None:
        """End the command with the status that the match has come to.

        Raises:
            TooManyFaultsError: a bot had forfeited as many games as were allowed.
            CommandError: it was cancelled, or none of its games has a result.
            typer.Exit: a test was to decide it, and did not.
        """
        found = self.response.tournament
        most = found.settings.max_faults
        for count in self.response.faults:
            if most and count.faults >= most and found.state == pb.TOURNAMENT_STATE_CANCELLED:
                forfeits = count_text(count.faults)
                raise TooManyFaultsError(f"stopped: {count.bot} has forfeited {forfeits}")
        if found.state == pb.TOURNAMENT_STATE_CANCELLED:
            raise CommandError(f"the match was cancelled after {games_text(found)}")
        if not found.finished_games:
            raise CommandError("no game was finished")
        if found.HasField("sprt") and found.sprt.decision in EXIT_STATUS:
            raise typer.Exit(EXIT_STATUS[found.sprt.decision])


def _check_local(
    sides: Sequence[Side], *, local: bool, data: Path | None, log: Path | None
) -> None:
    """See that what only bots of one's own have is asked for with --local alone.

    Raises:
        CommandError: it is not.
    """
    if local:
        return
    if data is not None:
        raise CommandError("--data goes with --local; a server has a folder of its own")
    if log is not None:
        raise CommandError("--log goes with --local; `meijin bot run --log` writes that of one bot")
    for side in sides:
        if side.options:
            raise CommandError(
                f'the options of "{side}" go with --local; a bot on a server has its own'
            )


def _set_test(wanted: pb.TournamentSettings, test: pb.Sprt, games: int | None) -> None:
    """Have the match end by a test."""
    test.most_games = games or 0
    wanted.format = pb.TOURNAMENT_FORMAT_SPRT
    wanted.rounds = 0
    wanted.sprt.CopyFrom(test)


def _request_id(wanted: pb.TournamentSettings, *, with_seed: bool) -> str:
    """What the same command asks for again; a seed that was drawn by lot is no part of it."""
    told = pb.TournamentSettings()
    told.CopyFrom(wanted)
    if not with_seed:
        told.seed = 0
    return hashlib.sha256(told.SerializeToString(deterministic=True)).hexdigest()


def _tell_names(sides: Sequence[Side], names: Sequence[str]) -> None:
    """Say who plays under which name, where that is not plain."""
    for side, name in zip(sides, names, strict=True):
        if name != side.name or side.options:
            print_note(f"{name} is {side}")


def _words(side: Side, log: Path | None) -> list[str]:
    return [*side.words, *([] if log is None else [f"--log={log.absolute()}"])]


def _upkeep(restarts: int, wait: float | None, folder: MatchFolder) -> Upkeep:
    limit = BOT_START_TIMEOUT if wait is None else timedelta(seconds=wait)
    return Upkeep(restarts, limit, on_end=lambda _: folder.keep_logs())


@contextmanager
def _local(
    bots: dict[str, list[str]], folder: MatchFolder, upkeep: Upkeep, *, with_ladder: bool
) -> Iterator[Connection]:
    """An arena of the match's own, in a folder that is kept or in one that is not."""
    try:
        with local_arena(
            folder.path, bots, print_note, upkeep, with_ladder=with_ladder
        ) as connection:
            try:
                yield connection
            except LeftTournamentError:
                if not folder.is_given:
                    raise
                message = f"interrupted; the same command goes on with what is in {folder.path}"
                raise CommandError(message) from None
    except BotLostError as error:
        raise BotLostError(f"{error}; logs: {folder.keep_logs()}") from None


def _made(connection: Connection, wanted: pb.TournamentSettings, request_id: str) -> pb.Tournament:
    """The match, taken up again where the same command has left it cancelled."""
    made = make_tournament(connection, wanted, request_id)
    if request_id and made.state == pb.TOURNAMENT_STATE_CANCELLED:
        request = pb.ResumeTournamentRequest(tournament_id=made.tournament_id)
        service = connection.tournaments
        return connection.ask_with_token(service.ResumeTournament, request).tournament
    return made


def _report(connection: Connection, tournament: pb.Tournament) -> pb.GetTournamentResponse:
    request = pb.GetTournamentRequest(
        tournament_id=tournament.tournament_id, with_match_report=True
    )
    return connection.ask(connection.tournaments.GetTournament, request)


def _interval(wanted: pb.TournamentSettings, given: int | None, *, quiet: bool) -> int:
    """After how many games it is said where the match stands; 0 for never."""
    if given is not None or quiet:
        return given or 0
    if wanted.HasField("sprt"):
        return TEST_INTERVAL
    return 0 if wanted.rounds < RATED_GAMES else max(wanted.rounds // RATINGS, 1)


def _rating(connection: Connection, made: pb.Tournament, interval: int) -> Rating:
    def lines(games: int) -> list[str]:
        if games == made.planned_games:
            return []
        found = _report(connection, made)
        if found.tournament.HasField("sprt"):
            return [f"after {games} games: {standing_line(found.tournament.sprt)}"]
        return [rating_line(found)] if found.HasField("match_report") else []

    return Rating(interval, lines)
