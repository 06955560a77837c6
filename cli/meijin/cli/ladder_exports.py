"""A ladder's published run as other rating tools and papers read it."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC
from enum import Enum
from importlib.metadata import version
from typing import IO, Any

from meijin.cli.connection import PAGE, Connection, pages
from meijin.cli.errors import CommandError, missing_part
from meijin.cli.follow import whole_table
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.standings import verify_line

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


def export_run(connection: Connection, ladder: str, form: RunFormat, file: IO[bytes]) -> None:
    """Write a ladder's published run.

    Raises:
        CommandError: there is none, or numpy is needed and not installed.
    """
    if form is RunFormat.NPZ:
        _write_npz(file, connection, ladder)
        return
    if form is RunFormat.MANIFEST:
        text: Iterable[str] = [
            json.dumps(manifest(published_table(connection, ladder)), indent=2) + "\n"
        ]
    else:
        counts = _pair_counts(connection, ladder)
        text = pairs_csv(counts) if form is RunFormat.PAIRS else pgn(counts)
    for part in text:
        file.write(part.encode())


def published_table(connection: Connection, ladder: str, run: str = "") -> pb.GetStandingsResponse:
    """A ladder's table with its run.

    Raises:
        CommandError: it has none yet.
    """
    table = whole_table(connection, ladder, run)
    if not table.HasField("run"):
        raise CommandError(f'ladder "{table.ladder.name}" has no run yet; play rated games')
    return table


def _pair_counts(connection: Connection, ladder: str) -> list[pb.PairCount]:
    request = pb.ListPairCountsRequest(ladder=ladder, page_size=PAGE)
    found = pages(connection.ask, connection.ladders.ListPairCounts, request)
    return [pair for page in found for pair in page.pair_counts]


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
        words = [each.bot]
        if bots[each.bot] > 1:
            words.append(each.version)
        is_told_apart = bots[each.bot] == 1 or (
            each.version and labels[each.bot, each.version] == 1
        )
        if not each.bot or not is_told_apart:
            words.append(f"#{key}")
        names[key] = " ".join(filter(None, words))
    return names


def _players(counts: Sequence[pb.PairCount]) -> dict[str, str]:
    return player_names(each for pair in counts for each in (pair.black, pair.white))


def pairs_csv(counts: Sequence[pb.PairCount]) -> Iterator[str]:
    """A line for each two versions and colours; the results are those of black."""
    names = _players(counts)
    lines = _Lines()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(("black", "white", "wins", "draws", "losses", "black_id", "white_id"))
    for pair in counts:
        keys = (pair.black.version_id, pair.white.version_id)
        score = pair.score
        writer.writerow(
            (*(names[key] for key in keys), score.wins, score.draws, score.losses, *keys)
        )
        yield lines.taken()
    yield lines.taken()


class _Lines:
    """A file for `csv.writer` that gives away what was written."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def write(self, line: str) -> None:
        self._lines.append(line)

    def taken(self) -> str:
        text = "".join(self._lines)
        self._lines.clear()
        return text


def pgn(counts: Sequence[pb.PairCount]) -> Iterator[str]:
    """A game for each that was counted: its players and its result.

    Who moved first is PGN's white, whose advantage the tools know; in this game that is black.
    """
    names = {key: name.translate(_TAG_ESCAPES) for key, name in _players(counts).items()}
    for pair in counts:
        first, second = names[pair.black.version_id], names[pair.white.version_id]
        score = pair.score
        times = (score.wins, score.draws, score.losses)
        for result, count in zip(RESULTS, times, strict=True):
            game = f'[White "{first}"]\n[Black "{second}"]\n[Result "{result}"]\n\n{result}\n\n'
            yield game * count


_TAG_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"'})


def manifest(table: pb.GetStandingsResponse) -> dict[str, Any]:
    """What a run is: everything that is needed to cite it and to compute it again."""
    run = table.run
    return {
        "ladder": table.ladder.name,
        "run": run.run_id,
        "create_time": run.create_time.ToDatetime(UTC).isoformat(),
        "games": run.games,
        "repeats": run.repeats,
        "cutoff": run.cutoff,
        "checksum": run.checksum,
        "algorithm": run.algorithm,
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
    try:
        import numpy as np  # noqa: PLC0415 - not in the bare installation
    except ModuleNotFoundError as error:
        raise missing_part(error) from None
    request = pb.ListCovariancesRequest(ladder=ladder, page_size=PAGE)
    found = list(pages(connection.ask, connection.ladders.ListCovariances, request))
    run, rows = found[0].run, [row for page in found for row in page.rows]
    table = published_table(connection, ladder, run.run_id)
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
    """How to cite a run: a sentence, a BibTeX entry, and how to check it."""
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
