"""Tokens over the wire: made, rotated, revoked, and what ends with them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from sqlalchemy import Connection, text

from meijin.server.access import tokens as decisions
from meijin.testing.desk import Desk
from meijin.testing.peer import WAIT_TIMEOUT, bearer, ending_of_call
from meijin.testing.server import ServerInTest
from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import token_service_pb2 as pb
from meijin.v1 import tournament_service_pb2 as tournament_pb

Code = grpc.StatusCode
CLOSED = pytest.mark.settings(registration="closed")
LIST, ROTATE = "TokenService/ListTokens", "TokenService/RotateToken"
REVOKE, CREATE = "TokenService/RevokeToken", "TokenService/CreateToken"


@CLOSED
async def test_the_operators_token_is_rotated_in_its_file(server: ServerInTest, desk: Desk) -> None:
    """The file has the new one, for its owner alone; the old one stops at once."""
    old = server.operator_token
    answer = await desk.ask(ROTATE, token_id="1")
    assert server.operator_token == answer.secret != old
    path = server.settings.data / "operator.token"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (await desk.refusal(LIST, old)).code is Code.UNAUTHENTICATED
    listed = (await desk.ask(LIST)).tokens
    assert [(token.token_id, token.label) for token in listed] == [("2", "first")]
    assert await desk.acts() == [("operator first", "rotate", "token 1")]


@CLOSED
async def test_of_two_rotations_at_once_one_wins(server: ServerInTest, desk: Desk) -> None:
    """And the file has that one's secret."""
    calls = (desk.ask(ROTATE, token_id="1") for _ in range(2))
    answers = await asyncio.gather(*calls, return_exceptions=True)
    (won,) = [answer for answer in answers if not isinstance(answer, BaseException)]
    assert server.operator_token == won.secret
    assert (await desk.refusal(LIST, won.secret)).code is Code.OK


@CLOSED
async def test_the_last_operators_token_stays(desk: Desk) -> None:
    """Else nobody could let anybody in again."""
    end = await desk.refusal(REVOKE, desk.server.operator_token, token_id="1")
    assert (end.code, end.reason) == (Code.FAILED_PRECONDITION, "WRONG_STATE")
    second = await desk.token("operator", label="night shift")
    assert (await desk.refusal(REVOKE, second, token_id="1")).code is Code.OK
    assert (await desk.refusal(LIST, second)).code is Code.OK


@CLOSED
@pytest.mark.parametrize("method", [ROTATE, REVOKE])
async def test_a_bots_stream_ends_with_its_token(
    server: ServerInTest, desk: Desk, method: str
) -> None:
    """The bot's other token goes on working."""
    token = await desk.bot("ada")
    other = await desk.token("bot", "ada", label="second machine")
    peer = await server.bot("ada", token=token)
    await desk.ask(method, token_id="2")
    end = await peer.closed()
    assert (end.code, end.reason) == (Code.UNAUTHENTICATED, "UNKNOWN_TOKEN")
    again = await server.peer(token)
    assert (await again.closed()).code is Code.UNAUTHENTICATED
    await server.bot("ada", token=other)


@CLOSED
async def test_a_watch_ends_with_its_token(server: ServerInTest, desk: Desk) -> None:
    """A stream that was opened with it tells nothing more; one without a token goes on."""
    for name in ("ada", "bob"):
        await desk.bot(name)
    tournament = await server.tournament("ada", "bob", token=server.operator_token)
    reader = await desk.token("read")
    service = await server.tournaments()
    request = tournament_pb.WatchTournamentRequest(tournament_id=tournament)
    watch = service.WatchTournament(request, metadata=bearer(reader))
    assert await watch.read() is not grpc.aio.EOF
    free = service.WatchTournament(request)
    assert await free.read() is not grpc.aio.EOF
    await desk.ask(REVOKE, token_id="4")
    assert (await ending_of_call(watch)).code is Code.UNAUTHENTICATED
    assert not free.done()
    free.cancel()


@CLOSED
async def test_a_stream_ends_when_its_token_expires(server: ServerInTest, desk: Desk) -> None:
    """It is looked at once a minute; a call with the token is refused from its instant on."""
    await desk.bot("ada")
    expire_time = Timestamp()
    expire_time.FromDatetime(datetime.now(UTC) + timedelta(hours=1))
    token = await desk.token("bot", "ada", expire_time=expire_time)
    peer = await server.bot("ada", token=token)
    uses = server.app.access.uses
    await uses.end_expired(datetime.now(UTC))
    assert await server.connected() == {"ada"}
    await uses.end_expired(datetime.now(UTC) + timedelta(hours=2))
    assert (await peer.closed()).code is Code.UNAUTHENTICATED


