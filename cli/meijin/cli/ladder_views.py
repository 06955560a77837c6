"""Ladders as tables and files."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.table import Table

from meijin.cli.diagnosis_views import verdict
from meijin.cli.output import rate_text, score_text, table
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.standings import added, games_of, marks, verify_line

GAP = 2
"""Cells between two columns."""
NOTABLE_FACTOR = 1.05
"""Intervals that are so many times wider than for independent games are told of."""
NOTABLE_CORRELATION = 0.02
"""Of results of one opening, to be named as a cause."""
NOTABLE_PAIR_DEVIATION, NOTABLE_WALK = 10.0, 1.0
"""In Elo, to be named as a cause."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the standings."""

    title: str
    cell: Callable[[pb.Standing], str]
    rank: int
    """Those with the highest go first when the screen is narrow."""


def _score(row: pb.Standing) -> pb.Score:
    return added(row.as_black, row.as_white)


def share(score: pb.Score) -> str:
    """The share of the points that could be had."""
    return score_text(score.wins, score.draws, games_of(score))


def _faults(row: pb.Standing) -> str:
    """How many games it has forfeited, and their share."""
    games = games_of(_score(row))
    return f"{row.faults} ({row.faults / games:.0%})" if row.faults and games else str(row.faults)


def _drawn(row: pb.Standing) -> str:
    score = _score(row)
    return f"{score.draws / max(games_of(score), 1):.1%}"


def results(score: pb.Score) -> str:
    """Such as ``12-3-4``."""
    return f"{score.wins}-{score.draws}-{score.losses}"


def chance(row: pb.Standing) -> str:
    """That it is stronger than the next."""
    return f"{row.superiority:.1%}" if row.HasField("superiority") else ""


MARKS = {
    "A": "anchor",
    "?": "few games, or all won or all lost",
    "~": "no games lead to the others",
    "P": "paused, since it forfeited game after game",
    "V": "results vary with whom it meets, which ± allows for over all opponents, not for one",
    "C": "± too narrow: this bot's strength changes over time",
}


def _preview(row: pb.Standing) -> str:
    return f"{row.preview_elo:.0f}" if row.HasField("preview_elo") else ""


COLUMNS = (
    Column("Elo", lambda row: f"{row.elo:.0f}", 0),
    Column("±", lambda row: f"{row.margin:.0f}", 0),
    Column("now", _preview, 2),
    Column("games", lambda row: str(games_of(_score(row))), 0),
    Column("W-D-L", lambda row: results(_score(row)), 1),
    Column("score", lambda row: share(_score(row)), 0),
    Column("opponents", lambda row: f"{row.opponents_elo:.0f}", 4),
    Column("draws", _drawn, 5),
    Column("black", lambda row: share(row.as_black), 6),
    Column("white", lambda row: share(row.as_white), 6),
    Column("LOS", chance, 1),
    Column("classic", lambda row: f"{row.classic_elo:.0f}", 3),
    Column("faults", _faults, 1),
    Column("marks", marks, 0),
    Column("nodes/s", lambda row: rate_text(row.nodes_per_second), 7),
    Column("hardware", lambda row: row.hardware, 7),
)


def ladder_table(response: pb.GetStandingsResponse, width: int, top: int = 0) -> Table:
    """A ladder's standings, as many columns of them as the screen has room for."""
    rows = response.standings[: top or None]
    names = version_names(response.standings)
    left = [(str(row.rank), names[row.bot, row.version]) for row in rows]
    shown = _fitting(rows, width - _width(["#", "bot"], left))
    titles = ("#", "bot", *(column.title for column in shown))
    made = table(f"Ladder {response.ladder.name}", titles, text_columns=2)
    for row, cells in zip(rows, left, strict=True):
        made.add_row(*cells, *(column.cell(row) for column in shown))
    return made


def _fitting(rows: Sequence[pb.Standing], width: int) -> list[Column]:
    """The columns that say something, without the least important if there is no room."""
    shown = [column for column in COLUMNS if any(column.cell(row) for row in rows)]
    while shown and _columns_width(shown, rows) > width:
        shown.remove(max(reversed(shown), key=lambda column: column.rank))
    return shown


def _columns_width(columns: Sequence[Column], rows: Sequence[pb.Standing]) -> int:
    cells = [[column.cell(row) for column in columns] for row in rows]
    return _width([column.title for column in columns], cells)


