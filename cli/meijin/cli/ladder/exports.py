"""`meijin ladder export` and `cite`: a published run for other tools and for papers."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC
from enum import Enum
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from meijin.cli.command import Output
from meijin.cli.errors import needed_parts
from meijin.cli.files import byte_output
from meijin.cli.ladder.standings import published_table
from meijin.cli.options import LadderArgument, RunOption
from meijin.cli.output import console, print_file
from meijin.local.connection import Connection, read_list
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.standings import verify_line
from meijin.wire.text import to_csv

RESULTS = ("1-0", "1/2-1/2", "0-1")
"""A game won, drawn and lost by who moved first, as PGN has them."""


class RunFormat(str, Enum):
    """What a run is written as."""

    PAIRS = "pairs"
    """Who met whom with which colours: CSV."""
    PGN = "pgn"
    """The same as games without moves, which BayesElo and Ordo read: Portable Game Notation."""
    NPZ = "npz"
    """Ratings and the whole covariance matrix: arrays for numpy."""
    MANIFEST = "manifest"
    """What the run is, and what it was computed with: JSON."""


def export(
    connection: Connection,
    form: Annotated[
        RunFormat,
        typer.Argument(
            metavar="FORMAT",
            help="pairs: who met whom, as CSV. pgn: the games without moves, for BayesElo and "
            "Ordo. npz: ratings and covariances, for numpy. manifest: the run itself, as JSON.",
        ),
    ],
    name: LadderArgument = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file; else standard output.")
    ] = None,
) -> None:
    """Write a ladder's published run for other tools.

    In PGN the one who moved first is "White", since that is whose advantage the tools know;
    in Gomoku it has the black stones.
    """
    with byte_output(output, form.value, force=True, is_text=form is not RunFormat.NPZ) as file:
        _write(connection, name, form, file)
    if output is not None:
        console.print(f"written to {output}", soft_wrap=True)


def _write(connection: Connection, ladder: str, form: RunFormat, file: IO[bytes]) -> None:
    if form is RunFormat.NPZ:
        _write_npz(file, connection, ladder)
        return
    if form is RunFormat.MANIFEST:
        table = published_table(connection, ladder)
        text: Iterable[str] = [json.dumps(manifest(table), indent=2) + "\n"]
    else:
        request = pb.ListPairCountsRequest(ladder=ladder)
        method = connection.ladders.ListPairCounts
        counts = read_list(connection.ask, method, request).pair_counts
        text = [pairs_csv(counts)] if form is RunFormat.PAIRS else pgn(counts)
    for part in text:
        file.write(part.encode())


def cite(connection: Connection, name: LadderArgument = "", run: RunOption = "") -> Output:
    """Print how to cite a ladder's run, with a BibTeX entry, and how to check it."""
    table = published_table(connection, name, run)
    return Output(manifest(table), [partial(print_file, f"{citation(table)}\n")])


def player_names(versions: Iterable[pb.RatedVersion]) -> dict[str, str]:
    """What each version is called, by its id, so that no two are called the same.

    A bot's only version has its name, others the label behind it, and those with one label
    their id; those of hidden bots have nothing but that.
    """
    known = {each.version_id: each for each in versions}
    bots = Counter(each.bot for each in known.values())
    labels = Counter((each.bot, each.version) for each in known.values())
    names = {}
    for key, each in known.items():
        is_only = bots[each.bot] == 1
        is_told_apart = is_only or (each.version and labels[each.bot, each.version] == 1)
        label = "" if is_only else each.version
        number = "" if each.bot and is_told_apart else f"#{key}"
        names[key] = " ".join(filter(None, (each.bot, label, number)))
    return names


def _players(counts: Sequence[pb.PairCount]) -> dict[str, str]:
    return player_names(each for pair in counts for each in (pair.black, pair.white))