@CLOSED
async def test_the_past_is_no_time_to_expire(desk: Desk) -> None:
    """A token that could never be used is not made."""
    read = pb.TOKEN_KIND_READ
    end = await desk.refusal(
        CREATE, desk.server.operator_token, kind=read, expire_time=Timestamp(seconds=1)
    )
    assert (end.code, end.reason) == (Code.INVALID_ARGUMENT, "INVALID_REQUEST")


@CLOSED
async def test_an_owner_manages_its_own_tokens_alone(desk: Desk) -> None:
    """Others' are not there, in the same words as those that there are none of."""
    eve, mallory = await desk.token("owner", "eve"), await desk.token("owner", "mallory")
    await desk.bot("ada", owner="eve")
    listed = {each.token_id for each in (await desk.ask(LIST, mallory)).tokens}
    mine = {each.token_id for each in (await desk.ask(LIST, eve)).tokens}
    assert (listed, mine) == ({"3"}, {"2", "4"})
    for method in (ROTATE, REVOKE):
        ends = [await desk.refusal(method, mallory, token_id=key) for key in ("1", "2", "4", "99")]
        assert {(end.code, end.reason) for end in ends} == {(Code.NOT_FOUND, "NOT_FOUND")}
        advice = "list the tokens to see their ids"
        assert [end.details for end in ends] == [
            f"no token {key}; {advice}" for key in (1, 2, 4, 99)
        ]
    for kind, name, code in (
        (pb.TOKEN_KIND_OPERATOR, "", Code.PERMISSION_DENIED),
        (pb.TOKEN_KIND_READ, "", Code.PERMISSION_DENIED),
        (pb.TOKEN_KIND_OWNER, "eve", Code.PERMISSION_DENIED),
        (pb.TOKEN_KIND_BOT, "ada", Code.NOT_FOUND),
        (pb.TOKEN_KIND_BOT, "nobody", Code.NOT_FOUND),
        (pb.TOKEN_KIND_OWNER, "", Code.OK),
    ):
        assert (await desk.refusal(CREATE, mallory, kind=kind, name=name)).code is code


@CLOSED
async def test_tokens_are_so_many(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot's or an owner's; revoking one makes room."""
    monkeypatch.setattr(decisions, "MAX_TOKENS", 2)
    eve = await desk.token("owner", "eve")
    await desk.ask(CREATE, eve, kind=pb.TOKEN_KIND_OWNER)
    end = await desk.refusal(CREATE, eve, kind=pb.TOKEN_KIND_OWNER)
    assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "QUOTA")
    await desk.ask(REVOKE, eve, token_id="3")
    assert (await desk.refusal(CREATE, eve, kind=pb.TOKEN_KIND_OWNER)).code is Code.OK


@CLOSED
async def test_the_last_use_is_shown_before_it_is_written(server: ServerInTest, desk: Desk) -> None:
    """A call writes nothing; what is collected is written together."""
    token = await desk.token("read")
    await (await server.bots()).ListBots(bot_pb.ListBotsRequest(), metadata=bearer(token))

    def written() -> int:
        query = text("SELECT count(use_time) FROM token")
        return server.database.read(lambda at: at.scalar(query)) or 0

    assert written() == 0
    shown = (await desk.ask(LIST)).tokens
    assert all(each.HasField("use_time") for each in shown)
    await server.app.access.uses.write()
    assert written() == 2
    assert [each.use_time for each in (await desk.ask(LIST)).tokens][1] == shown[1].use_time


@CLOSED
async def test_no_secret_is_kept(server: ServerInTest, desk: Desk) -> None:
    """Neither in a table nor in the log of the acts, whatever was done."""
    secrets = [server.operator_token, await desk.bot("ada", owner="eve"), await desk.token("read")]
    secrets.append((await desk.ask("TokenService/RotateToken", bot="ada")).secret)
    secrets.append((await desk.ask(ROTATE, token_id="3")).secret)
    async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
        dump = await asyncio.to_thread(lambda: server.database.read(dumped))
    assert "rotate tokens" in dump
    for secret in secrets:
        assert secret[-12:] not in dump


def dumped(at: Connection) -> str:
    """Every value of every table."""
    names = at.scalars(text("SELECT name FROM sqlite_master WHERE type = 'table'")).all()
    return "\n".join(
        str(row) for name in names for row in at.execute(text(f"SELECT * FROM {name}"))
    )
