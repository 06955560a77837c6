"""What owners and operators do to bots, and what it does to open streams."""

from __future__ import annotations

import grpc
import pytest

from meijin.testing.desk import Desk
from meijin.testing.peer import play_moves
from meijin.testing.server import FIVE, ServerInTest
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as game_pb
from meijin.v1 import play_service_pb2 as play_pb

Code = grpc.StatusCode
CLOSED = pytest.mark.settings(registration="closed")
ACTIVE, DISABLED, BANNED = "BOT_STATE_ACTIVE", "BOT_STATE_DISABLED", "BOT_STATE_BANNED"
BY_INVITATION = pytest.mark.settings(registration="invitation", owner_quota=2)


@CLOSED
async def test_a_banned_bot_is_told_why(server: ServerInTest, desk: Desk) -> None:
    """At its open stream and at its next hello; after that it comes in again."""
    token = await desk.bot("ada")
    peer = await server.bot("ada", token=token)
    await desk.ask("BotService/UpdateBot", name="ada", state=BANNED, reason="it plays\nfor money")
    for stream in (peer, await server.peer(token)):
        if stream is not peer:
            await stream.write(hello=play_pb.Hello(protocol_version=1))
        end = await stream.closed()
        assert (end.code, end.reason) == (Code.PERMISSION_DENIED, "BANNED")
        assert end.details == '"ada" is banned: it plays for money'
    await desk.ask("BotService/UpdateBot", name="ada", state=ACTIVE)
    await server.bot("ada", token=token)


@CLOSED
async def test_a_ban_needs_a_reason(desk: Desk) -> None:
    """Since it is told; and one of a sentence."""
    await desk.bot("ada")
    for reason in ("", " \n", "x" * 201):
        ban = {"name": "ada", "state": BANNED, "reason": reason}
        end = await desk.refusal("BotService/UpdateBot", desk.server.operator_token, **ban)
        assert end.code is Code.INVALID_ARGUMENT
    assert [action for _, action, _ in await desk.acts("ada")] == ["register"]


@pytest.mark.settings(registration="closed", grace=0.2)
async def test_the_games_of_a_disabled_bot_are_lost_as_those_of_any_that_is_away(
    server: ServerInTest, desk: Desk
) -> None:
    """When its grace is over, and by its connection."""
    tokens = {name: await desk.bot(name) for name in ("ada", "bob")}
    peers = {name: await server.bot(name, token=token) for name, token in tokens.items()}
    await server.tournament("ada", "bob", token=server.operator_token)
    for peer in peers.values():
        await peer.started()
    await desk.ask("BotService/UpdateBot", name="ada", state=DISABLED, reason="new network")
    end = await peers["ada"].closed()
    assert (end.code, end.reason) == (Code.PERMISSION_DENIED, "DISABLED")
    ended = await peers["bob"].ended()
    assert ended.outcome.ending == game_pb2.ENDING_DISCONNECT


@CLOSED
async def test_a_renamed_bot_plays_on(server: ServerInTest, desk: Desk) -> None:
    """Its game, its token and the name that its process gives stay; it is shown by the new one."""
    tokens = {name: await desk.bot(name) for name in ("ada", "bob")}
    peers = [await server.bot(name, token=token) for name, token in tokens.items()]
    tournament = await server.tournament("ada", "bob", token=server.operator_token)
    for peer in peers:
        await peer.started()
    peers.sort(key=lambda peer: peer.start.color)
    await play_moves(peers, FIVE[:4])
    await desk.ask("BotService/UpdateBot", name="ada", new_name="ada-2")
    games = await server.games()
    listed = await games.ListGames(game_pb.ListGamesRequest(tournament_id=tournament))
    assert {listed.games[0].black, listed.games[0].white} == {"ada-2", "bob"}
    await play_moves(peers, FIVE[4:], first=4)
    for peer in peers:
        await peer.ended()
    assert await server.connected() == {"ada-2", "bob"}
    old_name = await server.bot("ada", token=tokens["ada"])
    assert old_name.name == "ada-2"
    listed = await games.ListGames(game_pb.ListGamesRequest(bot="ada-2"))
    assert len(listed.games) == 1
    end = await desk.refusal(
        "BotService/UpdateBot", server.operator_token, name="bob", new_name="ada-2"
    )
    assert (end.code, end.reason) == (Code.ALREADY_EXISTS, "NAME_TAKEN")