def _width(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    columns = zip(titles, *rows, strict=True)
    return sum(GAP + max(map(cell_len, column)) for column in columns)


def version_names(rows: Sequence[pb.Standing]) -> dict[tuple[str, str], str]:
    """What each version is called: its bot, and its label where there are several."""
    versions = Counter(row.bot for row in rows)
    return {
        (row.bot, row.version): f"{row.bot} {row.version}" if versions[row.bot] > 1 else row.bot
        for row in rows
    }


def _mean(rows: Iterable[pb.Standing]) -> str:
    """Of whom 1500 is the mean: of all, as long as nobody has played enough."""
    if all(row.provisional for row in rows):
        return "the mean of all"
    return "the mean of the established and active"


def notes(response: pb.GetStandingsResponse) -> list[str]:
    """What one has to know to read the table, or to cite it."""
    run = response.run
    if not response.HasField("run"):
        return [f"{response.ladder.name}: no ratings yet; the first rated games bring them"]
    left_out = f", {run.repeats} repeats left out" if run.repeats else ""
    time, checksum = f"{run.create_time.ToDatetime():%Y-%m-%d %H:%M} UTC", run.checksum[:12]
    anchored = any(row.anchor for row in response.standings)
    mean = "the anchors" if anchored else _mean(response.standings)
    said = [
        f"run {run.run_id} of {time} from {run.games} games{left_out}; checksum {checksum}",
        f"± is half of the 95 % interval relative to {mean} at 1500",
        f"moving first is worth {run.advantage:+.0f} Elo{_priors(run)}",
        f"100 Elo more score {run.score_at_100:.1%}",
        *_overdispersion(run.overdispersion),
    ]
    if run.fit.rejected:
        said.append(f"{verdict(run.fit)}; see --diagnose")
    if run.final_of:
        said.append(f"the final run of tournament {run.final_of}, which settled the ladder")
    seen = {mark for row in response.standings for mark in marks(row)}
    if seen:
        said.append(", ".join(f"{mark} {text}" for mark, text in MARKS.items() if mark in seen))
    return said


def _priors(run: pb.RatingRun) -> str:
    """How far openings and versions deviate, as far as the run tells."""
    said = ""
    if run.opening_deviation:
        said += f", give or take {run.opening_deviation:.0f} with the opening"
    if run.HasField("lineage_deviation"):
        said += f"; versions deviate from their parents by {run.lineage_deviation:.0f}"
    return said


def _overdispersion(found: pb.Overdispersion) -> list[str]:
    """Why intervals are wider than independent games would make them, if they are."""
    if found.factor < NOTABLE_FACTOR:
        return []
    causes = []
    if found.correlation >= NOTABLE_CORRELATION:
        causes.append(f"results of one opening hang together (correlation {found.correlation:.2f})")
    if found.pair_deviation >= NOTABLE_PAIR_DEVIATION:
        causes.append(f"results depend on who meets whom (by {found.pair_deviation:.0f} Elo)")
    if found.walk_deviation >= NOTABLE_WALK:
        causes.append(f"strengths may wander (by {found.walk_deviation:.1f} Elo a game)")
    wider = f"intervals are {found.factor:.2f} times as wide as if games were independent"
    return [": ".join((wider, " and ".join(causes))) if causes else wider]


def final_lines(response: pb.GetStandingsResponse) -> list[str]:
    """How to cite a final run, and how to prove it."""
    run, name = response.run, response.ladder.name
    return [
        f"final run {run.run_id} of {name} from {run.games} games; checksum {run.checksum}",
        verify_line(name, run.run_id),
    ]


def matrix_table(response: pb.GetMatrixResponse) -> Table:
    """The chances that the row's version is stronger than the column's, in per cent."""
    names = version_names([row.standing for row in response.rows])
    numbers = [_rank(row.standing) for row in response.rows]
    made = table(f"Ladder {response.ladder.name}", ("#", "bot", "Elo", *numbers), text_columns=2)
    for place, row in enumerate(response.rows):
        standing = row.standing
        cells = [
            "·" if place == other else percent(cell.superiority)
            for other, cell in enumerate(row.cells)
        ]
        name = names[standing.bot, standing.version]
        made.add_row(_rank(standing), name, f"{standing.elo:.0f}", *cells)
    return made


def _rank(row: pb.Standing) -> str:
    """Its place; a hidden bot has none."""
    return str(row.rank) if row.rank else "-"


def percent(share: float) -> str:
    """In whole per cent, and no 0 or 100 for what may be otherwise."""
    if 0 < share < 0.01:  # noqa: PLR2004 - one per cent
        return "<1"
    if 0.99 < share < 1:  # noqa: PLR2004
        return ">99"
    return f"{100 * share:.0f}"


def head_to_head_table(bot: str, opponent: str, response: pb.GetHeadToHeadResponse) -> Table:
    """What a version scored against another by colours, beside what is to be expected."""
    expected = response.expectation if response.HasField("expectation") else None
    made = table(f"{bot} against {opponent}", ("as", "games", "W-D-L", "score", "expected"))
    clean = response.without_faults
    lines = (
        ("black", response.as_black, expected and expected.score_as_black),
        ("white", response.as_white, expected and expected.score_as_white),
        ("both", added(response.as_black, response.as_white), None),
        ("without forfeits", added(clean.as_black, clean.as_white), None),
    )
    for color, score, points in lines:
        expectation = "" if points is None else f"{points:.1%}"
        made.add_row(color, str(games_of(score)), results(score), share(score), expectation)
    return made


def openings_table(response: pb.GetHeadToHeadResponse, most: int) -> Table:
    """What a version scored against another on each opening, the most played first."""
    made = table("By openings", ("opening", "games", "black", "white", "score"))
    for row in response.openings[:most]:
        black, white = row.scores.as_black, row.scores.as_white
        both = added(black, white)
        made.add_row(
            row.opening or "empty board",
            str(games_of(both)),
            results(black),
            results(white),
            share(both),
        )
    return made
