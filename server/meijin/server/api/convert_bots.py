"""Converters of bots: views and versions in, messages out."""

from collections.abc import Mapping

from meijin.game import decode_moves, format_opening
from meijin.server.api.convert_ladders import color_scores_to_proto, score_to_proto
from meijin.server.views.bot_details import RatedVersionRow
from meijin.server.views.bots import BotSummary
from meijin.store.bot_results import BotResults, EndingResults, OpeningResults
from meijin.store.bots import BotRow, VersionRow
from meijin.store.people import is_person_name
from meijin.store.schema import BotState, ChallengePolicy
from meijin.v1 import bot_service_pb2
from meijin.wire import capabilities_to_proto, ending_to_proto, time_to_proto, variant_to_proto
from meijin.wire.enums import enum_table

STATES: Mapping[BotState, bot_service_pb2.BotState.ValueType] = enum_table(
    BotState, bot_service_pb2.BotState
)
POLICIES: Mapping[ChallengePolicy, bot_service_pb2.ChallengePolicy.ValueType] = enum_table(
    ChallengePolicy, bot_service_pb2.ChallengePolicy
)


def bot_to_proto(bot: BotSummary) -> bot_service_pb2.Bot:
    """A bot and whether it is there."""
    message = bot_service_pb2.Bot(
        name=bot.name,
        owner=bot.owner,
        create_time=time_to_proto(bot.create_time),
        running_games=bot.running_games,
        connected=bot.capabilities is not None,
        paused=bot.is_paused,
        hardware=bot.hardware,
        nodes_per_second=bot.nodes_per_second,
        unexamined=bot.is_unexamined,
        version=bot.version,
        games=bot.games,
        display_name=bot.display_name,
        is_person=is_person_name(bot.name),
        hidden=bot.is_hidden,
    )
    if not message.is_person:
        message.challenges = policy_to_proto(bot.challenges)
    if bot.rating is not None:
        message.ladder, message.rating = bot.rating.ladder, bot.rating.elo
    if bot.last_seen_time is not None:
        message.last_seen_time.CopyFrom(time_to_proto(bot.last_seen_time))
    if bot.capabilities is not None:
        message.capabilities.CopyFrom(capabilities_to_proto(bot.capabilities))
    return message


def add_state(message: bot_service_pb2.Bot, row: BotRow) -> None:
    """Tell whether a bot may play, which its owner and operators hear."""
    message.state, message.reason = STATES[row.state], row.reason


def policy_to_proto(policy: ChallengePolicy) -> bot_service_pb2.ChallengePolicy.ValueType:
    """Whose challenges a bot accepts."""
    return POLICIES[policy]


def version_to_proto(row: VersionRow) -> bot_service_pb2.BotVersion:
    """A version of a bot."""
    return bot_service_pb2.BotVersion(
        version_id=str(row.id),
        version=row.label,
        digest=row.digest,
        configuration=row.configuration,
        create_time=time_to_proto(row.create_time),
        hardware=row.hardware,
        nodes_per_second=row.nodes_per_second,
        doctor_time=None if row.doctor_time is None else time_to_proto(row.doctor_time),
        parent_version_id="" if row.parent_id is None else str(row.parent_id),
    )


def rated_version_to_proto(version: RatedVersionRow) -> bot_service_pb2.BotVersion:
    """A version of a bot with its rating."""
    message, rating = version_to_proto(version.row), version.rating
    if rating is not None:
        message.rating, message.margin, message.rated_games = rating
    return message


def results_to_proto(results: BotResults) -> bot_service_pb2.BotResults:
    """What a bot's games have come to."""
    return bot_service_pb2.BotResults(
        games=results.scores.games,
        since=None if results.since is None else time_to_proto(results.since),
        scores=color_scores_to_proto(results.scores),
        openings=map(_opening_to_proto, results.openings),
        endings=map(_ending_to_proto, results.endings),
        opponents=[
            bot_service_pb2.BotOpponent(bot=each.bot, scores=color_scores_to_proto(each.scores))
            for each in results.opponents
        ],
    )


def _opening_to_proto(opening: OpeningResults) -> bot_service_pb2.BotOpening:
    return bot_service_pb2.BotOpening(
        variant=variant_to_proto(opening.variant),
        opening=format_opening(decode_moves(opening.opening), opening.variant),
        scores=color_scores_to_proto(opening.scores),
    )


def _ending_to_proto(ending: EndingResults) -> bot_service_pb2.BotEnding:
    return bot_service_pb2.BotEnding(
        ending=ending_to_proto(ending.ending),
        score=score_to_proto(ending.score),
        own_faults=ending.own_faults,
        opponents_faults=ending.opponents_faults,
    )
