"""The diagnosis and the calibration of a ladder as tables and sentences."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain

from rich.table import Table

from meijin.cli.output import Styled
from meijin.cli.tables import number, table, text
from meijin.v1 import ladder_service_pb2 as pb

ALMOST_NONE = 0.0005
"""A chance that is shown as less than 0.001."""
LEGEND = (
    "z: standard deviations from what ratings let expect; p: the chance of one so large "
    "anywhere in the ladder; sure: more than chance"
)


def probability(value: float) -> str:
    """A p-value, and no 0 for what is only small."""
    return "<0.001" if value < ALMOST_NONE else f"{value:.3f}"


def diagnosis_notes(response: pb.GetDiagnosisResponse) -> list[str]:
    run = response.run
    if not response.HasField("chi_square"):
        return [f"run {run.run_id} is of a release that did not look; the next one says more"]
    fit, freedom = run.fit, response.degrees_of_freedom
    scatter = (
        f"chi-square {response.chi_square:.0f} and deviance {response.deviance:.0f} over "
        f"{response.pairs_with_enough_games} pairs with enough games, where {freedom:.0f} are "
        f"expected; overdispersion {fit.overdispersion:.2f}"
    )
    return [f"run {run.run_id} from {run.games} games", scatter, verdict(fit)]


def verdict(fit: pb.FitSummary) -> str:
    """Whether one number a version explains the games."""
    chance = probability(fit.p_value)
    if fit.rejected:
        return (
            f"results depend on who meets whom (p {chance}): pairs depart from their ratings by "
            f"{fit.deviation:.0f} Elo, which ± allows for"
        )
    return f"as a whole the games fit one rating a version (p {chance})"


def diagnosis_tables(response: pb.GetDiagnosisResponse, top: int = 0) -> list[Table]:
    """The pairs, circles, trends and changes that are told of; those that are empty are left out."""
    name = _namer(response)
    one, other = (lambda row: name(row.one)), (lambda row: name(row.other))
    surety = (
        number("z", lambda row: f"{row.deviations:+.1f}"),
        number("p", lambda row: probability(row.p_value)),
        number("sure", lambda row: "yes" if row.sure else ""),
    )
    pairs = (
        text("bot", one),
        text("opponent", other),
        number("games"),
        number("score", lambda row: f"{row.score:.1%}"),
        number("expected", lambda row: f"{row.expected_score:.1%}"),
    )
    circles = (
        text("bot", one),
        text("beats", other),
        text("beats", lambda row: name(row.third)),
        number("Elo around", lambda row: f"{row.excess:.0f}"),
    )
    trends = (
        text("bot", lambda row: name(row.version)),
        number("Elo in 100 games", lambda row: f"{row.elo_per_100_games:+.0f}"),
    )
    changes = (
        text("bot", lambda row: name(row.version)),
        number("games since", lambda row: row.games),
        number("Elo", lambda row: f"{row.elo:+.0f}"),
    )
    found = (
        ("Pairs whose scores are furthest from their ratings", pairs, response.pairs),
        ("Circles: each beats the next, the last the first", circles, response.triples),
        ("Trends over a version's own games", trends, response.drifts),
        ("Strengths that changed at once", changes, response.changes),
    )
    return [
        table(title, (*columns, *surety), rows[: top or None])
        for title, columns, rows in found
        if rows
    ]


CALIBRATION = (
    number("told", lambda row: f"{row.expected_score:.1%}"),
    number("games"),
    number("scored", lambda row: f"{row.score:.1%}"),
    number("from", lambda row: f"{row.score_low:.1%}"),
    number("to", lambda row: f"{row.score_high:.1%}"),
)


def calibration_lines(response: pb.GetCalibrationResponse) -> Iterator[Table | Styled]:
    """What favourites scored, by what all games of the days before had told of them."""
    if not response.bins:
        yield Styled("nothing was foretold yet; a ladder's second day has to be over")
        return
    yield table("Favourites by what they were told", CALIBRATION, response.bins)
    yield Styled(
        f"games of {response.first_day} to {response.last_day}, each day's by those before it; "
        "from, to: the 95 % interval of what they scored"
    )


def _namer(response: pb.GetDiagnosisResponse) -> Callable[[pb.RatedVersion], str]:
    """Names a version by its bot, and by its label where several of the bot are told of."""
    labels: dict[str, set[str]] = defaultdict(set)
    rows = chain(response.pairs, response.triples, response.drifts, response.changes)
    for version in (
        value for row in rows for field, value in row.ListFields() if field.message_type
    ):
        labels[version.bot].add(version.version)

    def name(version: pb.RatedVersion) -> str:
        several = len(labels[version.bot]) > 1
        return f"{version.bot} {version.version}" if several else version.bot

    return name
