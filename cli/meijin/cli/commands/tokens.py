"""`meijin token`: list, create, rotate and revoke tokens."""

from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Annotated

import typer
from google.protobuf.timestamp_pb2 import Timestamp

from meijin.cli.connection import PAGE, Connection, JsonOption, pages, with_server
from meijin.cli.output import console, print_json, printable, table
from meijin.v1 import token_service_pb2 as pb
from meijin.wire.enums import value_of, word_of

app = typer.Typer(help="List, create, rotate and revoke tokens.", no_args_is_help=True)


class Kind(str, Enum):
    """The scope of a token."""

    BOT = "bot"
    OWNER = "owner"
    OPERATOR = "operator"
    READ = "read"


TokenIdArgument = Annotated[str, typer.Argument(help="The number in `meijin token list`.")]


@app.command("list")
@with_server
def list_(
    connection: Connection,
    with_all: Annotated[
        bool, typer.Option("--all", help="Those that are revoked or expired too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List tokens, without their secrets: an operator all, an owner its own and its bots'."""
    request = pb.ListTokensRequest(with_invalid=with_all, page_size=PAGE)
    found = list(pages(connection.ask_with_token, connection.tokens.ListTokens, request))
    tokens = [each for page in found for each in page.tokens]
    if as_json:
        print_json(pb.ListTokensResponse(tokens=tokens))
        return
    columns = ("token", "kind", "of", "ends in", "label", "made by", "made", "last used", "until")
    made = table("Tokens", columns, text_columns=len(columns))
    for each in tokens:
        made.add_row(
            each.token_id,
            kind_text(each.kind),
            each.bot or each.owner,
            each.suffix,
            each.label,
            each.creator,
            day_text(each.create_time),
            day_text(each.use_time) if each.HasField("use_time") else "never",
            _end_text(each),
        )
    console.print(made)


@app.command()
@with_server
def create(
    connection: Connection,
    kind: Annotated[
        Kind,
        typer.Argument(
            help="bot plays as NAME, owner manages the bots of NAME, operator manages everything, "
            "read looks."
        ),
    ],
    name: Annotated[str, typer.Argument(help="The bot or the owner that it is for.")] = "",
    label: Annotated[str, typer.Option(help="What it is for.")] = "",
    days: Annotated[
        float | None, typer.Option(min=0, help="How long it lasts; for ever else.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token and print its secret, which is shown this once."""
    request = pb.CreateTokenRequest(kind=value_of(pb.TokenKind, kind), name=name, label=label)
    if days is not None:
        request.expire_time.FromDatetime(datetime.now(UTC) + timedelta(days=days))
    response = connection.ask_with_token(connection.tokens.CreateToken, request)
    if as_json:
        print_json(response)
    else:
        print_secret(response.secret, f"token {response.token.token_id}")


@app.command()
@with_server
def rotate(connection: Connection, token_id: TokenIdArgument, as_json: JsonOption = False) -> None:
    """Replace a token by a new one and print its secret; the old one stops at once.

    A server rewrites the file operator.token in its data folder if it is the one in there.
    """
    request = pb.RotateTokenRequest(token_id=token_id)
    response = connection.ask_with_token(connection.tokens.RotateToken, request)
    if as_json:
        print_json(response)
    else:
        print_secret(response.secret, f"token {response.token.token_id}")


@app.command()
@with_server
def revoke(connection: Connection, token_id: TokenIdArgument) -> None:
    """Have a token stop at once; streams that were opened with it are closed."""
    request = pb.RevokeTokenRequest(token_id=token_id)
    revoked = connection.ask_with_token(connection.tokens.RevokeToken, request).token
    name = f" of {revoked.bot or revoked.owner}" if revoked.bot or revoked.owner else ""
    console.print(f"revoked token {revoked.token_id} ({kind_text(revoked.kind)}{name})")


def print_secret(secret: str, what: str) -> None:
    """Print a secret alone on standard output, so that it can go into a file."""
    typer.echo(printable(secret))
    typer.echo(printable(f"This is {what}. Keep it: it is not shown again."), err=True)


def kind_text(kind: pb.TokenKind.ValueType) -> str:
    """The word for a kind."""
    return word_of(pb.TokenKind, kind)


def day_text(time: Timestamp) -> str:
    """An instant to the minute, in UTC."""
    return f"{time.ToDatetime():%Y-%m-%d %H:%M}"


def _end_text(token: pb.Token) -> str:
    if token.HasField("revoke_time"):
        return "revoked"
    return day_text(token.expire_time) if token.HasField("expire_time") else ""
