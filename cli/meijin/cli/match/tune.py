"""`meijin tune`: better values for the options of a bot or an engine, found by games."""

import os
import secrets
import time as clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from meijin.bots import BUILT_IN, load_bot
from meijin.cli.command import Output, option
from meijin.cli.errors import CommandError, needed_parts
from meijin.cli.ladder.history import check_picture
from meijin.cli.match.players import MatchFolder, parse_side
from meijin.cli.options import (
    DEFAULT_TIME,
    DEFAULT_VARIANT,
    MAX_UINT32,
    MaxFaultsOption,
    TimeOption,
    VariantOption,
    board_of,
    openings_for_games,
    parsed,
)
from meijin.cli.output import print_note
from meijin.cli.tables import duration_text
from meijin.game import TimeControl
from meijin.local.errors import BotLostError
from meijin.local.match_play import check_player
from meijin.local.match_settings import USUAL_MAX_FAULTS
from meijin.local.sides import Side
from meijin.local.tuning.pair_pool import PairPool, PairSettings, pair_pool
from meijin.local.tuning.parameter import Parameter, parse_parameters, tried_values
from meijin.local.tuning.spsa import Spsa
from meijin.local.tuning.trial import Trials
from meijin.local.tuning.tuner import play_trials, take_up
from meijin.local.tuning.tuning_log import TuningLog
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.contract import MAX_OPENINGS, MAX_SEED
from meijin.wire.values import time_control_to_proto, variant_to_proto
from meijin.worker.cores import cores

if TYPE_CHECKING:
    from meijin.cli.match.tuning_results import Comparison, Search

NOTES = 20
"""How often it is said where a tuning stands."""
COMPARISON_NOTES = 4
"""The same of the games at its end."""
USUAL_TUNING_GAMES = 4000
COMPARED = 4
"""One game of the comparison at the end for so many of the tuning."""
AHEAD = 2
"""Pairs in play or ready to be, for each game at once: no core waits for a long game."""


