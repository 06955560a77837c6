"""`meijin token`: list, create, rotate and revoke tokens."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from meijin.cli.command import Commands, Output, list_output, option
from meijin.cli.files import SaveOption, private_file
from meijin.cli.output import console, print_secret, printable
from meijin.cli.tables import text, time_of, word
from meijin.local.connection import Connection
from meijin.v1 import token_service_pb2 as pb
from meijin.wire.enums import value_of, word_of

app = Commands()


class TokenScope(str, Enum):
    """What a token is good for."""

    BOT = "bot"
    OWNER = "owner"
    OPERATOR = "operator"
    READ = "read"
    HOST = "host"


TokenIdArgument = Annotated[str, typer.Argument(help="The number in `meijin token list`.")]


def _end(token: pb.Token) -> str:
    return "revoked" if token.HasField("revoke_time") else time_of("expire_time", "")(token)


COLUMNS = (
    text("token", "token_id"),
    text("kind", word("kind", pb.TokenKind)),
    text("of", lambda row: row.bot or row.owner),
    text("ends in", "suffix"),
    text("label"),
    text("made by", "creator"),
    text("made", time_of("create_time")),
    text("last used", time_of("use_time", "never")),
    text("until", _end),
)


@app.command("list")
def list_(
    connection: Connection,
    with_all: Annotated[
        bool, typer.Option("--all", help="Those that are revoked or expired too.")
    ] = False,
) -> Output:
    """List tokens, without their secrets: an operator all, an owner its own and its bots'."""
    request = pb.ListTokensRequest(with_invalid=with_all)
    method = connection.tokens.ListTokens
    return list_output(connection.ask_with_token, method, request, "Tokens", COLUMNS)


@app.command()
def create(
    connection: Connection,
    kind: Annotated[
        TokenScope,
        typer.Argument(
            help="bot plays as NAME, owner manages the bots of NAME, operator manages everything, "
            "read looks, host runs the programs of bots."
        ),
    ],
    name: Annotated[str, typer.Argument(help="The bot or the owner that it is for.")] = "",
    label: Annotated[str, "What it is for."] = "",
    days: Annotated[float | None, option("How long it lasts; forever else.", 0)] = None,
    save: SaveOption = None,
) -> Output:
    """Make a token and print its secret, which is shown this once."""
    request = pb.CreateTokenRequest(kind=value_of(pb.TokenKind, kind), name=name, label=label)
    if days is not None:
        request.expire_time.FromDatetime(datetime.now(UTC) + timedelta(days=days))
    ask = partial(connection.ask_with_token, connection.tokens.CreateToken, request)
    return secret_output(ask, _named, save)


@app.command()
def rotate(connection: Connection, token_id: TokenIdArgument, save: SaveOption = None) -> Output:
    """Replace a token by a new one and print its secret; the old one stops at once.

    A server rewrites the file operator.token in its data folder if it is the one in there.
    """
    request = pb.RotateTokenRequest(token_id=token_id)
    ask = partial(connection.ask_with_token, connection.tokens.RotateToken, request)
    return secret_output(ask, _named, save, is_new=False)


@app.command()
def revoke(connection: Connection, token_id: TokenIdArgument) -> None:
    """Have a token stop at once; streams that were opened with it are closed."""
    request = pb.RevokeTokenRequest(token_id=token_id)
    revoked = connection.ask_with_token(connection.tokens.RevokeToken, request).token
    name = f" of {revoked.bot or revoked.owner}" if revoked.bot or revoked.owner else ""
    kind = word_of(pb.TokenKind, revoked.kind)
    console.print(f"revoked token {revoked.token_id} ({kind}{name})")


def _named(made: Any) -> str:  # noqa: ANN401 - a response with a token
    return f"token {made.token.token_id}"


def secret_output(
    ask: Callable[[], Any],
    name: Callable[[Any], str],
    save: Path | None,
    *,
    is_new: bool = True,
) -> Output:
    """A secret that is asked for, alone on standard output, or in a file instead.

    Args:
        ask: Gives a message with the secret.
        name: What the message has made.
        save: The file; it must not be there if it `is_new`.
    """
    with ExitStack() as stack:
        file = save and stack.enter_context(private_file(save, is_new=is_new))
        made = ask()
        if file:
            print(printable(made.secret), file=file)
    if save:
        made.secret = ""
        return Output(made, [f"{name(made)} is in {save}"])
    note = f"This is {name(made)}. Keep it: it is not shown again."
    return Output(made, [partial(print_secret, made.secret, note)])
