"""`meijin ladder`: the standings."""

from typing import Annotated

import typer

from meijin.cli.connection import DEFAULT_SERVER, JsonOption, ServerOption, connect
from meijin.cli.output import console, ladder_table, print_json
from meijin.v1 import ladder_service_pb2 as pb


def ladder(
    name: Annotated[
        str, typer.Argument(help="Such as freestyle-15x15; may be left out when there is one.")
    ] = "",
    server: ServerOption = DEFAULT_SERVER,
    as_json: JsonOption = False,
) -> None:
    """Show a ladder: every rated version's Elo, games and faults."""
    with connect(server) as connection:
        response = connection.ask(
            connection.ladders.GetStandings, pb.GetStandingsRequest(ladder=name)
        )
    if as_json:
        print_json(response)
        return
    console.print(ladder_table(response))
    if not response.ladder.current:
        rated = response.run.games
        console.print(f"computed from {rated} of {response.ladder.games} games; being updated")
