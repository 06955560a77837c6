"""The summary of a match: what its results say of the first bot, in a few lines."""

from collections.abc import Sequence

from meijin.cli.output import score_text
from meijin.cli.sprt import interval_text
from meijin.v1 import tournament_service_pb2 as pb

MILLISECOND = 0.001


def summary_lines(response: pb.GetTournamentResponse) -> list[str]:
    """The score, the strength, and the time that was used; empty before the first result."""
    if not response.HasField("match_report"):
        return []
    report = response.match_report
    lines = [_score_line(response.tournament.settings.bots, report)]
    strength = strength_text(report)
    if report.repeats:
        strength += f", repeats left out {report.repeats}"
    lines.append(f"{strength}, pairs {_dashed(report.pairs)}")
    faults = [count.faults for count in response.faults]
    lines.append(f"{_time_text(report)}; faults {' and '.join(map(str, faults))}")
    return lines


def rating_line(response: pb.GetTournamentResponse) -> str:
    """What a match has come to while it goes on, in one line."""
    report = response.match_report
    faults = " and ".join(str(count.faults) for count in response.faults)
    points, games = _points(report)
    first, _ = response.tournament.settings.bots
    score = f"{first} {points:g} of {games} ({points / games:.1%})"
    return f"after {games} games: {score}, {strength_text(report)}, faults {faults}"


def strength_text(report: pb.MatchReport) -> str:
    """Elo and normalised Elo with their 95 % intervals, and the likelihood of superiority."""
    if report.HasField("estimate"):
        found = report.estimate
        elo = interval_text(
            found.elo, margin=found.elo_margin, low=found.elo_low, high=found.elo_high
        )
        normalised = interval_text(
            found.normalised_elo,
            margin=found.normalised_margin,
            low=found.normalised_low,
            high=found.normalised_high,
        )
        return f"Elo {elo}, nElo {normalised}, LOS {found.los:.1%}"
    if report.HasField("elo_bound"):
        has_won = report.black.wins + report.white.wins > 0
        side = "above" if has_won else "below"
        return f"Elo {side} {report.elo_bound:+z.0f} (95%)"
    return "Elo unknown, all games were drawn"


def _score_line(bots: Sequence[str], report: pb.MatchReport) -> str:
    first, second = bots
    points, games = _points(report)
    black, white = report.black, report.white
    wins, draws, losses = (
        getattr(black, field) + getattr(white, field) for field in ("wins", "draws", "losses")
    )
    share = score_text(wins, draws, games)
    return (
        f"{first} against {second}: {points:g} of {games} ({share}), +{wins} ={draws} -{losses}, "
        f"black {_colour_text(black)}, white {_colour_text(white)}"
    )


def _points(report: pb.MatchReport) -> tuple[float, int]:
    """The first bot's points, and of how many games."""
    scores = (report.black, report.white)
    games = sum(score.wins + score.draws + score.losses for score in scores)
    return sum(score.wins + score.draws / 2 for score in scores), games


def _colour_text(score: pb.ColorScore) -> str:
    return _dashed((score.wins, score.draws, score.losses))


def _dashed(counts: Sequence[int]) -> str:
    return "-".join(map(str, counts))


def _time_text(report: pb.MatchReport) -> str:
    _, games = _points(report)
    seconds = report.play_time.ToTimedelta().total_seconds()
    rate = f"{games / seconds:.3g} games/s" if seconds else "-"
    times = " and ".join(map(_move_time, (report.first, report.second)))
    return f"plies {report.plies / games:.1f} a game, {times} a move, {rate} in {seconds:.1f} s"


def _move_time(use: pb.TimeUse) -> str:
    if not use.moves:
        return "-"
    seconds = use.time.ToTimedelta().total_seconds() / use.moves
    return f"{seconds:.3g} s" if seconds >= MILLISECOND else f"{seconds * 1e6:.0f} us"
