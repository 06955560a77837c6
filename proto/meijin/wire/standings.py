"""A ladder's table: its columns and marks, as pages and terminal show them, and the table as CSV."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from meijin.v1 import ladder_service_pb2 as pb
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.wire.text import memory_text, rate_text, spreadsheet_text, to_csv


@dataclass(frozen=True, slots=True)
class Mark:
    """A letter that a line may have."""

    letter: str
    meaning: str
    is_set: Callable[[pb.Standing], bool]
    is_warning: bool = False
    """The line's results are no plain strength."""


MARKS = {
    mark.letter: mark
    for mark in (
        Mark("A", "anchor: the anchors' mean is 1500", lambda row: row.anchor),
        Mark("?", "provisional: few games, or all won or all lost", lambda row: row.provisional),
        Mark(
            "~",
            "not linked: no games lead to the others, so nobody knows how it compares",
            lambda row: not row.linked,
        ),
        Mark(
            "P",
            "paused, since it forfeited game after game",
            lambda row: row.paused,
            is_warning=True,
        ),
        Mark(
            "V",
            "results vary with whom it meets, which ± allows for over all opponents, not for one",
            lambda row: row.depends_on_opponents,
            is_warning=True,
        ),
        Mark(
            "C",
            "its strength changes over time, which ± allows for",
            lambda row: row.changes_over_time,
            is_warning=True,
        ),
    )
}


def marks(row: pb.Standing) -> str:
    """The letters of the marks that a line has."""
    return "".join(mark.letter for mark in MARKS.values() if mark.is_set(row))


class Counts(Protocol):
    """Games won, drawn and lost, as many messages have them."""

    @property
    def wins(self) -> int: ...
    @property
    def draws(self) -> int: ...
    @property
    def losses(self) -> int: ...


def games_of(score: Counts) -> int:
    """How many games a score is of."""
    return score.wins + score.draws + score.losses


def added(one: Counts, other: Counts) -> pb.Score:
    """Both scores together."""
    return pb.Score(
        wins=one.wins + other.wins, draws=one.draws + other.draws, losses=one.losses + other.losses
    )


def points(score: Counts) -> float:
    """A draw is half of one."""
    return score.wins + score.draws / 2


def results(score: Counts) -> str:
    """Such as ``12-3-4``."""
    return f"{score.wins}-{score.draws}-{score.losses}"


def share(score: Counts) -> float | None:
    """The share of the points that could be had; ``None`` of no games."""
    games = games_of(score)
    return points(score) / games if games else None


def share_text(score: Counts) -> str:
    """The same, such as ``75.0%``; a dash of no games."""
    value = share(score)
    return "-" if value is None else f"{value:.1%}"


def crosstable_scores(response: tournament_pb.GetTournamentResponse) -> dict[str, pb.Score]:
    """What each bot of a tournament has scored altogether, best first."""
    scores = {bot: pb.Score() for bot in response.tournament.settings.bots}
    for cell in response.crosstable:
        scores[cell.bot] = added(scores.get(cell.bot, pb.Score()), cell)
    order = [row.bot for row in response.standings]
    order = order or sorted(scores, key=lambda bot: -points(scores[bot]))
    return {bot: scores.get(bot, pb.Score()) for bot in order}


def chance_text(chance: float) -> str:
    """In whole per cent, and no 0 or 100 for what may be otherwise."""
    if 0 < chance < 0.01:  # noqa: PLR2004 - one per cent
        return "<1"
    if 0.99 < chance < 1:  # noqa: PLR2004
        return ">99"
    return f"{100 * chance:.0f}"


def version_names(rows: Iterable[pb.Standing], shown: Callable[[str], str] = str) -> list[str]:
    """What each line's version is called: its bot, and its label where there are several.

    Args:
        shown: What people call a bot of a name.
    """
    rows = list(rows)
    versions = Counter(row.bot for row in rows)
    return [
        f"{shown(row.bot)} {row.version if versions[row.bot] > 1 else ''}".rstrip() for row in rows
    ]


