"""SPRT options of `meijin match`, and a test's standing in words."""

from enum import Enum

from meijin.cli.errors import CommandError
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.enums import enum_table

UNDECIDED = 3
"""The exit status when the games were used up and nothing is decided."""

NOTHING_NEW = 4
"""The exit status when nothing is decided, and more games would repeat those before."""

EXIT_STATUS = {pb.SPRT_DECISION_OPEN: UNDECIDED, pb.SPRT_DECISION_NOTHING_NEW: NOTHING_NEW}
"""Of a test that has ended, by what it has decided; 0 for any other."""


class Scale(str, Enum):
    """The scale that an SPRT's hypotheses are on."""

    NORMALISED = "normalised"
    LOGISTIC = "logistic"


class Unit(str, Enum):
    """The unit that an SPRT counts."""

    PAIRS = "pairs"
    GAMES = "games"


SCALES = enum_table(Scale, pb.SprtScale)
UNITS = enum_table(Unit, pb.SprtUnit)


def requested_test(
    hypotheses: str | None,
    *,
    alpha: float | None,
    beta: float | None,
    scale: Scale | None,
    unit: Unit | None,
) -> pb.Sprt | None:
    """The test that the options ask for; what they leave out the server decides.

    Raises:
        CommandError: the hypotheses are not two Elo such as ``0,10``, or there are none to test.
    """
    if hypotheses is None:
        if any(option is not None for option in (alpha, beta, scale, unit)):
            raise CommandError("--alpha, --beta, --sprt-scale and --sprt-unit go with --sprt")
        return None
    try:
        elo0, elo1 = map(float, hypotheses.split(","))
    except ValueError:
        raise CommandError(f'--sprt takes two numbers such as 0,10, not "{hypotheses}"') from None
    return pb.Sprt(
        elo0=elo0,
        elo1=elo1,
        alpha=alpha or 0.0,
        beta=beta or 0.0,
        scale=pb.SPRT_SCALE_UNSPECIFIED if scale is None else SCALES[scale],
        unit=pb.SPRT_UNIT_UNSPECIFIED if unit is None else UNITS[unit],
    )


def standing_line(standing: pb.SprtStanding) -> str:
    """Where a test stands, in one line."""
    ratio, games, *others = standing_parts(standing)
    estimate, pairs = others[:-1], others[-1]
    parts = [ratio, games]
    if standing.repeats:
        parts.append(f"repeats left out {standing.repeats}")
    return "  ".join([*parts, pairs, *estimate])


def standing_parts(standing: pb.SprtStanding) -> list[str]:
    """The same in parts, the most important first."""
    games = standing.wins + standing.draws + standing.losses
    parts = [
        f"LLR {standing.llr:z.2f} ({standing.lower:.2f}, {standing.upper:.2f})",
        f"games {games}",
    ]
    if standing.HasField("estimate"):
        found = standing.estimate
        normalised = interval_text(
            found.normalised_elo,
            margin=found.normalised_margin,
            low=found.normalised_low,
            high=found.normalised_high,
            is_sequential=found.is_sequential,
        )
        parts += [f"nElo {normalised}", f"LOS {found.los:.1%}"]
    return [*parts, f"pairs {'-'.join(map(str, standing.pairs))}"]


def interval_text(
    value: float, *, margin: float, low: float, high: float, is_sequential: bool = False
) -> str:
    """An estimate with its 95 % interval, in whose middle it is unless the test has stopped."""
    if is_sequential:
        return f"{value:+z.1f} ({low:+z.1f} to {high:+z.1f})"
    return f"{value:+z.1f} ± {margin:.1f}"


def outcome_lines(tournament: pb.Tournament) -> list[str]:
    """What a match's test has found, and what it has decided."""
    found = tournament.sprt.estimate
    lines = [standing_line(tournament.sprt)]
    if tournament.sprt.HasField("estimate"):
        elo = interval_text(
            found.elo,
            margin=found.elo_margin,
            low=found.elo_low,
            high=found.elo_high,
            is_sequential=found.is_sequential,
        )
        lines.append(f"Elo {elo}")
    if tournament.verdict:
        lines.append(tournament.verdict)
    return lines
