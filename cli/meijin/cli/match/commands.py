"""`meijin match`: two bots against each other."""

import hashlib
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.command import Output, option
from meijin.cli.completion import players
from meijin.cli.errors import CommandError
from meijin.cli.match.options import Clocks, LocalOptions, Rules
from meijin.cli.match.players import (
    MatchFolder,
    check_sides,
    local_match,
    parse_side,
    wait_for_bots,
)
from meijin.cli.match.result import (
    match_output,
    opened,
    rating_of,
    standing_lines,
    write_game_line,
)
from meijin.cli.options import (
    DEFAULT_TIME,
    MAX_UINT32,
    Conditions,
    MaxFaultsOption,
    TimeOption,
    TournamentOptions,
    parsed,
)
from meijin.cli.output import PlainConsole, print_note
from meijin.cli.profile import Profile
from meijin.cli.tournament.follow import PLAYERS, View, follow
from meijin.cli.tournament.sprt import SprtOptions
from meijin.local.bots import BOT_START_TIMEOUT
from meijin.local.connection import (
    Connection,
    connect,
    get_tournament,
    make_tournament,
    set_state,
)
from meijin.local.errors import LeftTournamentError
from meijin.local.first_fault import culprit_of, first_faults
from meijin.local.match_play import check_capabilities
from meijin.local.match_settings import USUAL_GAMES, USUAL_MAX_FAULTS
from meijin.local.sides import Side, names_of, set_own_clocks
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb

DEFAULT_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Shown:
    """What is told of a match on the way."""

    games_to: Path | None
    rating_interval: int | None
    is_quiet: bool