async def test_a_bot_without_a_token_keeps_its_name(server: ServerInTest, desk: Desk) -> None:
    """Its process is known by nothing else."""
    await server.bot("ada")
    end = await desk.refusal("BotService/UpdateBot", None, name="ada", new_name="bob")
    assert (end.code, end.reason) == (Code.FAILED_PRECONDITION, "WRONG_STATE")


@CLOSED
async def test_a_hidden_bot_is_in_no_list(server: ServerInTest, desk: Desk) -> None:
    """Nor among those that are connected; operators and its owner see it."""
    eve = await desk.token("owner", "eve")
    token = await desk.bot("ada", owner="eve")
    await desk.bot("bob")
    await server.bot("ada", token=token)

    async def listed(token: str, **more: bool) -> list[str]:
        answer = await desk.ask("BotService/ListBots", token, **more)
        return [bot.name for bot in answer.bots]

    await desk.ask("BotService/UpdateBot", eve, name="ada", hidden=True)
    reader = await desk.token("read")
    assert await listed(reader) == ["bob"]
    assert await listed(reader, connected=True) == []
    assert await listed(eve) == await listed(server.operator_token) == ["ada", "bob"]
    assert await listed(server.operator_token, connected=True) == ["ada"]
    await desk.ask("BotService/UpdateBot", eve, name="ada", hidden=False)
    assert await listed(reader) == ["ada", "bob"]
    assert await listed(reader, connected=True) == ["ada"]


@BY_INVITATION
async def test_an_owner_registers_bots_within_its_quota(desk: Desk) -> None:
    """They belong to it, and to nobody else."""
    eve = await desk.token("owner", "eve")
    for name, owner in (("ada", ""), ("bob", "eve")):
        answer = await desk.ask("BotService/RegisterBot", eve, name=name, owner=owner)
        assert answer.bot.owner == "eve"
    end = await desk.refusal("BotService/RegisterBot", eve, name="cyd")
    assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "QUOTA")
    end = await desk.refusal("BotService/RegisterBot", eve, name="dan", owner="mallory")
    assert end.code is Code.PERMISSION_DENIED
    end = await desk.refusal("BotService/RegisterBot", eve, name="ada")
    assert end.code is Code.ALREADY_EXISTS


@CLOSED
async def test_a_closed_server_takes_bots_from_operators_alone(desk: Desk) -> None:
    """An owner manages what it has."""
    eve = await desk.token("owner", "eve")
    end = await desk.refusal("BotService/RegisterBot", eve, name="ada")
    assert (end.code, end.reason) == (Code.FAILED_PRECONDITION, "REGISTRATION_CLOSED")
    await desk.bot("ada", owner="eve")
    await desk.ask("TokenService/RotateToken", eve, bot="ada")


@CLOSED
@pytest.mark.parametrize(
    ("method", "named", "change"),
    [
        ("TokenService/RotateToken", "bot", {}),
        ("BotService/UpdateBot", "name", {"hidden": True}),
    ],
)
async def test_anothers_bot_is_as_if_it_were_not_there(
    desk: Desk, method: str, named: str, change: dict[str, object]
) -> None:
    """The same words for one that there is, and for one that there is not."""
    eve = await desk.token("owner", "eve")
    await desk.bot("ada", owner="mallory")
    await desk.bot("bob")
    for name in ("ada", "bob", "nobody"):
        end = await desk.refusal(method, eve, **{named: name}, **change)
        assert (end.code, end.reason) == (Code.NOT_FOUND, "NOT_FOUND")
        assert end.details == f'you have no bot "{name}"'


@CLOSED
async def test_an_owner_lifts_no_ban(desk: Desk) -> None:
    """Nor can it rotate, hide or disable its way around one."""
    eve = await desk.token("owner", "eve")
    await desk.bot("ada", owner="eve")
    await desk.ask("BotService/UpdateBot", name="ada", state=BANNED, reason="no")
    for change in (
        {"state": ACTIVE},
        {"state": DISABLED},
        {"hidden": True},
        {"state": ACTIVE, "hidden": False},
    ):
        end = await desk.refusal("BotService/UpdateBot", eve, name="ada", **change)
        assert (end.code, end.reason) == (Code.FAILED_PRECONDITION, "WRONG_STATE")
    token = (await desk.ask("TokenService/RotateToken", eve, bot="ada")).secret
    peer = await desk.server.peer(token)
    await peer.write(hello=play_pb.Hello(protocol_version=1))
    assert (await peer.closed()).reason == "BANNED"


