"""`meijin match`: two bots against each other."""

import hashlib
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from meijin.arena.match_play import check_capabilities
from meijin.arena.tournaments import make_tournament
from meijin.cli.attendance import wait_for_bots
from meijin.cli.connection import Connection, JsonOption, connect, with_server
from meijin.cli.first_faults import FirstFaults
from meijin.cli.follow import View, follow
from meijin.cli.game_lines import GameLines, opened
from meijin.cli.local_match import check_local, local_match, tell_names, upkeep_of, words_of
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
from meijin.cli.options import (
    DEFAULT_OPENING_RULE,
    DEFAULT_TIME,
    DEFAULT_VARIANT,
    MAX_UINT32,
    ConcurrencyOption,
    MaxFaultsOption,
    OpeningRuleOption,
    OpeningsOption,
    SeedOption,
    TimeOption,
    VariantOption,
    settings,
)
from meijin.cli.played_match import Played, rating_interval_of, rating_of, report_of
from meijin.cli.profile import Profile
from meijin.cli.sides import Side, names_of
from meijin.cli.sprt import Scale, Unit, requested_test
from meijin.v1 import tournament_service_pb2 as pb

DEFAULT_GAMES = 10


@with_server
def match(
    profile: Profile,
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
            help="Play until a test has decided which of the two the first bot's advantage is; "
            "both from -200 to 200 in normalised Elo, from -1000 to 1000 in Elo.",
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
    check_local(sides, local=local, data=data, log=log)
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
        max_faults=max_faults,
    )
    set_clocks(wanted, time, first_time, second_time)
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
                tell_names(sides, names)
            upkeep = upkeep_of(restarts, wait, folder)
            bots = dict(zip(names, (words_of(side, log) for side in sides), strict=True))
            connection = stack.enter_context(local_match(bots, folder, upkeep, with_ladder=rated))
        else:
            connection = stack.enter_context(connect(profile.endpoint, profile.token))
            wait_for_bots(connection, names, DEFAULT_WAIT if wait is None else wait)
        check_capabilities(connection, wanted)
        made = _made(connection, wanted, request_id)
        lines = None if games_to is None else stack.enter_context(opened(games_to))
        interval = rating_interval_of(wanted, rating_interval, quiet=quiet)
        faults = FirstFaults()
        listeners = [faults.hear]
        if lines is not None:
            listeners.append(GameLines(connection, lines).hear)
        view = View(
            ended_too=True,
            is_quiet=quiet,
            rating=rating_of(connection, made, interval) if interval else None,
            listeners=listeners,
        )
        follow(connection, made, view)
        played = Played(report_of(connection, made), faults.find(connection), folder)
        played.show(as_json=as_json)
    played.end()


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


def _made(connection: Connection, wanted: pb.TournamentSettings, request_id: str) -> pb.Tournament:
    """The match, taken up again where the same command has left it cancelled."""
    made = make_tournament(connection, wanted, request_id)
    if request_id and made.state == pb.TOURNAMENT_STATE_CANCELLED:
        request = pb.UpdateTournamentRequest(
            tournament_id=made.tournament_id, state=pb.TOURNAMENT_STATE_RUNNING
        )
        service = connection.tournaments
        return connection.ask_with_token(service.UpdateTournament, request).tournament
    return made
