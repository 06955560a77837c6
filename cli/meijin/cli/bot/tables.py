"""Bots on the screen: lists of them, and one with its versions and results."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

from rich.table import Table

from meijin.cli.tables import (
    both,
    color_table,
    count_text,
    duration_text,
    number,
    score_table,
    table,
    text,
    time_of,
)
from meijin.v1 import bot_service_pb2 as pb
from meijin.wire.standings import elo_text, games_of, results
from meijin.wire.text import memory_text, rate_text
from meijin.wire.values import ending_from_proto

MOST_OPENINGS = 10
"""Those of a table that are shown; JSON has all."""

DIGEST_LENGTH = 12
"""Digits of a digest that tell versions of a bot apart."""


def _rate(row: pb.Bot | pb.BotVersion) -> str:
    return rate_text(row.nodes_per_second)


def _rating(row: pb.Bot | pb.BotVersion) -> str:
    return f"{row.rating:.0f}" if row.HasField("rating") else ""


def _version_rating(row: pb.BotVersion) -> str:
    bound = row.bound if row.HasField("bound") else None
    return elo_text(row.rating, bound, row.score) if row.HasField("rating") else ""


def _margin(row: pb.BotVersion) -> str:
    has_margin = row.HasField("rating") and not row.HasField("bound")
    return f"{row.margin:.0f}" if has_margin else ""


def _options(row: pb.Bot | pb.BotVersion) -> str:
    return " ".join(row.configuration)


def bot_table(bots: Iterable[pb.Bot], now: datetime) -> Table:
    listed = list(bots)
    is_called = any(bot.display_name for bot in listed)
    columns = (
        text("bot", "name", no_wrap=True),
        *([text("called", "display_name")] if is_called else []),
        text("version"),
        text("owner"),
        text("seen", partial(_seen, now), no_wrap=True),  # the hardware runs out of room
        text("hardware"),
        *([text("options", _options)] if any(bot.configuration for bot in listed) else []),
        number("Elo", _rating),
        number("games"),
        number("playing", lambda bot: bot.running_games if bot.connected else ""),
        number("at once", lambda bot: bot.capabilities.max_games if bot.connected else ""),
        number("nodes/s", _rate),
    )
    return table("Bots", columns, listed)


HOSTED_WORDS = "hosted, comes when a game wants it"


def _seen(now: datetime, bot: pb.Bot) -> str:
    if bot.connected:
        return "unexamined" if bot.unexamined else "paused" if bot.paused else "connected"
    if bot.hosted:
        return "hosted"
    if not bot.HasField("last_seen_time"):
        return "away"
    return age_text(now - bot.last_seen_time.ToDatetime(UTC))


def age_text(age: timedelta) -> str:
    """How long ago something was, in its largest unit, such as ``3 h ago``."""
    return f"{duration_text(age, parts=1)} ago" if age >= timedelta(seconds=1) else "now"


def bot_lines(bot: pb.Bot, now: datetime) -> Iterator[str]:
    owner = f", of {bot.owner}" if bot.owner else ""
    yield f"{bot.display_name} ({bot.name}){owner}" if bot.display_name else f"{bot.name}{owner}"
    seen = _seen(now, bot)
    if bot.connected:
        yield f"{seen}, plays {bot.running_games} of {bot.capabilities.max_games} at once"
    else:
        yield HOSTED_WORDS if bot.hosted else seen if seen == "away" else f"away, seen {seen}"
    rating = f", Elo {bot.rating:.0f} on ladder {bot.ladder}" if bot.HasField("rating") else ""
    yield f"{count_text(bot.games)}{rating}"
    if machine := _machine(bot):
        yield machine
    if bot.digest:
        options = f", options {_options(bot)}" if bot.configuration else ""
        yield f"digest {bot.digest[:DIGEST_LENGTH]}{options}"


def _machine(row: pb.Bot | pb.BotVersion) -> str:
    said = (
        row.hardware,
        _rate(row) and f"{_rate(row)} nodes/s",
        {0: "", 1: "1 thread"}.get(row.threads, f"{row.threads} threads"),
        memory_text(row.memory_bytes),
    )
    return ", ".join(filter(None, said))


VERSIONS = (
    text("version", "name"),
    text("since (UTC)", time_of("create_time")),
    text("options", _options),
    text("hardware"),
    number("threads", lambda row: row.threads or ""),
    number("memory", lambda row: memory_text(row.memory_bytes)),
    text("nodes/s", _rate),
    text("digest", lambda row: row.digest[:DIGEST_LENGTH]),
)


def lineage_table(bot: pb.Bot, versions: Iterable[pb.BotVersion]) -> Table:
    """Its versions, newest first, each with the one that it came from."""
    listed = list(versions)
    labels = {version.version_id: _label(version) for version in listed}

    def parent(row: pb.BotVersion) -> str:
        key = row.parent_version_id
        return labels.get(key, key and f"id {key}")

    columns = (
        text("version", _label),
        text("came from", parent),
        text("since (UTC)", time_of("create_time")),
        text("machine", _machine),
        number("Elo", _version_rating),
        number("±", _margin),
        number("games", lambda row: row.rated_games or ""),
        *([text("also came as", "deviation")] if any(each.deviation for each in listed) else []),
    )
    return table(f"Versions of {bot.name}", columns, listed)


def _label(version: pb.BotVersion) -> str:
    return version.name or f"id {version.version_id}"


ENDINGS = (
    text("ending", lambda row: ending_from_proto(row.ending).value),
    number("games", lambda row: games_of(row.score)),
    number("W-D-L", lambda row: results(row.score)),
    number("its fault", "own_faults"),
    number("opponents' fault", "opponents_faults"),
)


def result_tables(found: pb.BotResults) -> Iterator[Table]:
    scores = found.scores
    colors = (("black", scores.as_black), ("white", scores.as_white), ("both", both(scores)))
    yield color_table("By colours", ((*each, "") for each in colors))
    yield score_table("Most met", "bot", ((each.bot, each.scores) for each in found.opponents))
    yield table("By endings", ENDINGS, found.endings)
    openings = [(each.opening or "empty board", each.scores) for each in found.openings]
    yield score_table("By openings", "opening", openings[:MOST_OPENINGS])


def results_note(found: pb.BotResults) -> str:
    if not found.HasField("since"):
        return f"{count_text(found.games)} with a result"
    since = found.since.ToDatetime()
    return f"the newest {count_text(found.games)} with a result, since {since:%Y-%m-%d %H:%M} (UTC)"
