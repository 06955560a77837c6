"""`meijin tune`: better values for the options of a bot or an engine, found by games."""

import os
import secrets
import time as clock
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from meijin.bots import BUILT_IN, load_bot
from meijin.cli.command import Output, option
from meijin.cli.errors import CommandError
from meijin.cli.ladder.history import check_picture, figures
from meijin.cli.match.players import MatchFolder, parse_side
from meijin.cli.options import (
    DEFAULT_TIME,
    DEFAULT_VARIANT,
    MAX_INT64,
    MAX_UINT32,
    MaxFaultsOption,
    TimeOption,
    VariantOption,
    board_of,
    openings_for_games,
    parsed,
)
from meijin.cli.output import print_note
from meijin.cli.tables import duration_text, number, table, text
from meijin.game import TimeControl
from meijin.local.errors import BotLostError
from meijin.local.match_play import check_player
from meijin.local.match_settings import USUAL_MAX_FAULTS
from meijin.local.sides import Side
from meijin.local.tuning.pair_pool import PairSettings, pair_pool
from meijin.local.tuning.parameter import Parameter, parse_parameters
from meijin.local.tuning.spsa import Spsa
from meijin.local.tuning.tuner import play_trials, take_up
from meijin.local.tuning.tuning_log import TuningLog
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.contract import MAX_OPENINGS
from meijin.wire.values import time_control_to_proto, variant_to_proto
from meijin.worker.cores import cores