def match(
    profile: Profile,
    first: Annotated[
        str,
        typer.Argument(
            help="A bot on the server; with --local a bot to run.", autocompletion=players
        ),
    ],
    second: Annotated[str, typer.Argument(help="The other one.", autocompletion=players)],
    games: Annotated[
        int | None,
        option(
            "How many; colours alternate. 10 when left out. With --sprt the most that may be "
            "played, an even number; 100000 when left out.",
            1,
            MAX_UINT32,
        ),
    ] = None,
    time: TimeOption = DEFAULT_TIME,
    *,
    clocks: Clocks,
    conditions: Conditions,
    rules: Rules,
    max_faults: MaxFaultsOption = USUAL_MAX_FAULTS,
    rated: Annotated[bool, "Count for the ladder."] = False,
    sequential: SprtOptions,
    local: LocalOptions,
    games_to: Annotated[
        Path | None,
        option(
            "Write every game as it ends, a JSON object in a line; - for standard output.",
            metavar="FILE",
        ),
    ] = None,
    rating_interval: Annotated[
        int | None,
        option(
            "Say after every this many games where the match stands; 0 for never. 10 when left "
            "out; with --sprt 100.",
            0,
            MAX_UINT32,
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the result alone: no games, no live line.")
    ] = False,
) -> Output:
    """Play a match between two bots and print the score.

    meijin match alphabeta:level=5 mcts --local --games 4 --time 0.5/move needs no server.

    The status is 5 when a bot's process has ended or never connected, and 6 when a bot has
    forfeited more games than --max-faults allows.

    With --sprt the match ends when the test is decided, and the status is 0 whichever way it was;
    it is 3 when the games were used up before, and 4 when the openings were. With --json the field
    tournament.sprt.decision is elo0, elo1, open or nothing_new.
    """
    sides: list[Side] = []
    names = [first, second]
    if local.local:
        more = (local.first_options or (), local.second_options or ())
        sides = [
            parse_side(spec, [f"option.{each}" for each in own])
            for spec, own in zip(names, more, strict=True)
        ]
        names = parsed(names_of, sides)
    elif local.data is not None or local.log is not None:
        raise CommandError("--data and --log go with --local; a server has a folder of its own")
    asked = TournamentOptions(
        names,
        rounds=games or USUAL_GAMES,
        time=time,
        conditions=conditions,
        unrated=not rated,
        name=f"{names[0]} - {names[1]}",
        max_faults=max_faults,
    )
    wanted = asked.settings()
    clocks.set(wanted, time)
    set_own_clocks(wanted, sides)
    rules.set(wanted)
    check_rated(wanted)
    set_test(wanted, sequential, games)
    shown = Shown(games_to, rating_interval, quiet)
    with ExitStack() as stack:
        if sides:
            played = dict(zip(names, sides, strict=True))
            return play_sides(
                played, wanted, conditions, shown, data=local.data, log=local.log, wait=local.wait
            )
        connection = stack.enter_context(connect(profile.endpoint, profile.token))
        wait_for_bots(connection, names, DEFAULT_WAIT if local.wait is None else local.wait)
        return play_match(connection, wanted, "", shown, None, stack)


def check_rated(wanted: pb.TournamentSettings) -> None:
    if not wanted.unrated and (wanted.time_controls or wanted.HasField("adjudication")):
        raise CommandError(
            "--rated games have one clock and are played to their end; leave --rated out, or the "
            "sides' own clocks, --resign and --draw"
        )


def set_test(wanted: pb.TournamentSettings, sequential: SprtOptions, games: int | None) -> None:
    """Have a match end when a test is decided, where one was asked for."""
    test = sequential.test()
    if test is None:
        return
    if games and games % 2:
        raise CommandError(f"--games {games} is odd; with --sprt games come in pairs")
    if len(wanted.bots) != PLAYERS:
        raise CommandError(f"--sprt tests two sides, not {len(wanted.bots)}")
    test.most_games = games or 0
    wanted.format, wanted.rounds = pb.TOURNAMENT_FORMAT_SPRT, 0
    wanted.sprt.CopyFrom(test)


def play_sides(
    sides: Mapping[str, Side],
    wanted: pb.TournamentSettings,
    conditions: Conditions,
    shown: Shown,
    *,
    data: Path | None = None,
    log: Path | None = None,
    is_pinned: bool = False,
    wait: float | None = None,
) -> Output:
    """Play what is wanted between sides of one's own, by their names.

    Where `data` is kept the same command takes an interrupted one up again.
    """
    if sys.stderr.isatty() and not shown.is_quiet:
        print_note("starting a server and the sides ...")
    check_sides(list(sides.values()), wanted)
    limit = BOT_START_TIMEOUT if wait is None else timedelta(seconds=wait)
    request_id = "" if data is None else _request_id(wanted, conditions)
    with ExitStack() as stack:
        folder = stack.enter_context(MatchFolder(data))
        _print_names(sides)
        match = local_match(sides, folder, wanted, log=log, is_pinned=is_pinned, limit=limit)
        connection = stack.enter_context(match)
        return play_match(connection, wanted, request_id, shown, folder, stack)


def play_match(
    connection: Connection,
    wanted: pb.TournamentSettings,
    request_id: str,
    shown: Shown,
    folder: MatchFolder | None,
    stack: ExitStack,
) -> Output:
    """Make a match or tournament, follow it to its end, and tell what it came to."""
    check_capabilities(connection, wanted)
    made = _make(connection, wanted, request_id)
    forfeited: list[game_pb2.Game] = []
    listeners: list[Callable[[game_pb2.Game], object]] = [
        lambda game: forfeited.append(game) if culprit_of(game) else None
    ]
    if shown.games_to is not None:
        listeners.append(partial(write_game_line, connection, opened(shown.games_to, stack)))
    is_match = len(wanted.bots) == PLAYERS
    rating = None
    if is_match and not shown.is_quiet:
        rating = rating_of(connection, made, shown.rating_interval)
    view = View(ended_too=True, is_quiet=shown.is_quiet, rating=rating, listeners=listeners)
    try:
        response = follow(connection, made, view)
    except LeftTournamentError:
        response = get_tournament(connection, made.tournament_id, with_match_report=True)
        if response.tournament.finished_games and not shown.is_quiet:
            PlainConsole(stderr=True).print(*standing_lines(response), sep="\n")
        raise
    return match_output(response, first_faults(connection, forfeited), folder)


def _print_names(sides: Mapping[str, Side]) -> None:
    """Say who plays under which name, where that is not plain."""
    for name, side in sides.items():
        if name != str(side):
            print_note(f"{name} is {side}")


def _request_id(wanted: pb.TournamentSettings, conditions: Conditions) -> str:
    """What the same command asks for again; a seed that was drawn by lot is no part of it."""
    asked = pb.TournamentSettings()
    asked.CopyFrom(wanted)
    if conditions.seed is None:
        asked.seed = 0
    return hashlib.sha256(asked.SerializeToString(deterministic=True)).hexdigest()


def _make(connection: Connection, wanted: pb.TournamentSettings, request_id: str) -> pb.Tournament:
    """The match, taken up again where the same command has left it cancelled."""
    made = make_tournament(connection, wanted, request_id)
    if request_id and made.state == pb.TOURNAMENT_STATE_CANCELLED:
        return set_state(connection, made.tournament_id, pb.TOURNAMENT_STATE_RUNNING)
    return made
