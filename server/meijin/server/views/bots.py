"""Bots as they are shown: what the store has of them, and whether they are connected."""

from dataclasses import dataclass
from datetime import datetime

from meijin.server.match.lobby import Player
from meijin.server.tournaments.pauses import Pauses
from meijin.store.bots import BotRow
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
    display_name: str = ""
    """What people call it; empty where it has its name alone."""


def bot_summary(row: BotRow, player: Player | None, pauses: Pauses) -> BotSummary:
    """A stored bot, which is a player once it has been connected."""
    session = None if player is None else player.session
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
        display_name=row.display_name,
    )
