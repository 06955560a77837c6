"""`meijin faults`: what went wrong, whose fault it was, and the evidence."""

from typing import Annotated

import typer

from meijin.cli.connection import Connection, JsonOption, with_server
from meijin.cli.listing import OLDER, USUAL_LIMIT, LimitOption, read_list
from meijin.cli.output import console, print_json, table
from meijin.v1 import fault_service_pb2 as pb
from meijin.wire import ending_from_proto
from meijin.wire.enums import word_of

GAMES_WENT_ON = "-"


@with_server
def faults(
    connection: Connection,
    bot: Annotated[
        str, typer.Argument(help="Only those that concern this bot, and its pause.")
    ] = "",
    game: Annotated[str, typer.Option(help="Only this game's, with their evidence.")] = "",
    limit: LimitOption = USUAL_LIMIT,
    as_json: JsonOption = False,
) -> None:
    """Show the fault ledger: forfeits, void games and incidents, newest first."""
    request = pb.ListFaultsRequest(bot=bot, game_id=game)
    response = read_list(
        connection.ask,
        connection.faults.ListFaults,
        request,
        rows=lambda response: response.faults,
        limit=limit,
    )
    if as_json:
        print_json(response)
    elif game:
        for fault in response.faults:
            console.print(*_lines(fault), sep="\n")
    else:
        print_faults(response)
        for pause in response.pauses:
            console.print(f"{f'{bot} {pause.version}'.rstrip()} is paused: {pause.reason}")


def print_faults(response: pb.ListFaultsResponse) -> None:
    """Print faults as a table."""
    columns = ("when (UTC)", "game", "bot", "what", "at fault", "detail")
    made = table("Faults", columns, text_columns=len(columns))
    made.columns[0].no_wrap = True
    for fault in response.faults:
        made.add_row(
            f"{fault.create_time.ToDatetime():%m-%d %H:%M:%S}",
            fault.game_id,
            _bot(fault),
            word_of(pb.FaultKind, fault.kind),
            word_of(pb.FaultParty, fault.party),
            fault.detail,
        )
    console.print(made)
    if response.next_page_token:
        console.print(OLDER)


def _lines(fault: pb.Fault) -> list[str]:
    """Everything that is known of a fault."""
    kind = word_of(pb.FaultKind, fault.kind)
    party = word_of(pb.FaultParty, fault.party)
    evidence = [f"  {name}: {_number(value)}" for name, value in fault.evidence.items()]
    return [
        f"fault {fault.fault_id}: {kind}, at fault: {party}; game ended by: {_ending(fault)}",
        f"  {_bot(fault)}: {fault.detail}" if fault.bot else f"  {fault.detail}",
        *evidence,
    ]


def _number(value: object) -> object:
    """A value of the evidence; the contract has all numbers as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _bot(fault: pb.Fault) -> str:
    return f"{fault.bot} {fault.version}".rstrip()


def _ending(fault: pb.Fault) -> str:
    return ending_from_proto(fault.ending).value if fault.ending else GAMES_WENT_ON
