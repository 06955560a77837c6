"""Sequential tests of two: the options of one, and where it stands in words."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

from meijin.cli.command import option
from meijin.cli.errors import CommandError
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.enums import value_of

EXIT_STATUS = {pb.SPRT_DECISION_OPEN: 3, pb.SPRT_DECISION_NOTHING_NEW: 4}
"""Of a test that has ended, by what it has decided; 0 for any other."""


class EloScale(str, Enum):
    """The scale that an SPRT's hypotheses are on."""

    NORMALISED = "normalised"
    LOGISTIC = "logistic"


class CountedUnit(str, Enum):
    """The unit that an SPRT counts."""

    PAIRS = "pairs"
    GAMES = "games"


def _risk(what: str) -> Any:  # noqa: ANN401 - as typer has it
    text = f"With --sprt, the chance to accept {what} is true; 0.05 when left out."
    return option(text, 0.0001, 0.49)


@dataclass(frozen=True, slots=True)
class SprtOptions:
    """What a test is asked for with; what is left out the server decides."""

    sprt: Annotated[
        str | None,
        option(
            "Play until a test has decided which of the two the first bot's advantage is; "
            "both from -200 to 200 in normalised Elo, from -1000 to 1000 in Elo.",
            metavar="ELO0,ELO1",
        ),
    ] = None
    alpha: Annotated[float | None, _risk("ELO1 where ELO0")] = None
    beta: Annotated[float | None, _risk("ELO0 where ELO1")] = None
    sprt_scale: Annotated[
        EloScale | None,
        "With --sprt, what ELO0 and ELO1 are in: normalised Elo (when left out) or Elo.",
    ] = None
    sprt_unit: Annotated[
        CountedUnit | None,
        "With --sprt, what the test counts: pairs of games on one opening (when left out) or games.",
    ] = None

    def test(self) -> pb.Sprt | None:
        others = (self.alpha, self.beta, self.sprt_scale, self.sprt_unit)
        if self.sprt is None:
            if any(option is not None for option in others):
                raise CommandError("--alpha, --beta, --sprt-scale and --sprt-unit go with --sprt")
            return None
        try:
            elo0, elo1 = map(float, self.sprt.split(","))
        except ValueError:
            said = f'--sprt takes two numbers such as 0,10, not "{self.sprt}"'
            raise CommandError(said) from None
        test = pb.Sprt(elo0=elo0, elo1=elo1, alpha=self.alpha or 0.0, beta=self.beta or 0.0)
        if self.sprt_scale is not None:
            test.scale = value_of(pb.SprtScale, self.sprt_scale)
        if self.sprt_unit is not None:
            test.unit = value_of(pb.SprtUnit, self.sprt_unit)
        return test


def standing_line(standing: pb.SprtStanding) -> str:
    ratio, games, *estimate, pairs = standing_parts(standing)
    repeats = [f"repeats left out {standing.repeats}"] if standing.repeats else []
    return "  ".join([ratio, games, *repeats, pairs, *estimate])


def standing_parts(standing: pb.SprtStanding) -> list[str]:
    """The same in parts, the most important first."""
    games = standing.wins + standing.draws + standing.losses
    ratio = f"LLR {standing.llr:z.2f} ({standing.lower:.2f}, {standing.upper:.2f})"
    estimate = []
    if standing.HasField("estimate"):
        found = standing.estimate
        estimate = [f"nElo {normalised_text(found)}", f"LOS {found.los:.1%}"]
    return [ratio, f"games {games}", *estimate, f"pairs {'-'.join(map(str, standing.pairs))}"]


def elo_text(found: pb.SprtEstimate) -> str:
    """An estimate with its 95 % interval, in whose middle it is unless the test has stopped."""
    return _interval(found, found.elo, found.elo_margin, found.elo_low, found.elo_high)


def normalised_text(found: pb.SprtEstimate) -> str:
    bounds = (found.normalised_low, found.normalised_high)
    return _interval(found, found.normalised_elo, found.normalised_margin, *bounds)


def _interval(found: pb.SprtEstimate, elo: float, margin: float, low: float, high: float) -> str:
    if found.is_sequential:
        return f"{elo:+z.1f} ({low:+z.1f} to {high:+z.1f})"
    return f"{elo:+z.1f} ± {margin:.1f}"


def outcome_lines(tournament: pb.Tournament) -> list[str]:
    lines = [standing_line(tournament.sprt)]
    if tournament.sprt.HasField("estimate"):
        lines.append(f"Elo {elo_text(tournament.sprt.estimate)}")
    return [*lines, tournament.verdict] if tournament.verdict else lines