def tune(
    spec: Annotated[
        str, typer.Argument(metavar="SIDE", help="A bot or an engine, as `meijin play` takes it.")
    ],
    param: Annotated[
        list[str],
        option(
            "An option and its range, of integers or of floats as its ends are; repeatable.",
            metavar="NAME=LOW..HIGH",
        ),
    ],
    games: Annotated[
        int,
        option(
            "How many, an even number; with SPSA half of them are one step each.", 2, MAX_UINT32
        ),
    ] = USUAL_TUNING_GAMES,
    grid: Annotated[
        int | None,
        option(
            "So many values of each parameter meet each other, and a curve is fitted; else SPSA.",
            3,
            MAX_UINT32,
            metavar="VALUES",
        ),
    ] = None,
    compare: Annotated[
        int | None,
        option(
            "Games at the end, besides --games: the values found against those at the start; "
            "a quarter of --games when left out.",
            0,
            MAX_UINT32,
            metavar="GAMES",
        ),
    ] = None,
    time: TimeOption = DEFAULT_TIME,
    *,
    variant: VariantOption = DEFAULT_VARIANT,
    openings: Annotated[
        Path | None, "A file of openings, as `meijin play` takes it; else our balanced ones."
    ] = None,
    seed: Annotated[
        int | None, option("Directions and openings; drawn by lot when left out.", 0, MAX_SEED)
    ] = None,
    concurrency: Annotated[
        int, option("Games at once; 0 for as many as the cores bear.", 0, 1024)
    ] = 0,
    max_faults: MaxFaultsOption = USUAL_MAX_FAULTS,
    data: Annotated[
        Path | None,
        option(
            "A folder to keep the results in: the same command takes an interrupted one up again.",
            flags=("--data", "--resume"),
        ),
    ] = None,
    plot: Annotated[
        Path | None, "A PNG, SVG or PDF file to draw the path in, or with --grid the curves."
    ] = None,
) -> Output:
    """Tune numbers that a bot or an engine is given, on all cores.

    meijin tune alphabeta --param level=1..7 --games 400 --time 1/move

    By SPSA each step is a pair of games between neighbours of the current values, which move
    towards the winner. They start at the side's own options, or in the middle of the range. With
    --grid pairs are between values spread over the ranges, and a polynomial of the second degree
    is fitted to the results; its best values have 95 % intervals.

    Then the values found play the first ones.
    """
    if not hasattr(os, "fork"):
        raise CommandError("games are played on Linux and macOS; on Windows use WSL")
    with needed_parts():
        from meijin.cli.match.tuning_results import (  # noqa: PLC0415 - they need numpy
            Comparison,
            GridFit,
            Walk,
            save_picture,
        )
        from meijin.local.tuning.grid import Grid, grid_levels  # noqa: PLC0415 - likewise
    pairs = games // 2
    compared = pairs // COMPARED if compare is None else compare // 2
    for name, count in (("--games", games), ("--compare", compare or 0)):
        if count % 2:
            raise CommandError(f"{name} {count} is odd; games come in pairs")
    if plot is not None:
        check_picture(plot)
    side = parse_side(spec)
    try:
        parameters = parse_parameters(param, side.options)
    except ValueError as error:
        raise CommandError(f"--param: {error}") from None
    levels = None
    if grid is not None:
        levels = parsed(partial(grid_levels, count=grid, pairs=pairs), parameters)
    board = board_of(variant, "free")
    settings = PairSettings(
        board,
        side.time or parsed(TimeControl.parse, time),
        openings_for_games(openings, board, MAX_OPENINGS, "a tuning"),
        max_faults,
    )
    check_values(side, parameters, settings)
    asked = {
        "side": asdict(side.plan(side.own_name)),
        "parameters": param,
        "pairs": pairs,
        "time": str(settings.time),
        "variant": str(board),
        "openings": [opening.hex() for opening in settings.openings],
        **({} if seed is None else {"seed": seed}),
        **({} if grid is None else {"grid": grid}),
    }
    at_once = concurrency or max(1, len(cores()) // side.threads)
    drawn = {"seed": secrets.randbits(31) if seed is None else seed, "window": AHEAD * at_once}
    with MatchFolder(data) as folder, TuningLog(folder.path, asked, drawn) as log:
        seed, window = log.drawn["seed"], log.drawn["window"]
        search: Search = (
            Walk(Spsa(parameters, pairs, seed=seed, window=window))
            if levels is None
            else GridFit(Grid(parameters, levels, seed=seed), pairs, seed=seed, window=window)
        )
        with explaining(search, folder), ExitStack() as stack:

            @cache
            def pool() -> PairPool:
                made = pair_pool(side, parameters, settings, folder.path, seed=seed, games=at_once)
                return stack.enter_context(made)

            play_left(search.trials, log, pool, search.standing, notes=NOTES)
            comparison = Comparison(search, compared, window=window)
            play_left(comparison.trials, log, pool, comparison.standing, notes=COMPARISON_NOTES)
    if plot is not None:
        save_picture(search, side.own_name, plot)
    tuned = written(replace(side, options={**side.options, **search.found}))
    fields = {"side": tuned, "seed": seed, **search.fields(), "comparison": comparison.fields()}
    return Output(fields, _lines(search, comparison, side.own_name, tuned, plot))


def _lines(
    search: "Search", comparison: "Comparison", name: str, tuned: str, plot: Path | None
) -> Iterator[Table | str]:
    yield search.table(f"{name} after {2 * search.done} games")
    yield f"tuned: {tuned}"
    yield from search.doubts()
    yield comparison.line()
    if plot is not None:
        yield f"drawn in {plot}"


def play_left(
    trials: Trials,
    log: TuningLog,
    pool: Callable[[], PairPool],
    standing: Callable[[], str],
    *,
    notes: int,
) -> None:
    """Play the trials that have no result in a log, and say now and then where they stand."""
    take_up(trials, log)
    if not trials.is_over:
        play_trials(trials, log, pool(), Progress(trials, standing, notes).note)


@contextmanager
def explaining(search: "Search", folder: MatchFolder) -> Iterator[None]:
    """Say how an interrupted tuning goes on, and where the logs are of one that can't."""
    try:
        yield
    except KeyboardInterrupt:
        raise CommandError(_left(search, folder)) from None
    except BotLostError as error:
        raise BotLostError(f"{error}; logs: {folder.keep_logs()}") from None


def _left(search: "Search", folder: MatchFolder) -> str:
    """What is said when a tuning is interrupted."""
    if folder.is_given:
        return f"interrupted; the same command goes on with what is in {folder.path}"
    done = f"interrupted after {2 * search.done} games"
    at = f" at {search.standing()}" if search.done else ""
    return f"{done}{at}; with --data it could go on"


def check_values(side: Side, parameters: Sequence[Parameter], settings: PairSettings) -> None:
    """See that a built-in bot takes values of the ranges, and plays what is wanted."""
    if side.bot not in BUILT_IN:
        return
    wanted = pb.TournamentSettings(
        variant=variant_to_proto(settings.variant),
        time_control=time_control_to_proto(settings.time),
    )
    for values in tried_values(parameters).values():
        bot = load_bot(side.bot, replace(side, options={**side.options, **values}).settings)
    check_player(side.own_name, bot.capabilities, wanted)


@dataclass(slots=True)
class Progress:
    """Says now and then where trials stand."""

    trials: Trials
    standing: Callable[[], str]
    notes: int
    _begin: float = field(default_factory=clock.monotonic)
    _first: int = field(init=False)
    _noted: int = field(init=False)

    def __post_init__(self) -> None:
        self._first = self.trials.done
        self._noted = self._first * self.notes // len(self.trials.numbers)
        if self._first:
            print_note(f"going on after {2 * self._first} games")

    def note(self) -> None:
        done, pairs = self.trials.done, len(self.trials.numbers)
        if (share := done * self.notes // pairs) == self._noted:
            return
        self._noted = share
        left = (clock.monotonic() - self._begin) / (done - self._first) * (pairs - done)
        more = f"; {duration_text(timedelta(seconds=left))} left" if done < pairs else ""
        print_note(f"{2 * done}/{2 * pairs} games: {self.standing()}{more}")


def written(side: Side) -> str:
    """A side as `meijin play` reads it."""
    return (
        str(side)
        if side.bot
        else " ".join(
            (str(replace(side, options={})), *(f"option.{each}" for each in side.settings))
        )
    )
