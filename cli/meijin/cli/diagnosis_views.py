"""The diagnosis of a ladder as tables and sentences."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from rich.table import Table

from meijin.cli.output import table
from meijin.v1 import ladder_service_pb2 as pb

ALMOST_NONE = 0.0005
"""A chance that is shown as less than 0.001."""


def probability(value: float) -> str:
    """A p-value, and no 0 for what is only small."""
    return "<0.001" if value < ALMOST_NONE else f"{value:.3f}"


def diagnosis_notes(response: pb.GetDiagnosisResponse) -> list[str]:
    """What the tables come to, in sentences."""
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
    """The pairs, circles and trends that are told of; those that are empty are left out."""
    name = _namer(response)
    made = [
        _pairs(response.pairs[: top or None], name),
        _triples(response.triples[: top or None], name),
        _drifts(response.drifts[: top or None], name),
    ]
    return [each for each in made if each.row_count]


def _namer(response: pb.GetDiagnosisResponse) -> Callable[[pb.RatedVersion], str]:
    """Names a version by its bot, and by its label where several of the bot are told of."""
    labels: dict[str, set[str]] = defaultdict(set)
    for version in _versions(response):
        labels[version.bot].add(version.version)

    def name(version: pb.RatedVersion) -> str:
        several = len(labels[version.bot]) > 1
        return f"{version.bot} {version.version}" if several else version.bot

    return name


def _versions(response: pb.GetDiagnosisResponse) -> Iterable[pb.RatedVersion]:
    for pair in response.pairs:
        yield from (pair.one, pair.other)
    for triple in response.triples:
        yield from (triple.one, triple.other, triple.third)
    for drift in response.drifts:
        yield drift.version


def _sure(is_sure: bool) -> str:  # noqa: FBT001 - a cell's value
    return "yes" if is_sure else ""


def _pairs(rows: Iterable[pb.PairResidual], name: Callable[[pb.RatedVersion], str]) -> Table:
    titles = ("bot", "opponent", "games", "score", "expected", "z", "p", "sure")
    made = table("Pairs whose scores are furthest from their ratings", titles, text_columns=2)
    for row in rows:
        made.add_row(
            name(row.one),
            name(row.other),
            str(row.games),
            f"{row.score:.1%}",
            f"{row.expected_score:.1%}",
            f"{row.deviations:+.1f}",
            probability(row.p_value),
            _sure(row.sure),
        )
    return made


def _triples(rows: Iterable[pb.CircularTriad], name: Callable[[pb.RatedVersion], str]) -> Table:
    titles = ("bot", "beats", "beats", "Elo around", "z", "p", "sure")
    made = table("Circles: each beats the next, the last the first", titles, text_columns=3)
    for row in rows:
        made.add_row(
            name(row.one),
            name(row.other),
            name(row.third),
            f"{row.excess:.0f}",
            f"{row.deviations:+.1f}",
            probability(row.p_value),
            _sure(row.sure),
        )
    return made


def _drifts(rows: Iterable[pb.VersionDrift], name: Callable[[pb.RatedVersion], str]) -> Table:
    titles = ("bot", "Elo in 100 games", "z", "p", "sure")
    made = table("Trends over a version's own games", titles, text_columns=1)
    for row in rows:
        made.add_row(
            name(row.version),
            f"{row.elo_per_100_games:+.0f}",
            f"{row.deviations:+.1f}",
            probability(row.p_value),
            _sure(row.sure),
        )
    return made
