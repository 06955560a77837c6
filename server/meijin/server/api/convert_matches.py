"""Between the wire's messages about matches and our own types."""

from google.protobuf.duration_pb2 import Duration

from meijin.server.api.convert_tournaments import fill
from meijin.server.views.match_reports import MatchReport
from meijin.store.tournaments.match_sums import ColorScore, MatchSums, TimeUse
from meijin.v1 import tournament_service_pb2 as pb


def report_to_proto(report: MatchReport) -> pb.MatchReport:
    """What the results of a match say."""
    sums = report.sums
    message = pb.MatchReport(
        black=_score(sums.black),
        white=_score(sums.white),
        pairs=report.counts.pairs,
        repeats=report.counts.repeats,
        elo_bound=report.elo_bound,
        plies=sums.plies,
        first=_use(sums.first),
        second=_use(sums.second),
        play_time=_play_time(sums),
    )
    if report.estimate is not None:
        fill(message.estimate, report.estimate)
    return message


def _score(score: ColorScore) -> pb.ColorScore:
    return pb.ColorScore(wins=score.wins, draws=score.draws, losses=score.losses)


def _use(use: TimeUse) -> pb.TimeUse:
    return pb.TimeUse(
        moves=use.moves,
        time=_duration(use.nanoseconds),
        longest=_duration(use.longest),
    )


def _play_time(sums: MatchSums) -> Duration:
    made = Duration()
    if sums.start_time is not None and sums.end_time is not None:
        made.FromTimedelta(sums.end_time - sums.start_time)
    return made


def _duration(nanoseconds: int) -> Duration:
    made = Duration()
    made.FromNanoseconds(nanoseconds)
    return made
