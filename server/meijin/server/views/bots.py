"""Bots as they are shown: what the store has of them, and whether they are connected."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from meijin.server.match.lobby import Player
from meijin.server.tournaments.pauses import Pauses
from meijin.store.bots import BotRow
from meijin.store.ladders.bot_ratings import BotRating, bot_ratings
from meijin.store.schema import ChallengePolicy
from meijin.wire import Capabilities


@dataclass(frozen=True, slots=True)
class BotSummary:
    """A bot in a list."""

    name: str
    owner: str
    """Empty when it has none."""
    create_time: datetime
    running_games: int = 0
    capabilities: Capabilities | None = None
    """What it can play; ``None`` while it is not connected."""
    is_paused: bool = False
    """The version that is connected gets no new games for a while."""
    is_unexamined: bool = False
    """The version that is connected gets no rated games, since it has not passed the doctor."""
    hardware: str = ""
    """What its newest version said last that it runs on; empty where it said nothing."""
    nodes_per_second: int = 0
    """Of the reference search there, as that version said last; 0 where it said nothing."""
    version: str = ""
    """What its newest version is called."""
    games: int = 0
    """Those with a result."""
    rating: BotRating | None = None
    """In the ladder with most of its games; ``None`` where no run rates it."""
    last_seen_time: datetime | None = None
    """When a stream of it was open last; ``None`` where none was."""
    display_name: str = ""
    """What people call it; empty where it has its name alone."""
    challenges: ChallengePolicy = ChallengePolicy.OWNERS
    """Whose it accepts."""
    is_hidden: bool = False
    """It is left out of lists."""


@dataclass(frozen=True, slots=True)
class ListedBot:
    """A stored bot with its rating."""

    row: BotRow
    rating: BotRating | None


def with_ratings(connection: Connection, rows: Sequence[BotRow]) -> Sequence[ListedBot]:
    """The bots of a list with their ratings."""
    ratings = bot_ratings(connection, [row.id for row in rows])
    return [ListedBot(row, ratings.get(row.id)) for row in rows]


def bot_summary(
    listed: ListedBot, player: Player | None, pauses: Pauses, now: datetime
) -> BotSummary:
    """A stored bot, which is a player once it has been connected."""
    row, session = listed.row, None if player is None else player.session
    return BotSummary(
        name=row.name,
        owner=row.owner,
        create_time=row.create_time,
        running_games=0 if player is None else len(player.games),
        capabilities=None if session is None else session.capabilities,
        is_paused=session is not None and pauses.is_paused(session.version_id),
        is_unexamined=session is not None and not session.may_be_rated,
        hardware=row.hardware,
        nodes_per_second=row.nodes_per_second,
        version=row.version,
        games=row.games,
        rating=listed.rating,
        last_seen_time=row.last_seen_time if session is None else now,
        display_name=row.display_name,
        challenges=row.challenges,
        is_hidden=row.is_hidden,
    )
