"""`meijin ladder compare`: two versions against each other."""

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from meijin.cli.command import Output, option
from meijin.cli.errors import CommandError
from meijin.cli.options import LadderOption
from meijin.cli.output import Styled
from meijin.cli.tables import both, color_table, number, score_table
from meijin.local.connection import Connection, read_list
from meijin.v1 import bot_service_pb2
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.standings import results, share_text

OPENINGS = 10
"""Shown when nobody says how many."""


def compare(
    connection: Connection,
    bot: Annotated[str, typer.Argument(help="A bot.")],
    opponent: Annotated[str, typer.Argument(help="Another one.")],
    version: Annotated[
        str, "The first bot's version, by its label; else its newest rated one."
    ] = "",
    opponent_version: Annotated[str, "The other bot's version."] = "",
    openings: Annotated[int, option("Show this many openings, the most played.", 0, 50)] = OPENINGS,
    ladder: LadderOption = "",
) -> Output:
    """Show what two versions scored against each other, and who is the stronger.

    Games, chances and difference are of the same two versions, the newest rated ones of both
    bots if none is named; those of all versions follow by themselves.
    """
    request = pb.GetHeadToHeadRequest(
        ladder=ladder,
        bot=bot,
        opponent=opponent,
        version_id=_version_id(connection, bot, version),
        opponent_version_id=_version_id(connection, opponent, opponent_version),
    )
    response = connection.ask(connection.ladders.GetHeadToHead, request)
    return Output(response, _lines(response, openings))


def _lines(response: pb.GetHeadToHeadResponse, openings: int) -> Iterator[RenderableType | Styled]:
    one, other = _title(response.version), _title(response.opponent_version)
    yield head_to_head_table(one, other, response)
    if response.HasField("expectation"):
        said = response.expectation
        yield (
            f"{one} is {said.difference:+.0f} ± {said.margin:.0f} Elo from {other}, "
            f"and stronger with a chance of {said.superiority:.1%}"
        )
    else:
        yield "no expectation: the published run does not have both"
    every = both(response.all_versions)
    if every != both(response):
        yield f"all versions together: {results(every)}, {share_text(every)}"
    for row in response.elsewhere:
        score = both(row.scores)
        yield f"on {row.ladder}: {results(score)}, {share_text(score)}"
    if openings and response.opening_count > 1:
        rows = [(row.opening or "empty board", row.scores) for row in response.openings]
        yield score_table("By openings", "opening", rows[:openings])
        if response.opening_count > openings:
            yield Styled(f"of {response.opening_count} openings; --openings shows up to 50")


def head_to_head_table(bot: str, opponent: str, response: pb.GetHeadToHeadResponse) -> Table:
    """What a version scored against another by colours, beside what is to be expected."""
    black = white = ""
    if response.HasField("expectation"):
        said = response.expectation
        black, white = f"{said.score_as_black:.1%}", f"{said.score_as_white:.1%}"
    rows = (
        ("black", response.as_black, black),
        ("white", response.as_white, white),
        ("both", both(response), ""),
        ("without forfeits", both(response.without_faults), ""),
    )
    return color_table(f"{bot} against {opponent}", rows, number("expected", lambda row: row[2]))


def _title(version: pb.RatedVersion) -> str:
    return f"{version.bot} {version.version}".rstrip()


def _version_id(connection: Connection, bot: str, label: str) -> str:
    """The id of the newest version with a label; empty without one."""
    if not label:
        return ""
    request = bot_service_pb2.ListBotVersionsRequest(name=bot)
    versions = read_list(connection.ask, connection.bots.ListBotVersions, request).versions
    for version in reversed(versions):
        if label in (version.version, version.version_id):
            return version.version_id
    labels = ", ".join(version.version or version.version_id for version in versions[-10:])
    raise CommandError(f'"{bot}" has no version "{label}"; there are: {labels}')
