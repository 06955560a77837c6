"""`meijin bot program`: list, show and change the programs that the arena runs."""

from dataclasses import replace
from enum import Enum
from typing import Annotated

import typer

from meijin.cli.bot.program.tables import PROGRAMS, program_lines, quota_lines
from meijin.cli.command import USUAL_LIMIT, Commands, LimitOption, Output, list_output
from meijin.cli.completion import registered
from meijin.cli.output import Styled
from meijin.local.connection import Connection
from meijin.v1 import hosting_service_pb2 as pb
from meijin.wire.enums import value_of, word_of

app = Commands()

ProgramArgument = Annotated[
    str, typer.Argument(metavar="PROGRAM", help="The number in `meijin bot program list`.")
]
ReasonOption = Annotated[str, typer.Option(help="Why, in a sentence; its owner is told.")]


class State(str, Enum):
    """What has become of a program."""

    UPLOADED = "uploaded"
    CHECKING = "checking"
    ADMITTED = "admitted"
    REFUSED = "refused"
    SUSPENDED = "suspended"
    RETIRED = "retired"


@app.command("list")
def list_(
    connection: Connection,
    bot: Annotated[str, typer.Argument(help="Of this bot alone.", autocompletion=registered)] = "",
    state: Annotated[State | None, "Only those in this state."] = None,
    limit: LimitOption = USUAL_LIMIT,
) -> Output:
    """List programs, newest first: an operator all, an owner those of its bots."""
    request = pb.ListProgramsRequest(bot=bot)
    if state is not None:
        request.state = value_of(pb.ProgramState, state)
    ask, method = connection.ask_with_token, connection.hosting.ListPrograms
    listed = list_output(ask, method, request, "Programs", PROGRAMS, limit)
    return replace(listed, lines=[*listed.lines, *quota_lines(listed.value)])


@app.command()
def show(connection: Connection, program: ProgramArgument) -> Output:
    """Show a program: what its admission has found, and what its runs have used."""
    request = pb.GetProgramRequest(program_id=program)
    response = connection.ask_with_token(connection.hosting.GetProgram, request)
    return Output(response, program_lines(response.program))


@app.command()
def log(connection: Connection, program: ProgramArgument) -> Output:
    """Print the last lines that a program has said while it was examined and played."""
    request = pb.ReadProgramLogRequest(program_id=program)
    response = connection.ask_with_token(connection.hosting.ReadProgramLog, request)
    lines: list[str | Styled] = [Styled("older lines were dropped")] if response.cut else []
    lines += response.lines or [Styled("it has said nothing")]
    return Output(response, lines)


@app.command()
def retire(connection: Connection, program: ProgramArgument) -> Output:
    """Take a program back: its bot plays with it no more, and its bytes are deleted."""
    return _update(connection, program, state=pb.PROGRAM_STATE_RETIRED)


@app.command()
def rollback(connection: Connection, program: ProgramArgument) -> Output:
    """Have its bot play with an earlier program, or any that is admitted, from its next game on."""
    return _update(connection, program, current=True)


@app.command()
def suspend(connection: Connection, program: ProgramArgument, reason: ReasonOption) -> Output:
    """Keep a program from playing. Operators."""
    return _update(connection, program, state=pb.PROGRAM_STATE_SUSPENDED, reason=reason)


@app.command()
def reinstate(
    connection: Connection,
    program: ProgramArgument,
    examine: Annotated[bool, "Have it examined anew first."] = False,
) -> Output:
    """Let a suspended program play again, or have one examined anew. Operators."""
    state = pb.PROGRAM_STATE_UPLOADED if examine else pb.PROGRAM_STATE_ADMITTED
    return _update(connection, program, state=state)


def _update(
    connection: Connection,
    program_id: str,
    *,
    state: pb.ProgramState.ValueType = pb.PROGRAM_STATE_UNSPECIFIED,
    reason: str = "",
    current: bool = False,
) -> Output:
    request = pb.UpdateProgramRequest(
        program_id=program_id, state=state, reason=reason, current=current
    )
    response = connection.ask_with_token(connection.hosting.UpdateProgram, request)
    row = response.program
    if current:
        return Output(response, [f"{row.bot} plays with program {row.program_id} from now on"])
    return Output(response, [f"program {row.program_id} is {word_of(pb.ProgramState, row.state)}"])
