"""Converters of a server's status: a view in, a message out."""

from meijin.server.views.status import ServerActivity, ServerStatus
from meijin.store.ladders.ladders import LadderProgress
from meijin.v1 import status_service_pb2 as pb
from meijin.wire import time_to_proto


def status_to_proto(status: ServerStatus) -> pb.GetStatusResponse:
    """How a server is doing."""
    message = pb.GetStatusResponse(
        version=status.version,
        start_time=time_to_proto(status.start_time),
        draining=status.is_draining,
        store_failing=status.is_store_failing,
        connected_bots=status.connected_bots,
        running_tournaments=status.running_tournaments,
        running_games=status.running_games,
        pending_games=status.pending_games,
        queued_jobs=status.queued_jobs,
    )
    if status.ladders is not None:
        message.outdated_ladders = status.ladders.outdated
        if status.ladders.oldest is not None:
            message.oldest_run_time.CopyFrom(time_to_proto(status.ladders.oldest))
    if status.backup_time is not None:
        message.backup_time.CopyFrom(time_to_proto(status.backup_time))
    if status.certificate_end is not None:
        message.certificate_expire_time.CopyFrom(time_to_proto(status.certificate_end))
    if status.client_ca_end is not None:
        message.client_ca_expire_time.CopyFrom(time_to_proto(status.client_ca_end))
    return message


def activity_to_proto(activity: ServerActivity) -> pb.GetActivityResponse:
    """What goes on in a server."""
    message = pb.GetActivityResponse(
        version=activity.version,
        start_time=time_to_proto(activity.start_time),
        draining=activity.is_draining,
        store_failing=activity.is_store_failing,
        connected_bots=activity.connected_bots,
        running_tournaments=activity.running_tournaments,
        running_games=activity.running_games,
        pending_games=activity.pending_games,
        games_last_hour=activity.games_last_hour,
        games_last_day=activity.games_last_day,
        queued_jobs=activity.queued_jobs,
        ladders=map(_ladder, activity.ladders or ()),
        time=time_to_proto(activity.time),
    )
    message.stalls.longest.FromTimedelta(activity.longest_stall)
    message.stalls.total.FromTimedelta(activity.stalls)
    message.stalls.longest_loop_cpu_time.FromTimedelta(activity.longest_loop_work)
    message.stalls.longest_process_cpu_time.FromTimedelta(activity.longest_process_work)
    return message


def _ladder(ladder: LadderProgress) -> pb.LadderActivity:
    return pb.LadderActivity(
        ladder=ladder.name,
        run_time=None if ladder.run_time is None else time_to_proto(ladder.run_time),
        games=ladder.games,
        games_behind=max(0, ladder.games - ladder.run_games),
    )
