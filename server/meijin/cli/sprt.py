"""A match's test on the command line: asked for, and told where it stands."""

from enum import Enum

from meijin.cli.errors import CommandError
from meijin.v1 import tournament_service_pb2 as pb

UNDECIDED = 3
"""The exit status when the games were used up and nothing is decided."""


class Scale(str, Enum):
    """In what hypotheses are told."""

    NORMALISED = "normalised"
    LOGISTIC = "logistic"


class Unit(str, Enum):
    """What a test counts."""

    PAIRS = "pairs"
    GAMES = "games"


SCALES = {
    Scale.NORMALISED: pb.SPRT_SCALE_NORMALISED,
    Scale.LOGISTIC: pb.SPRT_SCALE_LOGISTIC,
}
UNITS = {Unit.PAIRS: pb.SPRT_UNIT_PAIRS, Unit.GAMES: pb.SPRT_UNIT_GAMES}


def parse_hypotheses(text: str) -> tuple[float, float]:
    """Two Elo, such as ``0,10``.

    Raises:
        CommandError: they are not two numbers.
    """
    try:
        elo0, elo1 = map(float, text.split(","))
    except ValueError:
        raise CommandError(f'--sprt takes two numbers such as 0,10, not "{text}"') from None
    return elo0, elo1


def standing_line(standing: pb.SprtStanding) -> str:
    """Where a test stands, in one line."""
    games = standing.wins + standing.draws + standing.losses
    parts = [
        f"LLR {standing.llr:z.2f} ({standing.lower:.2f}, {standing.upper:.2f})",
        f"games {games}",
        f"pairs {'-'.join(map(str, standing.pairs))}",
    ]
    if standing.HasField("estimate"):
        found = standing.estimate
        parts += [
            f"nElo {found.normalised_elo:+z.1f} ± {found.normalised_margin:.1f}",
            f"LOS {found.los:.1%}",
        ]
    return "  ".join(parts)


def outcome_lines(tournament: pb.Tournament) -> list[str]:
    """What a match's test has found, and what it has decided."""
    found = tournament.sprt.estimate
    lines = [standing_line(tournament.sprt)]
    if tournament.sprt.HasField("estimate"):
        lines.append(f"Elo {found.elo:+z.1f} ± {found.elo_margin:.1f}")
    if tournament.verdict:
        lines.append(tournament.verdict)
    return lines
