"""What owners and operators do to bots, and what it does to open streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.peer import play_moves
from tests.server_in_test import FIVE, ServerInTest

from meijin.v1 import game_pb2

if TYPE_CHECKING:
    from tests.peer import Peer

CLOSED = pytest.mark.settings(registration="closed")
ACTIVE, DISABLED, BANNED = "BOT_STATE_ACTIVE", "BOT_STATE_DISABLED", "BOT_STATE_BANNED"
UPDATE, REGISTER = "BotService/UpdateBot", "BotService/RegisterBot"


async def playing(server: ServerInTest, **more: Any) -> tuple[dict[str, str], list[Peer]]:
    """The tokens of two bots, and their streams, ada's first; they are in a game."""
    tokens = {name: await server.register(name, owner="eve") for name in ("ada", "bob")}
    peers = [await server.bot(name, token=token) for name, token in tokens.items()]
    await server.tournament("ada", "bob", **more)
    for peer in peers:
        await peer.started()
    return tokens, peers


@CLOSED
async def test_a_banned_bot_is_told_why(server: ServerInTest) -> None:
    """At its open stream and at its next hello; after that it comes in again."""
    token = await server.register("ada")
    peer = await server.bot("ada", token=token)
    await server.ask(UPDATE, name="ada", state=BANNED, reason="it plays\nfor money")
    again = await server.peer(token)
    await again.hello()
    for stream in (peer, again):
        end = await stream.closed()
        assert (end.reason, end.details) == ("BANNED", '"ada" is banned: it plays for money')
    await server.ask(UPDATE, name="ada", state=ACTIVE)
    await server.bot("ada", token=token)


@pytest.mark.settings(registration="closed", grace=0.2)
async def test_the_games_of_a_disabled_bot_are_lost_as_those_of_any_that_is_away(
    server: ServerInTest,
) -> None:
    """When its grace is over, and by its connection."""
    _, (ada, bob) = await playing(server)
    await server.ask(UPDATE, name="ada", state=DISABLED, reason="new network")
    assert (await ada.closed()).reason == "DISABLED"
    assert (await bob.ended()).outcome.ending == game_pb2.ENDING_DISCONNECT


@CLOSED
async def test_a_renamed_bot_plays_on(server: ServerInTest) -> None:
    """Its game, its token and the name that its process gives stay; it is shown by the new one."""
    tokens, peers = await playing(server)
    peers.sort(key=lambda peer: peer.start.color)
    await play_moves(peers, FIVE[:4])
    await server.ask(UPDATE, name="ada", new_name="ada-2")
    (game,) = (await server.ask("GameService/ListGames", bot="ada-2")).games
    assert {game.black, game.white} == {"ada-2", "bob"}
    await play_moves(peers, FIVE[4:], first=4)
    for peer in peers:
        await peer.ended()
    assert await server.connected() == {"ada-2", "bob"}
    assert (await server.bot("ada", token=tokens["ada"])).name == "ada-2"
    taken = await server.refusal(UPDATE, server.operator_token, name="bob", new_name="ada-2")
    assert taken.reason == "NAME_TAKEN"


async def test_a_bot_without_a_token_keeps_its_name(server: ServerInTest) -> None:
    """Its process is known by nothing else."""
    await server.bot("ada")
    end = await server.refusal(UPDATE, name="ada", new_name="bob")
    assert end.reason == "WRONG_STATE"


@CLOSED
async def test_a_hidden_bot_is_in_no_list(server: ServerInTest) -> None:
    """Nor among those that are connected; operators and its owner see it."""
    eve, operator = await server.token("owner", "eve"), server.operator_token
    token = await server.register("ada", owner="eve")
    await server.register("bob")
    await server.bot("ada", token=token)

    async def listed(token: str, **more: bool) -> list[str]:
        return [bot.name for bot in (await server.ask("BotService/ListBots", token, **more)).bots]

    await server.ask(UPDATE, eve, name="ada", hidden=True)
    reader = await server.token("read")
    assert await listed(reader) == ["bob"]
    assert await listed(reader, connected=True) == []
    assert await listed(eve) == await listed(operator) == ["ada", "bob"]
    assert await listed(operator, connected=True) == ["ada"]
    await server.ask(UPDATE, eve, name="ada", hidden=False)
    assert await listed(reader) == ["ada", "bob"]
    assert await listed(reader, connected=True) == ["ada"]


