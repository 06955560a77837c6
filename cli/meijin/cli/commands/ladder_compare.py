"""`meijin ladder compare`: two versions against each other."""

from typing import Annotated

import typer

from meijin.cli.connection import PAGE, Connection, JsonOption, pages, with_server
from meijin.cli.errors import CommandError
from meijin.cli.ladder_views import head_to_head_table, openings_table, results, share
from meijin.cli.options import LadderOption
from meijin.cli.output import console, print_json
from meijin.v1 import bot_service_pb2
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.standings import added

OPENINGS = 10
"""Shown when nobody says how many."""


@with_server
def compare(
    connection: Connection,
    bot: Annotated[str, typer.Argument(help="A bot.")],
    opponent: Annotated[str, typer.Argument(help="Another one.")],
    version: Annotated[
        str, typer.Option(help="The first bot's version, by its label; else its newest rated one.")
    ] = "",
    opponent_version: Annotated[str, typer.Option(help="The other bot's version.")] = "",
    openings: Annotated[
        int, typer.Option(min=0, max=50, help="Show so many openings, the most played.")
    ] = OPENINGS,
    ladder: LadderOption = "",
    as_json: JsonOption = False,
) -> None:
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
    if as_json:
        print_json(response)
        return
    one, other = _title(response.version), _title(response.opponent_version)
    console.print(head_to_head_table(one, other, response))
    _print_expectation(one, other, response)
    _print_other_games(response)
    if openings and response.opening_count > 1:
        console.print(openings_table(response, openings))
        if response.opening_count > openings:
            console.print(
                f"of {response.opening_count} openings; --openings shows up to 50", style="dim"
            )


def _print_expectation(one: str, other: str, response: pb.GetHeadToHeadResponse) -> None:
    if not response.HasField("expectation"):
        console.print("no expectation: the published run does not have both")
        return
    said = response.expectation
    console.print(
        f"{one} is {said.difference:+.0f} ± {said.margin:.0f} Elo from {other}, "
        f"and stronger with a chance of {said.superiority:.1%}",
        soft_wrap=True,
    )


def _print_other_games(response: pb.GetHeadToHeadResponse) -> None:
    """Those of other versions, and those on other ladders of the variant."""
    every = added(response.all_versions.as_black, response.all_versions.as_white)
    if every != added(response.as_black, response.as_white):
        console.print(f"all versions together: {results(every)}, {share(every)}")
    for row in response.elsewhere:
        score = added(row.scores.as_black, row.scores.as_white)
        console.print(f"on {row.ladder}: {results(score)}, {share(score)}")


def _title(version: pb.RatedVersion) -> str:
    return f"{version.bot} {version.version}".rstrip()


def _version_id(connection: Connection, bot: str, label: str) -> str:
    """The id of the newest version with a label; empty without one."""
    if not label:
        return ""
    request = bot_service_pb2.ListBotVersionsRequest(name=bot, page_size=PAGE)
    found = pages(connection.ask, connection.bots.ListBotVersions, request)
    versions = [version for page in found for version in page.versions]
    for version in reversed(versions):
        if label in (version.version, version.version_id):
            return version.version_id
    labels = ", ".join(version.version or version.version_id for version in versions[-10:])
    raise CommandError(f'"{bot}" has no version "{label}"; there are: {labels}')
