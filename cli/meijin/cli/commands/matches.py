"""`meijin match`: two bots against each other."""

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from meijin.arena.errors import LeftTournamentError
from meijin.arena.local import local_arena
from meijin.cli.completion import players
from meijin.cli.connection import (
    USUAL_SERVER,
    Connection,
    JsonOption,
    Server,
    TokenOption,
    connect,
    with_server,
)
from meijin.cli.errors import CommandError
from meijin.cli.follow import follow
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
    make_tournament,
    settings,
)
from meijin.cli.output import console, print_json, print_note, score_text
from meijin.cli.sprt import EXIT_STATUS, Scale, Unit, outcome_lines, requested_test
from meijin.v1 import tournament_service_pb2 as pb

DEFAULT_GAMES = 10


@with_server
def match(
    first: Annotated[
        str,
        typer.Argument(
            help="A bot on the server; with --local a bot to run.", autocompletion=players
        ),
    ],
    second: Annotated[str, typer.Argument(help="The other one.", autocompletion=players)],
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
    variant: VariantOption = DEFAULT_VARIANT,
    opening_rule: OpeningRuleOption = DEFAULT_OPENING_RULE,
    seed: SeedOption = None,
    openings: OpeningsOption = None,
    concurrency: ConcurrencyOption = 0,
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
    server: Server = USUAL_SERVER,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play a match between two bots and print the score.

    meijin match alphabeta mcts --local --games 4 --time 0.5/move needs no server.

    With --sprt the match ends when the test is decided, and the status is 0 whichever way it was;
    it is 3 when the games were used up before, and 4 when the bots only repeat games that they
    have played. With --json the field tournament.sprt.decision is SPRT_DECISION_ELO0,
    SPRT_DECISION_ELO1, SPRT_DECISION_OPEN or SPRT_DECISION_NOTHING_NEW.
    """
    if data is not None and not local:
        raise CommandError("--data goes with --local; a server has a folder of its own")
    test = requested_test(sprt, alpha=alpha, beta=beta, scale=sprt_scale, unit=sprt_unit)
    names = _names(first, second) if local else [first, second]
    wanted = settings(
        names,
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
    if test is not None:
        _set_test(wanted, test, games)
    request_id = "" if data is None else _request_id(wanted, with_seed=seed is not None)
    arena: AbstractContextManager[Connection] = connect(server, token)
    if local:
        arena = _local(dict(zip(names, (first, second), strict=True)), data)
    with arena as connection:
        response = follow(connection, make_tournament(connection, wanted, request_id))
    _print(names[0], names[1], response, as_json=as_json)


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


def _names(first: str, second: str) -> list[str]:
    """Names to play under: the files' own names, told apart if they are the same."""
    names = [Path(spec.partition(":")[0]).stem for spec in (first, second)]
    return names if names[0] != names[1] else [f"{names[0]}-1", f"{names[1]}-2"]


@contextmanager
def _local(bots: dict[str, str], data: Path | None) -> Iterator[Connection]:
    """An arena of the match's own, in a folder that is kept or in one that is not."""
    with ExitStack() as stack:
        folder = data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="meijin-")))
        connection = stack.enter_context(local_arena(folder, bots, print_note))
        try:
            yield connection
        except LeftTournamentError:
            if data is None:
                raise
            message = f"interrupted; the same command goes on with what is in {data}"
            raise CommandError(message) from None


def _print(first: str, second: str, response: pb.GetTournamentResponse, *, as_json: bool) -> None:
    """Print how a match ended.

    Raises:
        typer.Exit: a test was to decide it, and did not.
    """
    found = response.tournament
    if as_json:
        print_json(response)
    else:
        console.print(_summary(first, second, response))
        if found.HasField("sprt"):
            console.print(*outcome_lines(found), sep="\n", soft_wrap=True)
    if found.HasField("sprt") and found.sprt.decision in EXIT_STATUS:
        raise typer.Exit(EXIT_STATUS[found.sprt.decision])


def _summary(first: str, second: str, response: pb.GetTournamentResponse) -> str:
    for cell in response.crosstable:
        if (cell.bot, cell.opponent) == (first, second):
            games = cell.wins + cell.draws + cell.losses
            score = f"+{cell.wins} ={cell.draws} -{cell.losses}"
            faults = {count.bot: count.faults for count in response.faults}
            return (
                f"{first} against {second}: {score}, {score_text(cell.wins, cell.draws, games)} "
                f"of {games} games; faults {faults.get(first, 0)} and {faults.get(second, 0)}"
            )
    raise CommandError("no game was finished")