NOTES = 20
"""How often it is said where a tuning stands."""
USUAL_TUNING_GAMES = 4000
AHEAD = 2
"""Pairs in play or ready to be, for each game at once: no core waits for a long game."""
BARS = "▁▂▃▄▅▆▇█"
WIDTH = 32
"""Characters of a path."""


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
        int, option("How many, an even number; half of them are one step each.", 2, MAX_UINT32)
    ] = USUAL_TUNING_GAMES,
    time: TimeOption = DEFAULT_TIME,
    *,
    variant: VariantOption = DEFAULT_VARIANT,
    openings: Annotated[
        Path | None, "A file of openings, as `meijin play` takes it; else our balanced ones."
    ] = None,
    seed: Annotated[
        int | None, option("Directions and openings; drawn by lot when left out.", 0, MAX_INT64)
    ] = None,
    concurrency: Annotated[int, option("Games at once; 0 for the number of cores.", 0, 4096)] = 0,
    max_faults: MaxFaultsOption = USUAL_MAX_FAULTS,
    data: Annotated[
        Path | None,
        option(
            "A folder to keep the results in: the same command takes an interrupted one up again.",
            flags=("--data", "--resume"),
        ),
    ] = None,
    plot: Annotated[Path | None, "A PNG, SVG or PDF file to draw the path in."] = None,
) -> Output:
    """Tune numbers that a bot or an engine is given, by SPSA, on all cores.

    meijin tune alphabeta --param level=1..7 --games 400 --time 1/move

    Each step is a pair of games between neighbours of the current values, which move towards the
    winner. They start at the side's own options, or in the middle of the range.
    """
    if not hasattr(os, "fork"):
        raise CommandError("games are played on Linux and macOS; on Windows use WSL")
    if games % 2:
        raise CommandError(f"--games {games} is odd; games come in pairs")
    if plot is not None:
        check_picture(plot)
    side = parse_side(spec)
    try:
        parameters = parse_parameters(param, side.options)
    except ValueError as error:
        raise CommandError(f"--param: {error}") from None
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
        "pairs": games // 2,
        "time": str(settings.time),
        "variant": str(board),
        "openings": [opening.hex() for opening in settings.openings],
        **({} if seed is None else {"seed": seed}),
    }
    at_once = concurrency or len(cores())
    drawn = {"seed": secrets.randbits(31) if seed is None else seed, "window": AHEAD * at_once}
    with MatchFolder(data) as folder, TuningLog(folder.path, asked, drawn) as log:
        seed = log.drawn["seed"]
        spsa = Spsa(parameters, games // 2, seed=seed, window=log.drawn["window"])
        take_up(spsa, log)
        if not spsa.is_over:
            with (
                explaining(spsa, folder),
                pair_pool(
                    side, parameters, settings, folder.path, seed=seed, games=at_once
                ) as pool,
            ):
                play_trials(spsa, log, pool, Progress(spsa).note)
    if plot is not None:
        save_path(spsa, side.own_name, plot)
    return Output(_fields(spsa, side, seed), _lines(spsa, side, plot))


@contextmanager
def explaining(spsa: Spsa, folder: MatchFolder) -> Iterator[None]:
    """Say how an interrupted tuning goes on, and where the logs are of one that can't."""
    try:
        yield
    except KeyboardInterrupt:
        raise CommandError(_left(spsa, folder)) from None
    except BotLostError as error:
        raise BotLostError(f"{error}; logs: {folder.keep_logs()}") from None


def check_values(side: Side, parameters: Sequence[Parameter], settings: PairSettings) -> None:
    """See that a built-in bot takes both ends of the ranges, and plays what is wanted."""
    if side.bot not in BUILT_IN:
        return
    wanted = pb.TournamentSettings(
        variant=variant_to_proto(settings.variant),
        time_control=time_control_to_proto(settings.time),
    )
    for value in ("low", "high"):
        ends = {each.name: each.text(getattr(each, value)) for each in parameters}
        bot = load_bot(side.bot, _with(side, ends).settings)
    check_player(side.own_name, bot.capabilities, wanted)


def _with(side: Side, options: Mapping[str, str]) -> Side:
    return replace(side, options={**side.options, **options})


@dataclass(slots=True)
class Progress:
    """Says now and then where a tuning stands."""

    spsa: Spsa
    _begin: float = field(default_factory=clock.monotonic)
    _first: int = field(init=False)
    _noted: int = field(init=False)

    def __post_init__(self) -> None:
        self._first = len(self.spsa.path) - 1
        self._noted = self._first * NOTES // self.spsa.pairs
        if self._first:
            print_note(f"going on after {2 * self._first} games")

    def note(self) -> None:
        spsa = self.spsa
        done = len(spsa.path) - 1
        if (share := done * NOTES // spsa.pairs) == self._noted:
            return
        self._noted = share
        values = ", ".join(
            f"{each.name} {_short(value)} ± {spread:.2g}"
            for each, value, spread in zip(spsa.parameters, spsa.values, spsa.spread(), strict=True)
        )
        left = (clock.monotonic() - self._begin) / (done - self._first) * (spsa.pairs - done)
        more = f"; {duration_text(timedelta(seconds=left))} left" if done < spsa.pairs else ""
        print_note(f"{2 * done}/{2 * spsa.pairs} games: {values}{more}")


def _left(spsa: Spsa, folder: MatchFolder) -> str:
    """What is said when a tuning is interrupted."""
    if folder.is_given:
        return f"interrupted; the same command goes on with what is in {folder.path}"
    values = ", ".join(
        f"{each.name} {_short(value)}"
        for each, value in zip(spsa.parameters, spsa.values, strict=True)
    )
    done = 2 * (len(spsa.path) - 1)
    return f"interrupted after {done} games at {values}; with --data it could go on"


def _short(value: float) -> str:
    return f"{value:.4g}"


def _tuned(spsa: Spsa) -> dict[str, str]:
    """The values that a tuning has come to, as the side is given them."""
    return {
        each.name: each.text(value)
        for each, value in zip(spsa.parameters, spsa.values, strict=True)
    }


def _fields(spsa: Spsa, side: Side, seed: int) -> dict[str, object]:
    tuned = _tuned(spsa)
    rows = zip(
        spsa.parameters, spsa.values, spsa.spread(), zip(*spsa.path, strict=True), strict=True
    )
    return {
        "side": written(_with(side, tuned)),
        "games": 2 * (len(spsa.path) - 1),
        "seed": seed,
        "parameters": [
            {
                "name": each.name,
                "low": each.low,
                "high": each.high,
                "start": each.start,
                "end": value,
                "spread": spread,
                "value": tuned[each.name],
                "path": path,
            }
            for each, value, spread, path in rows
        ],
    }


def written(side: Side) -> str:
    """A side as `meijin play` reads it."""
    return (
        str(side)
        if side.bot
        else " ".join(
            (str(replace(side, options={})), *(f"option.{each}" for each in side.settings))
        )
    )


def _lines(spsa: Spsa, side: Side, plot: Path | None) -> Iterator[Table | str]:
    rows = zip(
        spsa.parameters, spsa.values, spsa.spread(), zip(*spsa.path, strict=True), strict=True
    )
    columns = (
        text("parameter", lambda row: row[0].name),
        text("range", lambda row: f"{row[0].low:g}..{row[0].high:g}"),
        number("start", lambda row: _short(row[0].start)),
        number("end", lambda row: _short(row[1])),
        number("±", lambda row: f"{row[2]:.2g}"),
        text("path", lambda row: sparkline(row[3], row[0].low, row[0].high), no_wrap=True),
    )
    yield table(f"{side.own_name} after {2 * (len(spsa.path) - 1)} games", columns, rows)
    yield f"tuned: {written(_with(side, _tuned(spsa)))}"
    if plot is not None:
        yield f"drawn in {plot}"


def sparkline(path: Sequence[float], low: float, high: float) -> str:
    """A path in a line of bars, as high as the values stand in their range."""
    count = min(WIDTH, len(path))
    taken = [path[round(at * (len(path) - 1) / max(1, count - 1))] for at in range(count)]
    top = len(BARS) - 1
    return "".join(BARS[round((value - low) / (high - low) * top)] for value in taken)


def save_path(spsa: Spsa, title: str, path: Path) -> None:
    """The path of each parameter over the games, as a picture in the format of its name."""
    figure = figures().Figure(figsize=(10, 1 + 3 * len(spsa.parameters)), layout="constrained")
    figure.suptitle(title)
    grid = figure.subplots(len(spsa.parameters), sharex=True, squeeze=False)
    for axes, each, values in zip(
        grid.flat, spsa.parameters, zip(*spsa.path, strict=True), strict=True
    ):
        axes.plot(range(0, 2 * len(values), 2), values)
        axes.set_ylim(each.low, each.high)
        axes.set_ylabel(each.name, parse_math=False)
        axes.grid(visible=True, alpha=0.3)
    grid.flat[-1].set_xlabel("games")
    try:
        figure.savefig(path)
    except OSError as error:
        raise CommandError(f"can't write {path}: {error.strerror}") from None
