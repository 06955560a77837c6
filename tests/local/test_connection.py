"""The server that a command talks to, and the token that it shows."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import grpc
import pytest

from meijin.local import connection
from meijin.local.connection import Server, connect, read_list
from meijin.local.errors import ArenaError
from meijin.v1 import game_service_pb2 as game_pb
from meijin.wire.contract import OPERATOR_TOKEN_FILE, client_keepalive_options

Refused: Any = type(
    "Refused",
    (grpc.RpcError, grpc.Call),
    dict.fromkeys(grpc.Call.__abstractmethods__)
    | {
        "code": lambda _self: grpc.StatusCode.UNAUTHENTICATED,
        "details": lambda _self: "a token is needed",
    },
)
"""The end of a call without a token to a server where reading needs one."""


class Method:
    """Answers a call with the token that came with it, unless it is refused."""

    def __init__(self, *refused: str) -> None:
        self._refused = refused

    def __call__(self, _request: object, *, timeout: float = 1, metadata: Any = ()) -> Any:
        assert timeout > 0
        shown = str(dict(metadata).get("authorization", "none"))
        if shown in self._refused:
            raise Refused
        return iter([shown])


OPEN: Any = Method()
GUARDED: Any = Method("none")


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
        assert [*connection.ask_with_token(OPEN, None)] == ["Bearer secret"]
        assert [*connection.ask(OPEN, None)] == ["none"]
    with connect(Server(server), "given") as connection:
        assert [*connection.ask_with_token(OPEN, None)] == ["Bearer given"]


@pytest.mark.parametrize("server", ["example.org", "grpcs://example.org", "10.0.0.1:7464"])
def test_the_kept_token_stays_on_this_machine(server: str, token_file: Path) -> None:
    token_file.write_text("secret\n")
    with connect(Server(server)) as connection:
        assert [*connection.ask_with_token(OPEN, None)] == ["none"]


def test_a_token_is_read_where_it_is_needed(token_file: Path) -> None:
    token_file.mkdir()
    with connect(Server("localhost")) as connection:
        assert [*connection.ask(OPEN, None)] == ["none"]
        with pytest.raises(ArenaError, match=r"can't read .*; give --token"):
            connection.ask_with_token(OPEN, None)


def test_a_server_that_asks_for_a_token_to_read_is_shown_one(
    token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the environment before the kept one, for lists and for streams."""
    with connect(Server("localhost")) as connection, pytest.raises(Refused):
        connection.ask(GUARDED, None)
    token_file.write_text("secret\n")
    with connect(Server("localhost")) as connection:
        assert [*connection.ask(GUARDED, None)] == ["Bearer secret"]
    monkeypatch.setenv("MEIJIN_OPERATOR_TOKEN", "read")
    with connect(Server("localhost")) as connection:
        assert [*connection.watch(GUARDED, None)] == ["Bearer read"]
        assert [*connection.ask(GUARDED, None)] == ["Bearer read"]


def test_a_bots_token_is_shown_where_one_is_wanted(
    token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And there is no operator's; an open server is called without."""
    assert not token_file.exists()
    monkeypatch.setenv("MEIJIN_TOKEN", "bot")
    with connect(Server("localhost")) as connection:
        assert [*connection.ask(GUARDED, None)] == ["Bearer bot"]
        assert [*connection.ask_with_token(GUARDED, None)] == ["Bearer bot"]
        assert [*connection.watch_with_token(GUARDED, lambda: None)] == ["Bearer bot"]
        assert [*connection.ask_with_token(OPEN, None)] == ["none"]


def test_an_open_server_is_called_without_another_ones_token(token_file: Path) -> None:
    """The folder may be another server's; one that needs a token leaves no doubt whose it was."""
    token_file.write_text("another")
    methods: Any = Method("Bearer another"), Method("Bearer another", "none")
    said = r"operator\.token is not this server's: give a token with --token or .* with --data$"
    with connect(Server("localhost")) as connection:
        assert [*connection.ask_with_token(methods[0], None)] == ["none"]
    with pytest.raises(ArenaError, match=said), connect(Server("localhost")) as connection:
        connection.ask_with_token(methods[1], None)


def test_a_token_that_is_not_there_was_looked_for_in_a_folder(
    token_file: Path, tmp_path: Path
) -> None:
    """That of the server where it is said, and else of the environment."""
    for server, file in (
        (Server("localhost"), token_file),
        (Server("localhost", data=Path("there")), Path("there", OPERATOR_TOKEN_FILE)),
    ):
        said = f"a token is needed, and there is no {file}: give"
        with pytest.raises(ArenaError, match=said), connect(server) as connection:
            connection.ask_with_token(GUARDED, None)
    token_file.write_text("secret")
    with connect(Server("localhost", data=tmp_path)) as connection:
        assert [*connection.ask_with_token(GUARDED, None)] == ["Bearer secret"]


def test_a_token_of_the_environment_is_not_sent_in_plain_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEIJIN_OPERATOR_TOKEN", "read")
    with connect(Server("example.org")) as connection:
        with pytest.raises(ArenaError, match="in plain text"):
            connection.ask_with_token(OPEN, None)
        assert [*connection.ask(OPEN, None)] == ["none"]


@pytest.mark.parametrize("server", ["http://example.org", "host:port", "::1"])
def test_no_address_is_told_in_one_line(server: str) -> None:
    said = "is no address of a server; write it like"
    with pytest.raises(ArenaError, match=said), connect(Server(server)):
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


GAMES = 25
MOST = 4
"""Rows that the server's page has room for."""


def ask(_: object, request: game_pb.ListGamesRequest) -> game_pb.ListGamesResponse:
    """What a server says that has games 0 to 24, and short pages."""
    first = int(request.page_token or 0)
    end = min(first + request.page_size, first + MOST, GAMES)
    response = game_pb.ListGamesResponse(next_page_token=str(end) if end < GAMES else "")
    for number in range(first, end):
        response.games.add(game_id=str(number))
    return response


@pytest.mark.parametrize(
    ("limit", "rows", "token"),
    [
        (1, 1, "1"),
        (4, 4, "4"),
        (7, 7, "7"),
        (24, 24, "24"),
        (25, 25, ""),
        (99, 25, ""),
        (0, 25, ""),
    ],
)
def test_as_many_rows_as_wanted(
    monkeypatch: pytest.MonkeyPatch, limit: int, rows: int, token: str
) -> None:
    monkeypatch.setattr(connection, "PAGE", 10)
    method = Mock(spec=grpc.UnaryUnaryMultiCallable)
    read: game_pb.ListGamesResponse = read_list(ask, method, game_pb.ListGamesRequest(), limit)
    assert [game.game_id for game in read.games] == list(map(str, range(rows)))
    assert read.next_page_token == token