def _total(row: pb.Standing) -> pb.Score:
    return added(row.as_black, row.as_white)


def elo_text(elo: float, bound: float | None, score: Counts) -> str:
    """A rating; of who has won, or lost, every game its bound, such as ``> 1960``."""
    if bound is None:
        return f"{elo:.0f}"
    return f"{'>' if score.wins else '<'} {bound:.0f}"


def _elo_text(row: pb.Standing) -> str:
    return elo_text(row.elo, row.bound if row.HasField("bound") else None, _total(row))


def _form(row: pb.Standing) -> float | None:
    """Not of who has won, or lost, every game: it is the prior's."""
    total = _total(row)
    is_one_sided = games_of(total) in {total.wins, total.losses}
    return row.form if row.HasField("form") and not is_one_sided else None


def _form_text(row: pb.Standing) -> str:
    form = _form(row)
    return "" if form is None else f"{form:.0f} ±{row.form_margin:.0f} ({row.form_games})"


def _drawn(row: pb.Standing) -> float | None:
    total = _total(row)
    games = games_of(total)
    return total.draws / games if games else None


def _faults_text(row: pb.Standing) -> str:
    games = games_of(_total(row))
    return f"{row.faults} ({row.faults / games:.0%})" if row.faults and games else str(row.faults)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table."""

    name: str
    """In addresses."""
    title: str
    hint: str
    key: Callable[[pb.Standing], float | str | None]
    """What lines are ordered by; ``None`` for a line that it says nothing of."""
    form: str | Callable[[pb.Standing], str] = ""
    """How the key is written: a format, or what writes the line's cell."""
    drop: int = 0
    """On a narrow screen those with the highest go first."""
    is_text: bool = False
    is_ascending: bool = False
    """The least comes first, when lines are first ordered by it."""

    def cell(self, row: pb.Standing) -> str:
        """What it says of a line."""
        if not isinstance(self.form, str):
            return self.form(row)
        value = self.key(row)
        return "" if value is None else format(value, self.form)