@pytest.mark.settings(registration="invitation", owner_quota=2)
async def test_an_owner_registers_bots_within_its_quota(server: ServerInTest) -> None:
    """They belong to it, and to nobody else."""
    eve = await server.token("owner", "eve")
    for name, owner in (("ada", ""), ("bob", "eve")):
        assert (await server.ask(REGISTER, eve, name=name, owner=owner)).bot.owner == "eve"
    for fields, reason in (
        ({"name": "cyd"}, "QUOTA"),
        ({"name": "dan", "owner": "mallory"}, "NOT_ALLOWED"),
        ({"name": "ada"}, "NAME_TAKEN"),
    ):
        assert (await server.refusal(REGISTER, eve, **fields)).reason == reason


@CLOSED
async def test_an_owner_manages_what_it_has(server: ServerInTest) -> None:
    """It registers none here, and another's is as if it were not there, in the same words."""
    eve = await server.token("owner", "eve")
    assert (await server.refusal(REGISTER, eve, name="ada")).reason == "REGISTRATION_CLOSED"
    await server.register("ada", owner="eve")
    await server.ask("TokenService/RotateToken", eve, bot="ada")
    await server.register("amy", owner="mallory")
    await server.register("bob")
    for name in ("amy", "bob", "nobody"):
        for method, fields in (
            ("TokenService/RotateToken", {"bot": name}),
            (UPDATE, {"name": name, "hidden": True}),
        ):
            end = await server.refusal(method, eve, **fields)
            assert (end.reason, end.details) == ("NOT_FOUND", f'you have no bot "{name}"')


@CLOSED
async def test_an_owner_lifts_no_ban(server: ServerInTest) -> None:
    """Nor can it rotate, hide or disable its way around one."""
    eve = await server.token("owner", "eve")
    await server.register("ada", owner="eve")
    await server.ask(UPDATE, name="ada", state=BANNED, reason="no")
    for change in (
        {"state": ACTIVE},
        {"state": DISABLED},
        {"hidden": True},
        {"state": ACTIVE, "hidden": False},
    ):
        assert (await server.refusal(UPDATE, eve, name="ada", **change)).reason == "WRONG_STATE"
    token = (await server.ask("TokenService/RotateToken", eve, bot="ada")).secret
    peer = await server.peer(token)
    await peer.hello()
    assert (await peer.closed()).reason == "BANNED"


REFUSED_CHANGES: list[tuple[str, dict[str, Any], str]] = [
    *(("operator", change, "INVALID_REQUEST") for change in ({}, {"reason": "why"})),
    ("operator", {"paused": True}, "INVALID_REQUEST"),
    ("operator", {"state": 0}, "INVALID_REQUEST"),
    *(
        ("operator", {"state": BANNED, "reason": reason}, "INVALID_REQUEST")
        for reason in ("", " \n", "x" * 201)
    ),
    ("eve", {"state": BANNED, "reason": "no"}, "NOT_ALLOWED"),
    ("eve", {"new_name": "eva"}, "NOT_ALLOWED"),
    ("operator", {"hidden": True, "paused": False}, "WRONG_STATE"),
]


@CLOSED
async def test_each_act_has_its_row(server: ServerInTest) -> None:
    """With who did it, and what it was before and after; what was refused has none.

    One says what is to change, a ban tells why, and an owner neither bans nor renames.
    """
    tokens = {"eve": await server.token("owner", "eve"), "operator": server.operator_token}
    await server.register("ada", owner="eve")
    for who, change, reason in REFUSED_CHANGES:
        end = await server.refusal(UPDATE, tokens[who], name="ada", **change)
        assert end.reason == reason, change
    await server.ask(UPDATE, name="ada", hidden=True)
    acts = [("operator first", action, "bot ada") for action in ("register", "hide")]
    assert (await server.acts())[2:] == acts
    (act, _) = (await server.ask("AdminService/ListAudit", of="ada")).acts
    assert (act.before["hidden"], act.after["hidden"]) == (False, True)
    assert act.method == f"/meijin.v1.{UPDATE}"
    assert act.peer.startswith("ipv4:127.0.0.1:")
    assert len(act.request_id) == 16


@pytest.mark.settings(registration="closed", max_faults=1)
async def test_a_pause_is_lifted_by_the_bots_owner(server: ServerInTest) -> None:
    """It plays on at once, and the log says who lifted it; nobody else's owner may."""
    eve, mallory = await server.token("owner", "eve"), await server.token("owner", "mallory")
    _, (ada, _) = await playing(server, rounds=2)
    lift = {"name": "ada", "paused": False}
    assert (await server.refusal(UPDATE, eve, **lift)).reason == "WRONG_STATE"
    await ada.fail(ada.start.game, "boom")
    await ada.paused()
    assert (await server.refusal(UPDATE, mallory, **lift)).reason == "NOT_FOUND"
    await server.ask(UPDATE, eve, **lift)
    assert (await ada.started()).game_id
    assert (await server.acts("ada"))[-1] == ("owner eve", "unpause", "bot ada")
