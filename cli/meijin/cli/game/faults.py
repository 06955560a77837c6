"""`meijin faults`: what went wrong, whose fault it was, and the evidence."""

from typing import Annotated

import typer

from meijin.cli.command import USUAL_LIMIT, LimitOption, Output, list_lines
from meijin.cli.tables import number, table, text, word
from meijin.local.connection import Connection, read_list
from meijin.v1 import fault_service_pb2 as pb
from meijin.wire.enums import word_of
from meijin.wire.values import ending_from_proto

GAMES_WENT_ON = "-"


def _bot(fault: pb.Fault) -> str:
    return f"{fault.bot} {fault.version}".rstrip()


COLUMNS = (
    text("when (UTC)", lambda row: f"{row.create_time.ToDatetime():%m-%d %H:%M:%S}", no_wrap=True),
    text("game", "game_id"),
    text("bot", _bot),
    text("what", word("kind", pb.FaultKind)),
    text("at fault", word("party", pb.FaultParty)),
    text("detail"),
)


GROUP_COLUMNS = (
    number("times", "count"),
    text("cause", "signature"),
    text("what", lambda row: word_of(pb.FaultKind, row.newest.kind)),
    text("bots", lambda row: ", ".join(row.bots)),
    text("first (UTC)", lambda row: f"{row.first_time.ToDatetime():%m-%d %H:%M:%S}", no_wrap=True),
    text("last (UTC)", lambda row: f"{row.newest.create_time.ToDatetime():%m-%d %H:%M:%S}"),
)


def faults(
    connection: Connection,
    bot: Annotated[
        str, typer.Argument(help="Only those that concern this bot, and its pause.")
    ] = "",
    game: Annotated[str, "Only this game's, with their evidence."] = "",
    grouped: Annotated[bool, "By cause, each with how often it came."] = False,
    limit: LimitOption = USUAL_LIMIT,
) -> Output:
    """Show the fault ledger: forfeits, void games and incidents, newest first."""
    if grouped and not game:
        asked = pb.ListFaultGroupsRequest(bot=bot)
        groups = read_list(connection.ask, connection.faults.ListFaultGroups, asked, limit)
        return Output(groups, list_lines(groups, table("Faults", GROUP_COLUMNS, groups.groups)))
    request = pb.ListFaultsRequest(bot=bot, game_id=game)
    found = read_list(connection.ask, connection.faults.ListFaults, request, limit)
    if game:
        return Output(found, [line for fault in found.faults for line in _lines(fault)])
    listed = list_lines(found, table("Faults", COLUMNS, found.faults))
    pauses = (
        f"{f'{bot} {pause.version}'.rstrip()} is paused: {pause.reason}" for pause in found.pauses
    )
    return Output(found, [*listed, *pauses])


def _lines(fault: pb.Fault) -> list[str]:
    kind = word_of(pb.FaultKind, fault.kind)
    party = word_of(pb.FaultParty, fault.party)
    ending = ending_from_proto(fault.ending).value if fault.ending else GAMES_WENT_ON
    from meijin.wire.json import struct_object  # noqa: PLC0415 - as in `output`

    return [
        f"fault {fault.fault_id}: {kind}, at fault: {party}; game ended by: {ending}",
        f"  {_bot(fault)}: {fault.detail}" if fault.bot else f"  {fault.detail}",
        *(f"  {name}: {value}" for name, value in struct_object(fault.evidence).items()),
    ]