_COLUMNS = (
    Column(
        "rank",
        "#",
        "The place among the lines that the filters by hardware and speed leave.",
        lambda row: row.rank,
        is_ascending=True,
    ),
    Column(
        "bot",
        "bot",
        "The bot, with its version where several are shown.",
        lambda row: row.bot,
        is_text=True,
        is_ascending=True,
    ),
    Column(
        "elo",
        "Elo",
        "The rating by all rated games at once. Of who has won, or lost, every game: beyond which it "
        "is with a chance of 95 %.",
        lambda row: row.elo,
        _elo_text,
    ),
    Column(
        "margin",
        "±",
        "Half of the 95 % interval.",
        lambda row: None if row.HasField("bound") else row.margin,
        ".0f",
        is_ascending=True,
    ),
    Column(
        "preview",
        "now",
        "The rating after the games since the run, each taken in by one step.",
        lambda row: row.preview_elo if row.HasField("preview_elo") else None,
        ".0f",
        drop=2,
    ),
    Column(
        "form",
        "form",
        "What its last 100 games, or fewer, say alone: its strength in them, half of the 95 % "
        "interval, and how many they are.",
        _form,
        _form_text,
        drop=9,
    ),
    Column(
        "changed",
        "since",
        "Rated games since its strength changed at once, surer than chance.",
        lambda row: row.changed_games or None,
        ",d",
        drop=3,
    ),
    Column("games", "games", "Rated games.", lambda row: games_of(_total(row)), ",d"),
    Column(
        "results",
        "W-D-L",
        "Games won, drawn and lost.",
        lambda row: _total(row).wins,
        lambda row: results(_total(row)),
        drop=1,
    ),
    Column(
        "score",
        "score",
        "The share of the points that could be had.",
        lambda row: share(_total(row)),
        ".1%",
    ),
    Column(
        "superiority",
        "LOS",
        "The chance that it is stronger than the next.",
        lambda row: row.superiority if row.HasField("superiority") else None,
        ".1%",
        drop=1,
    ),
    Column(
        "faults",
        "faults",
        "Games lost by time, an illegal move, a crash or a disconnect.",
        lambda row: row.faults,
        _faults_text,
        drop=1,
    ),
    Column(
        "black",
        "black",
        "The score with the black stones.",
        lambda row: share(row.as_black),
        ".1%",
        drop=6,
    ),
    Column(
        "white",
        "white",
        "The score with the white stones.",
        lambda row: share(row.as_white),
        ".1%",
        drop=6,
    ),
    Column("draws", "draws", "The share of games drawn.", _drawn, ".1%", drop=5),
    Column(
        "opponents",
        "opponents",
        "The mean rating of its opponents.",
        lambda row: row.opponents_elo,
        ".0f",
        drop=4,
    ),
    Column(
        "classic",
        "classic",
        "The classic Elo, one game after the other in the order of their results.",
        lambda row: row.classic_elo,
        ".0f",
        drop=3,
    ),
    Column(
        "speed",
        "nodes/s",
        "How many positions a second the reference search visits on its hardware, as its owner "
        "says.",
        lambda row: row.nodes_per_second or None,
        lambda row: rate_text(row.nodes_per_second),
        drop=7,
    ),
    Column(
        "hardware",
        "hardware",
        "What it runs on, as its owner says.",
        lambda row: row.hardware or None,
        drop=7,
        is_text=True,
        is_ascending=True,
    ),
    Column(
        "hosted",
        "hosted",
        "Whether a host of the arena runs it.",
        lambda row: "yes" if row.hosted else None,
        drop=7,
        is_text=True,
        is_ascending=True,
    ),
    Column(
        "threads",
        "threads",
        "Those that its search was told to use, as its owner says.",
        lambda row: row.threads or None,
        drop=8,
    ),
    Column(
        "memory",
        "memory",
        "That it was told to keep to, as its owner says.",
        lambda row: row.memory_bytes or None,
        lambda row: memory_text(row.memory_bytes),
        drop=8,
    ),
    Column(
        "options",
        "options",
        "What it is told to play by.",
        lambda row: " ".join(row.configuration) or None,
        drop=8,
        is_text=True,
        is_ascending=True,
    ),
)
COLUMNS = {column.name: column for column in _COLUMNS}
MARKS_COLUMN = Column("marks", "marks", "What to beware of.", lambda row: marks(row) or None)


def verify_line(ladder: str, run_id: str) -> str:
    """The command that computes a run again."""
    return f"meijin ladder verify {ladder} --run {run_id}"


def standings_csv(rows: Iterable[pb.Standing]) -> str:
    """Lines as CSV: every field, in full precision; no text in it is a formula to a spreadsheet."""
    cells = (dict(_fields(row)).values() for row in rows)
    return to_csv([dict(_fields(pb.Standing())), *cells])


def _fields(row: pb.Standing) -> Iterator[tuple[str, object]]:
    """The fields of a line as cells by their names; a score is three."""
    said = {field.name for field, _ in row.ListFields()}
    for field in row.DESCRIPTOR.fields:
        name, value = field.name, getattr(row, field.name)
        if isinstance(value, pb.Score):
            yield f"wins_{name}", value.wins
            yield f"draws_{name}", value.draws
            yield f"losses_{name}", value.losses
        elif field.has_presence and name not in said:
            yield name, ""
        elif isinstance(value, str):
            yield name, spreadsheet_text(value)
        elif field.is_repeated:
            yield name, spreadsheet_text("; ".join(value))
        elif name == "nodes_per_second":
            yield name, value or ""
        else:
            yield name, int(value) if isinstance(value, bool) else value
