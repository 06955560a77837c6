"""One bot on the screen: its versions, and what its games have come to."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from rich.table import Table

from meijin.cli.bot_lists import age_text
from meijin.cli.ladder_views import results, share
from meijin.cli.output import count_text, rate_text, table
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.wire import ending_from_proto
from meijin.wire.standings import added

MOST_OPENINGS = 10
"""Those of a table that are shown; JSON has all."""


def bot_lines(bot: pb.Bot, now: datetime) -> Iterator[str]:
    """Who it is, in a few lines."""
    owner = f", of {bot.owner}" if bot.owner else ""
    yield f"{bot.display_name} ({bot.name}){owner}" if bot.display_name else f"{bot.name}{owner}"
    yield _presence(bot, now)
    rating = f", Elo {bot.rating:.0f} on ladder {bot.ladder}" if bot.HasField("rating") else ""
    yield f"{count_text(bot.games)}{rating}"
    if bot.hardware or bot.nodes_per_second:
        rate = rate_text(bot.nodes_per_second)
        yield ", ".join(filter(None, (bot.hardware, rate and f"{rate} nodes/s")))


def _presence(bot: pb.Bot, now: datetime) -> str:
    if bot.connected:
        state = "paused" if bot.paused else "unexamined" if bot.unexamined else "connected"
        return f"{state}, plays {bot.running_games} of {bot.capabilities.max_games} at once"
    if not bot.HasField("last_seen_time"):
        return "away"
    return f"away, seen {age_text(now - bot.last_seen_time.ToDatetime(UTC))}"


def version_table(bot: pb.Bot, versions: Iterable[pb.BotVersion]) -> Table:
    """Its versions, newest first, each with the one that it came from."""
    listed = list(versions)
    labels = {version.version_id: _label(version) for version in listed}
    titles = ("version", "came from", "since (UTC)", "hardware")
    made = table(f"Versions of {bot.name}", (*titles, "Elo", "±", "games"), text_columns=4)
    for version in listed:
        is_rated = version.HasField("rating")
        parent = version.parent_version_id
        made.add_row(
            _label(version),
            labels.get(parent, parent and f"id {parent}"),
            f"{version.create_time.ToDatetime():%Y-%m-%d %H:%M}",
            version.hardware,
            *([f"{version.rating:.0f}", f"{version.margin:.0f}"] if is_rated else ["", ""]),
            str(version.rated_games or ""),
        )
    return made


def _label(version: pb.BotVersion) -> str:
    return version.version or f"id {version.version_id}"


def result_tables(found: pb.BotResults) -> Iterator[Table]:
    """What its games have come to, by colour, opponent, ending and opening."""
    yield _color_table(found.scores)
    opponents = ((each.bot, each.scores) for each in found.opponents)
    yield _score_table("Most met", "bot", opponents)
    yield _ending_table(found.endings)
    openings = ((each.opening or "empty board", each.scores) for each in found.openings)
    yield _score_table("By openings", "opening", list(openings)[:MOST_OPENINGS])


def results_note(found: pb.BotResults) -> str:
    """Which games are counted."""
    if not found.HasField("since"):
        return f"{count_text(found.games)} with a result"
    since = found.since.ToDatetime()
    return f"the newest {count_text(found.games)} with a result, since {since:%Y-%m-%d %H:%M} (UTC)"


def _color_table(scores: ladder_pb.ColorScores) -> Table:
    made = table("By colours", ("as", "games", "W-D-L", "score"))
    for name, score in (
        ("black", scores.as_black),
        ("white", scores.as_white),
        ("both", added(scores.as_black, scores.as_white)),
    ):
        made.add_row(name, str(_games(score)), results(score), share(score))
    return made


def _score_table(title: str, what: str, rows: Iterable[tuple[str, ladder_pb.ColorScores]]) -> Table:
    made = table(title, (what, "games", "black", "white", "score"))
    for name, scores in rows:
        both = added(scores.as_black, scores.as_white)
        made.add_row(
            name,
            str(_games(both)),
            results(scores.as_black),
            results(scores.as_white),
            share(both),
        )
    return made


def _ending_table(endings: Iterable[pb.BotEnding]) -> Table:
    made = table("By endings", ("ending", "games", "W-D-L", "its fault", "opponents' fault"))
    for each in endings:
        faults = (each.own_faults, each.opponents_faults)
        made.add_row(
            ending_from_proto(each.ending).value,
            str(_games(each.score)),
            results(each.score),
            *map(str, faults),
        )
    return made


def _games(score: ladder_pb.Score) -> int:
    return score.wins + score.draws + score.losses
