"""The server that a command talks to, and the token that it shows."""

from pathlib import Path
from typing import Any

import grpc
import pytest

from meijin.arena.connection import Server, connect, pages
from meijin.arena.errors import ArenaError
from meijin.v1 import token_service_pb2 as pb
from meijin.wire.contract import OPERATOR_TOKEN_FILE, client_keepalive_options


def token_shown(_request: object, *, timeout: float, metadata: tuple[Any, ...] = ()) -> str:
    """Answer a call with the token that came with it."""
    assert timeout > 0
    return str(dict(metadata).get("authorization", "none"))


METHOD: Any = token_shown


@pytest.fixture
def token_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a server on this machine leaves its operator's token."""
    monkeypatch.setenv("MEIJIN_DATA", str(tmp_path))
    return tmp_path / OPERATOR_TOKEN_FILE


@pytest.mark.parametrize(
    "server", ["localhost", "127.0.0.1:7000", "[::1]", "[::1]:7000", "unix:/run/arena"]
)
def test_a_server_on_this_machine_is_shown_the_kept_token(server: str, token_file: Path) -> None:
    """Without a word, by commands for operators alone."""
    token_file.write_text("secret\n")
    with connect(Server(server)) as connection:
        assert connection.ask_with_token(METHOD, None) == "Bearer secret"
        assert connection.ask(METHOD, None) == "none"
    with connect(Server(server), "given") as connection:
        assert connection.ask_with_token(METHOD, None) == "Bearer given"


@pytest.mark.parametrize("server", ["example.org", "grpcs://example.org", "10.0.0.1:7464"])
def test_the_kept_token_stays_on_this_machine(server: str, token_file: Path) -> None:
    """Other servers have operators of their own."""
    token_file.write_text("secret\n")
    with connect(Server(server)) as connection:
        assert connection.ask_with_token(METHOD, None) == "none"


def test_a_token_is_read_where_it_is_needed(token_file: Path) -> None:
    """A file that can't be read is in the way of nobody else."""
    token_file.mkdir()
    with connect(Server("localhost")) as connection:
        assert connection.ask(METHOD, None) == "none"
        with pytest.raises(ArenaError, match=r"can't read .*; give --token"):
            connection.ask_with_token(METHOD, None)


Refused: Any = type(
    "Refused",
    (grpc.RpcError, grpc.Call),
    dict.fromkeys(grpc.Call.__abstractmethods__)
    | {"code": lambda _self: grpc.StatusCode.UNAUTHENTICATED},
)
"""The end of a call without a token to a server where reading needs one."""


def guarded(_request: object, *, timeout: float = 1, metadata: tuple[Any, ...] = ()) -> Any:
    """Answer those with a token."""
    if not metadata:
        raise Refused
    return iter([token_shown(None, timeout=timeout, metadata=metadata)])


def test_a_server_that_asks_for_a_token_to_read_is_shown_one(
    token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the environment before the kept one, for lists and for streams."""
    method: Any = guarded
    with connect(Server("localhost")) as connection, pytest.raises(Refused):
        connection.ask(method, None)
    token_file.write_text("secret\n")
    with connect(Server("localhost")) as connection:
        assert list(connection.ask(method, None)) == ["Bearer secret"]
    monkeypatch.setenv("MEIJIN_TOKEN", "read")
    with connect(Server("localhost")) as connection:
        assert list(connection.watch(method, None)) == ["Bearer read"]
        assert list(connection.ask(method, None)) == ["Bearer read"]


def test_a_token_of_the_environment_is_not_sent_in_plain_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To another machine, unless that is allowed."""
    monkeypatch.setenv("MEIJIN_TOKEN", "read")
    with connect(Server("example.org")) as connection:
        with pytest.raises(ArenaError, match="in plain text"):
            connection.ask_with_token(METHOD, None)
        assert connection.ask(METHOD, None) == "none"


@pytest.mark.parametrize("server", ["http://example.org", "host:port", "::1"])
def test_no_address_is_told_in_one_line(server: str) -> None:
    """With the form that it should have."""
    with (
        pytest.raises(ArenaError, match="is no address of a server; write it like"),
        connect(Server(server)),
    ):
        pass


def test_silent_streams_are_probed(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a server that hangs is noticed while a tournament is followed."""
    options = []
    open_channel = grpc.insecure_channel

    def insecure_channel(address: str, **asked: Any) -> grpc.Channel:
        options.append(asked["options"])
        return open_channel(address, **asked)

    monkeypatch.setattr("grpc.insecure_channel", insecure_channel)
    with connect(Server("localhost")):
        assert set(client_keepalive_options()) < set(options[0])


def test_all_pages_of_a_list_are_asked_for(token_file: Path) -> None:
    """Each with the token, and with what the one before says of it."""
    token_file.write_text("secret")
    asked = []

    def list_tokens(request: pb.ListTokensRequest, *, timeout: float, metadata: object) -> Any:
        assert timeout > 0
        asked.append((request.page_size, request.page_token, metadata))
        return pb.ListTokensResponse(
            next_page_token={"": "2", "2": "3", "3": ""}[request.page_token]
        )

    method: Any = list_tokens
    with connect(Server("localhost")) as connection:
        found = list(pages(connection.ask_with_token, method, pb.ListTokensRequest(page_size=7)))
    shown = (("authorization", "Bearer secret"),)
    assert asked == [(7, token, shown) for token in ("", "2", "3")]
    assert [page.next_page_token for page in found] == ["2", "3", ""]
