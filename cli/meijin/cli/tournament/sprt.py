"""Sequential tests of two: the options of one, and where it stands in words."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

from meijin.cli.command import option
from meijin.cli.errors import CommandError
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.enums import value_of
from meijin.wire.match_report import evidence_text, normalised_text, ratio_text

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


def standing_parts(standing: pb.SprtStanding) -> list[str]:
    """Where a test stands, in parts, the most important first."""
    games = standing.wins + standing.draws + standing.losses
    estimate = []
    if standing.HasField("estimate"):
        found = standing.estimate
        estimate = [f"nElo {normalised_text(found)}", f"LOS {found.los:.1%}"]
    pairs = f"pairs {'-'.join(map(str, standing.pairs))}"
    worth = filter(None, [evidence_text(standing)])
    return [ratio_text(standing), f"games {games}", *worth, *estimate, pairs]