@CLOSED
@pytest.mark.parametrize("change", [{"state": BANNED, "reason": "no"}, {"new_name": "eva"}])
async def test_an_owner_neither_bans_nor_renames(desk: Desk, change: dict[str, object]) -> None:
    """Its own bots: operators do."""
    eve = await desk.token("owner", "eve")
    await desk.bot("ada", owner="eve")
    end = await desk.refusal("BotService/UpdateBot", eve, name="ada", **change)
    assert (end.code, end.reason) == (Code.PERMISSION_DENIED, "NOT_ALLOWED")


@CLOSED
@pytest.mark.parametrize("change", [{}, {"reason": "why"}, {"paused": True}, {"state": 0}])
async def test_an_update_says_what_is_to_change(desk: Desk, change: dict[str, object]) -> None:
    await desk.bot("ada")
    token = desk.server.operator_token
    end = await desk.refusal("BotService/UpdateBot", token, name="ada", **change)
    assert end.code is Code.INVALID_ARGUMENT


@CLOSED
async def test_each_act_has_its_row(server: ServerInTest, desk: Desk) -> None:
    """With who did it, and what it was before and after; what was refused has none."""
    await desk.bot("ada")
    await desk.bot("bob")
    tournament = await server.tournament("ada", "bob", token=server.operator_token)
    refused = {"name": "ada", "hidden": True, "paused": False}
    await desk.refusal("BotService/UpdateBot", server.operator_token, **refused)
    await desk.ask("BotService/UpdateBot", name="ada", hidden=True)
    for state in ("TOURNAMENT_STATE_CANCELLED", "TOURNAMENT_STATE_RUNNING"):
        await desk.ask("TournamentService/UpdateTournament", tournament_id=tournament, state=state)
    operator = "operator first"
    assert await desk.acts() == [
        (operator, "register", "bot ada"),
        (operator, "register", "bot bob"),
        (operator, "create", f"tournament {tournament}"),
        (operator, "hide", "bot ada"),
        (operator, "cancel", f"tournament {tournament}"),
        (operator, "resume", f"tournament {tournament}"),
    ]
    (act, _) = (await desk.ask("AdminService/ListAudit", of="ada")).acts
    assert (act.before["hidden"], act.after["hidden"]) == (False, True)
    assert act.method == "/meijin.v1.BotService/UpdateBot"
    assert act.peer.startswith("ipv4:127.0.0.1:")
    assert len(act.request_id) == 16


@pytest.mark.settings(registration="closed", max_faults=1)
async def test_a_pause_is_lifted_by_the_bots_owner(server: ServerInTest, desk: Desk) -> None:
    """It plays on at once, and the log says who lifted it; nobody else's owner may."""
    eve, mallory = await desk.token("owner", "eve"), await desk.token("owner", "mallory")
    tokens = {name: await desk.bot(name, owner="eve") for name in ("ada", "bob")}
    peers = {name: await server.bot(name, token=token) for name, token in tokens.items()}
    await server.tournament("ada", "bob", rounds=2, token=server.operator_token)
    end = await desk.refusal("BotService/UpdateBot", eve, name="ada", paused=False)
    assert (end.code, end.reason) == (Code.FAILED_PRECONDITION, "WRONG_STATE")
    await peers["ada"].fail((await peers["ada"].started()).game, "boom")
    await peers["ada"].paused()
    end = await desk.refusal("BotService/UpdateBot", mallory, name="ada", paused=False)
    assert (end.code, end.reason) == (Code.NOT_FOUND, "NOT_FOUND")
    await desk.ask("BotService/UpdateBot", eve, name="ada", paused=False)
    assert (await peers["ada"].started()).game_id
    assert (await desk.acts("ada"))[-1] == ("owner eve", "unpause", "bot ada")
