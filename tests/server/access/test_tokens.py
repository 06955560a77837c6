"""Tokens over the wire: made, rotated, revoked, and what ends with them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from sqlalchemy import text
from tests.peer import ending_of_call
from tests.server_in_test import ServerInTest

from meijin.server.access import tokens as decisions
from meijin.v1 import token_service_pb2 as pb

pytestmark = pytest.mark.settings(registration="closed")
LIST, ROTATE = "TokenService/ListTokens", "TokenService/RotateToken"
REVOKE, CREATE = "TokenService/RevokeToken", "TokenService/CreateToken"
OWNER, READ, BOT = pb.TOKEN_KIND_OWNER, pb.TOKEN_KIND_READ, pb.TOKEN_KIND_BOT


async def test_the_operators_token_is_rotated_in_its_file(server: ServerInTest) -> None:
    """The file has the new one, for its owner alone; the old one stops at once.

    Of two rotations at once one wins, and the file has that one's secret.
    """
    old = server.operator_token
    calls = (server.ask(ROTATE, token_id="1") for _ in range(2))
    answers = await asyncio.gather(*calls, return_exceptions=True)
    (won,) = [answer for answer in answers if not isinstance(answer, BaseException)]
    assert server.operator_token == won.secret != old
    path = server.settings.data / "operator.token"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (await server.refusal(LIST, old)).reason == "UNKNOWN_TOKEN"
    listed = (await server.ask(LIST)).tokens
    assert [(token.token_id, token.label) for token in listed] == [("2", "first")]
    assert await server.acts() == [("operator first", "rotate", "token 1")]


async def test_the_last_operators_token_stays(server: ServerInTest) -> None:
    """Else nobody could let anybody in again."""
    end = await server.refusal(REVOKE, server.operator_token, token_id="1")
    assert end.reason == "WRONG_STATE"
    second = await server.token("operator", label="night shift")
    for method, fields in ((REVOKE, {"token_id": "1"}), (LIST, {})):
        assert (await server.refusal(method, second, **fields)).code is grpc.StatusCode.OK


@pytest.mark.parametrize("method", [ROTATE, REVOKE])
async def test_a_bots_stream_ends_with_its_token(server: ServerInTest, method: str) -> None:
    """The bot's other token goes on working."""
    token = await server.register("ada")
    other = await server.token("bot", "ada", label="second machine")
    peer = await server.bot("ada", token=token)
    await server.ask(method, token_id="2")
    for stream in (peer, await server.peer(token)):
        assert (await stream.closed()).reason == "UNKNOWN_TOKEN"
    await server.bot("ada", token=other)


async def test_a_watch_ends_with_its_token(server: ServerInTest) -> None:
    """A stream that was opened with it tells nothing more; another goes on."""
    for name in ("ada", "bob"):
        await server.register(name)
    key = await server.tournament("ada", "bob")
    reader = await server.token("read")
    watch, other = [
        server.watch("TournamentService/WatchTournament", token, tournament_id=key)
        for token in (reader, None)
    ]
    for call in (watch, other):
        assert await call.read() is not grpc.aio.EOF
    await server.ask(REVOKE, token_id="4")
    assert (await ending_of_call(watch)).reason == "UNKNOWN_TOKEN"
    assert not other.done()
    other.cancel()


async def test_a_stream_ends_when_its_token_expires(server: ServerInTest) -> None:
    """It is looked at once a minute; a token that could never be used is not made."""
    expire_time = Timestamp()
    await server.register("ada")
    expire_time.FromDatetime(datetime.now(UTC) + timedelta(hours=1))
    token = await server.token("bot", "ada", expire_time=expire_time)
    peer = await server.bot("ada", token=token)
    uses = server.parts.uses
    await uses.end_expired(datetime.now(UTC))
    assert await server.connected() == {"ada"}
    await uses.end_expired(datetime.now(UTC) + timedelta(hours=2))
    assert (await peer.closed()).reason == "UNKNOWN_TOKEN"
    past: dict[str, Any] = {"kind": READ, "expire_time": Timestamp(seconds=1)}
    assert (await server.refusal(CREATE, server.operator_token, **past)).reason == "INVALID_REQUEST"


async def test_an_owner_manages_its_own_tokens_alone(server: ServerInTest) -> None:
    """Others' are not there, in the same words as those that there are none of."""
    eve, mallory = await server.token("owner", "eve"), await server.token("owner", "mallory")
    await server.register("ada", owner="eve")
    for who, wanted in ((mallory, ["3"]), (eve, ["2", "4"])):
        assert [each.token_id for each in (await server.ask(LIST, who)).tokens] == wanted
    for method in (ROTATE, REVOKE):
        for key in ("1", "2", "4", "99"):
            end = await server.refusal(method, mallory, token_id=key)
            words = f"no token {key}; list the tokens to see their ids"
            assert (end.reason, end.details) == ("NOT_FOUND", words)
    for kind, name, reason in (
        (pb.TOKEN_KIND_OPERATOR, "", "NOT_ALLOWED"),
        (READ, "", "NOT_ALLOWED"),
        (OWNER, "eve", "NOT_ALLOWED"),
        (BOT, "ada", "NOT_FOUND"),
        (BOT, "nobody", "NOT_FOUND"),
        (OWNER, "", ""),
    ):
        assert (await server.refusal(CREATE, mallory, kind=kind, name=name)).reason == reason


async def test_tokens_are_so_many(server: ServerInTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot's or an owner's; revoking one makes room."""
    monkeypatch.setattr(decisions, "MAX_TOKENS", 2)
    eve = await server.token("owner", "eve")
    await server.ask(CREATE, eve, kind=OWNER)
    assert (await server.refusal(CREATE, eve, kind=OWNER)).reason == "QUOTA"
    await server.ask(REVOKE, eve, token_id="3")
    await server.ask(CREATE, eve, kind=OWNER)


async def test_the_last_use_is_shown_before_it_is_written(server: ServerInTest) -> None:
    """A call writes nothing; what is collected is written together."""
    token = await server.token("read")
    await server.ask("BotService/ListBots", token)

    def written() -> int:
        query = text("SELECT count(use_time) FROM token")
        return server.database.read(lambda at: at.scalar(query)) or 0

    assert written() == 0
    shown = (await server.ask(LIST)).tokens
    assert all(each.HasField("use_time") for each in shown)
    await server.parts.uses.write()
    assert written() == 2
    assert [each.use_time for each in (await server.ask(LIST)).tokens][1] == shown[1].use_time
