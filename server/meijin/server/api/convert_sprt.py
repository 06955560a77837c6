"""Between the wire's messages about tests and our own types."""

from meijin.ladder.statistics.sprt import Decision, Scale, Sprt
from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.formats.schedule import MAX_GAMES
from meijin.server.tournaments.formats.sprt_plan import SprtPlan, Standing, Unit
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.enums import enum_table

DEFAULT_SPRT_GAMES = 100_000
DEFAULT_SPRT_RISK = 0.05

SPRT_SCALES = enum_table(Scale, pb.SprtScale)
SPRT_UNITS = enum_table(Unit, pb.SprtUnit)
_SCALES = {pb.SPRT_SCALE_UNSPECIFIED: Scale.NORMALISED} | {
    value: scale for scale, value in SPRT_SCALES.items()
}
_UNITS = {pb.SPRT_UNIT_UNSPECIFIED: Unit.PAIRS} | {
    value: unit for unit, value in SPRT_UNITS.items()
}
SPRT_DECISIONS = {
    Decision.UNDECIDED: pb.SPRT_DECISION_OPEN,
    Decision.H0_ACCEPTED: pb.SPRT_DECISION_ELO0,
    Decision.H1_ACCEPTED: pb.SPRT_DECISION_ELO1,
}


def requested_sprt(message: pb.Sprt) -> SprtPlan:
    """The test that a request asks for.

    Raises:
        InvalidRequestError: a number is out of its range.
    """
    if message.unit not in _UNITS:
        raise InvalidRequestError(f"sprt.unit: there is no {message.unit}")
    if message.scale not in _SCALES:
        raise InvalidRequestError(f"sprt.scale: there is no {message.scale}")
    most_games = message.most_games or DEFAULT_SPRT_GAMES
    if most_games % 2:
        raise InvalidRequestError(f"sprt.most_games {most_games} is odd; games come in pairs")
    if most_games > MAX_GAMES:
        raise InvalidRequestError(f"sprt.most_games {most_games} is above {MAX_GAMES}")
    return SprtPlan(_requested_test(message), _UNITS[message.unit], most_games)


def _requested_test(message: pb.Sprt) -> Sprt:
    try:
        return Sprt(
            message.elo0,
            message.elo1,
            alpha=message.alpha or DEFAULT_SPRT_RISK,
            beta=message.beta or DEFAULT_SPRT_RISK,
            scale=_SCALES[message.scale],
        )
    except ValueError as error:
        raise InvalidRequestError(f"sprt: {error}") from None


def sprt_to_proto(plan: SprtPlan) -> pb.Sprt:
    """A match's test."""
    return pb.Sprt(
        elo0=plan.test.elo0,
        elo1=plan.test.elo1,
        alpha=plan.test.alpha,
        beta=plan.test.beta,
        scale=SPRT_SCALES[plan.test.scale],
        unit=SPRT_UNITS[plan.unit],
        most_games=plan.most_games,
    )


def standing_to_proto(plan: SprtPlan, standing: Standing) -> pb.SprtStanding:
    """Where a match's test stands."""
    losses, draws, wins = standing.counts.games
    message = pb.SprtStanding(
        wins=wins,
        draws=draws,
        losses=losses,
        pairs=standing.counts.pairs,
        llr=standing.llr,
        lower=plan.test.lower,
        upper=plan.test.upper,
        decision=SPRT_DECISIONS[standing.decision],
    )
    estimate = standing.estimate
    if estimate is not None:
        message.estimate.normalised_elo = estimate.normalised_elo
        message.estimate.normalised_margin = estimate.normalised_margin
        message.estimate.elo = estimate.elo
        message.estimate.elo_margin = estimate.elo_margin
        message.estimate.los = estimate.los
    return message