def pairs_csv(counts: Sequence[pb.PairCount]) -> str:
    """A line for each two versions and colours; the results are those of black."""
    names = _players(counts)
    rows: list[tuple[object, ...]] = [
        ("black", "white", "wins", "draws", "losses", "black_id", "white_id")
    ]
    for pair in counts:
        keys = (pair.black.version_id, pair.white.version_id)
        score = (pair.score.wins, pair.score.draws, pair.score.losses)
        rows.append((*(names[key] for key in keys), *score, *keys))
    return to_csv(rows)


def pgn(counts: Sequence[pb.PairCount]) -> Iterator[str]:
    """A game for each that was counted: its players and its result.

    Who moved first is PGN's white, whose advantage the tools know; in this game that is black.
    """
    names = {key: name.translate(_TAG_ESCAPES) for key, name in _players(counts).items()}
    for pair in counts:
        first, second = names[pair.black.version_id], names[pair.white.version_id]
        times = (pair.score.wins, pair.score.draws, pair.score.losses)
        for result, count in zip(RESULTS, times, strict=True):
            game = f'[White "{first}"]\n[Black "{second}"]\n[Result "{result}"]\n\n{result}\n\n'
            yield game * count


_TAG_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"'})


def manifest(table: pb.GetStandingsResponse) -> dict[str, Any]:
    """What a run is: everything that is needed to cite it and to compute it again."""
    run = table.run
    plain = ("games", "repeats", "cutoff", "checksum", "algorithm")
    return {
        "ladder": table.ladder.name,
        "run": run.run_id,
        "create_time": run.create_time.ToDatetime(UTC).isoformat(),
        **{name: getattr(run, name) for name in plain},
        "parameters": json.loads(run.parameters),
        "versions": [
            {"id": row.version_id, "bot": row.bot, "version": row.version, "rank": row.rank}
            for row in table.standings
        ],
        "software": f"meijin {version('meijin')}",
        "verify": verify_line(table.ladder.name, table.run.run_id),
    }


def _write_npz(file: IO[bytes], connection: Connection, ladder: str) -> None:
    """Arrays by version, in one order: `version_id`, `name`, `elo`, `margin`, `covariance`.

    The covariances are in Elo squared, up to a constant: variances of differences follow from
    them.
    """
    with needed_parts():
        import numpy as np  # noqa: PLC0415 - not in the bare installation
    request = pb.ListCovariancesRequest(ladder=ladder)
    found = read_list(connection.ask, connection.ladders.ListCovariances, request)
    rows = found.rows
    table = published_table(connection, ladder, found.run.run_id)
    lines = {row.version_id: row for row in table.standings}
    keys = [row.version.version_id for row in rows]
    names = player_names(row.version for row in rows)

    def column(value: Callable[[pb.Standing], float]) -> Any:  # noqa: ANN401 - an array of numpy
        return np.array([value(lines[key]) if key in lines else np.nan for key in keys])

    np.savez_compressed(
        file,
        version_id=np.array(keys, dtype=np.int64),
        name=np.array([names[key] for key in keys]),
        elo=column(lambda row: row.elo),
        margin=column(lambda row: row.margin),
        covariance=np.array([row.values for row in rows], dtype=np.float32),
        manifest=np.array(json.dumps(manifest(table))),
    )


def citation(table: pb.GetStandingsResponse) -> str:
    run = table.run
    name, day = table.ladder.name, run.create_time.ToDatetime(UTC)
    title = f"Gomoku ladder {name}, run {run.run_id}"
    facts = (
        f"{run.games} rated games, {len(table.standings)} rated versions, algorithm "
        f"{run.algorithm}, input SHA-256 {run.checksum}"
    )
    software = f"Meijin {version('meijin')}"
    return (
        f"{title}, {day:%Y-%m-%d} (UTC): {facts}. Computed by {software}.\n"
        f"Check: {verify_line(table.ladder.name, table.run.run_id)}\n\n"
        f"@misc{{meijin-{name}-{run.run_id},\n"
        f"  title = {{{title}}},\n"
        f"  year = {{{day:%Y}}},\n"
        f"  month = {{{day.month}}},\n"
        f"  day = {{{day.day}}},\n"
        f"  howpublished = {{{software}}},\n"
        f"  note = {{{facts}}}\n"
        "}"
    )
