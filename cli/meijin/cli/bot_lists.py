"""Tables of bots."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from rich.table import Table

from meijin.cli.output import rate_text, table
from meijin.v1 import bot_service_pb2 as pb

_UNITS = (
    ("d", timedelta(days=1)),
    ("h", timedelta(hours=1)),
    ("min", timedelta(minutes=1)),
    ("s", timedelta(seconds=1)),
)


def bot_table(bots: Iterable[pb.Bot], now: datetime) -> Table:
    """Bots with what they have come to: version, rating, games, and when they were there last."""
    listed = list(bots)
    is_called = any(bot.display_name for bot in listed)
    titles = ("bot", *(["called"] * is_called), "version", "owner", "seen", "hardware")
    numbers = ("Elo", "games", "playing", "at once", "nodes/s")
    made = table("Bots", (*titles, *numbers), text_columns=len(titles))
    made.columns[0].no_wrap = made.columns[titles.index("seen")].no_wrap = (
        True  # the hardware runs out of room
    )
    for bot in listed:
        made.add_row(
            bot.name,
            *([bot.display_name] * is_called),
            bot.version,
            bot.owner,
            _presence(bot, now),
            bot.hardware,
            f"{bot.rating:.0f}" if bot.HasField("rating") else "",
            str(bot.games),
            str(bot.running_games) if bot.connected else "",
            str(bot.capabilities.max_games) if bot.connected else "",
            rate_text(bot.nodes_per_second),
        )
    return made


def _presence(bot: pb.Bot, now: datetime) -> str:
    """Whether it is there, or how long ago it was."""
    if bot.connected:
        return "unexamined" if bot.unexamined else "paused" if bot.paused else "connected"
    if not bot.HasField("last_seen_time"):
        return "away"
    return age_text(now - bot.last_seen_time.ToDatetime(UTC))


def age_text(age: timedelta) -> str:
    """How long ago something was, in its largest unit, such as ``3 h ago``."""
    for unit, length in _UNITS:
        if age >= length:
            return f"{age // length} {unit} ago"
    return "now"
