"""What a match of two came to, in lines: the same on the terminal as from Python."""

from itertools import chain

from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.standings import added, games_of, points, results, share_text

MILLISECOND = 0.001


def report_lines(response: pb.GetTournamentResponse) -> list[str]:
    """The score, the strength, what was used, where a test stands, and the verdict if there is one.

    Of a gauntlet the first two against each of the others; the verdict alone of a tournament that
    is neither, or before a result.
    """
    report, found = response.match_report, response.tournament
    verdict = [found.verdict] if found.verdict else []
    first, *others = found.settings.bots
    if not response.HasField("match_report"):
        against = zip(others, response.match_reports, strict=False)  # neither has them
        told = (_result(first, other, each) for other, each in against if each.pairs)
        return [*chain.from_iterable(told), *verdict]
    games = games_of(added(report.black, report.white))
    seconds = report.play_time.ToTimedelta().total_seconds()
    rate = f"{games / seconds:.3g} games/s" if seconds else "-"
    times = " and ".join(map(_move_time, (report.first, report.second)))
    faults = " and ".join(str(count.faults) for count in response.faults)
    use = (
        f"plies {report.plies / games:.1f} a game, {times} a move, {rate} in {seconds:.1f} s; "
        f"faults {faults}"
    )
    lines = [*_result(first, others[0], report), use]
    if found.HasField("sprt"):
        lines.append(", ".join(filter(None, (ratio_text(found.sprt), evidence_text(found.sprt)))))
    return lines + verdict


def _result(first: str, second: str, report: pb.MatchReport) -> tuple[str, str]:
    """The score, and the strength with what it is estimated from."""
    total = added(report.black, report.white)
    repeats = f", repeats left out {report.repeats}" if report.repeats else ""
    pairs = "-".join(map(str, report.pairs))
    score = (
        f"{first} against {second}: {points(total):g} of {games_of(total)} ({share_text(total)}), "
        f"+{total.wins} ={total.draws} -{total.losses}, black {results(report.black)}, "
        f"white {results(report.white)}"
    )
    return score, f"{_strength(report)}{repeats}, pairs {pairs}"


def ratio_text(standing: pb.SprtStanding) -> str:
    """How far a test is: its ratio between its bounds."""
    return f"LLR {standing.llr:z.2f} ({standing.lower:.2f}, {standing.upper:.2f})"


def evidence_text(standing: pb.SprtStanding) -> str:
    """What a test's ratio is computed from; empty before the first pair."""
    if not standing.openings:
        return ""
    return units_text(sum(standing.pairs), standing.openings, standing.units)


def units_text(pairs: int, openings: int, units: float) -> str:
    """What pairs of games are worth whose openings come again, unless it is as many as they are."""
    worth = "" if round(units) >= pairs else f" = {units:.0f} units"
    return f"{pairs} pairs on {openings} openings{worth}"


def normalised_text(found: pb.SprtEstimate) -> str:
    """Normalised Elo with its 95 % interval, in whose middle it is unless a test has stopped."""
    bounds = (found.normalised_low, found.normalised_high)
    return _interval(found, found.normalised_elo, found.normalised_margin, *bounds)


def _strength(report: pb.MatchReport) -> str:
    """Elo and normalised Elo with their 95 % intervals, and the likelihood of superiority."""
    if report.HasField("estimate"):
        found = report.estimate
        elo = _interval(found, found.elo, found.elo_margin, found.elo_low, found.elo_high)
        return f"Elo {elo}, nElo {normalised_text(found)}, LOS {found.los:.1%}"
    if report.HasField("elo_bound"):
        side = "above" if report.black.wins + report.white.wins else "below"
        return f"Elo {side} {report.elo_bound:+z.0f} (95%)"
    return "Elo unknown, all games were drawn"


def _interval(found: pb.SprtEstimate, elo: float, margin: float, low: float, high: float) -> str:
    if found.is_sequential:
        return f"{elo:+z.1f} ({low:+z.1f} to {high:+z.1f})"
    return f"{elo:+z.1f} ± {margin:.1f}"


def _move_time(use: pb.TimeUse) -> str:
    if not use.moves:
        return "-"
    seconds = use.time.ToTimedelta().total_seconds() / use.moves
    return f"{seconds:.3g} s" if seconds >= MILLISECOND else f"{seconds * 1e6:.0f} us"
