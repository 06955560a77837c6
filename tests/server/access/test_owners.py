"""Owners, and the invitations that they come by."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from sqlalchemy import text

from meijin.game import GOMOKU, TimeControl
from meijin.testing.desk import Desk
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.wire import time_control_to_proto, variant_to_proto

Code = grpc.StatusCode
BY_INVITATION = pytest.mark.settings(registration="invitation", owner_quota=2)
INVITE, JOIN = "OwnerService/CreateInvitation", "OwnerService/Join"


async def join(desk: Desk, invitation: str, name: str) -> tuple[grpc.StatusCode, str, str]:
    """How it goes for somebody without a token."""
    end = await desk.refusal(JOIN, None, invitation=invitation, name=name)
    return end.code, end.reason, end.details


@BY_INVITATION
async def test_whoever_has_an_invitation_becomes_an_owner(desk: Desk) -> None:
    """With a token, the invitation's quota, and a row for each step in the audit log."""
    secret = (await desk.ask(INVITE, quota=1)).secret
    eve = (await desk.ask(JOIN, invitation=secret, name="eve")).token
    await desk.ask("BotService/RegisterBot", eve, name="ada")
    end = await desk.refusal("BotService/RegisterBot", eve, name="bob")
    assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "QUOTA")
    (owner,) = (await desk.ask("OwnerService/ListOwners")).owners
    assert (owner.name, owner.bots, owner.quota) == ("eve", 1, 1)
    acts = [(action, subject) for _, action, subject in await desk.acts()]
    assert acts == [
        ("invite", "invitation 1"),
        ("make", "owner eve"),
        ("use", "invitation 1"),
        ("register", "bot ada"),
    ]


@BY_INVITATION
async def test_an_invitation_that_is_none_any_more(desk: Desk) -> None:
    """Unknown, used up, expired or revoked: the same words, and nobody comes by it."""
    used = (await desk.ask(INVITE)).secret
    await desk.ask(JOIN, invitation=used, name="eve")
    expired, revoked = (await desk.ask(INVITE)).secret, (await desk.ask(INVITE)).secret
    desk.server.database.write(
        lambda to: to.execute(text("UPDATE invitation SET expire_time = create_time WHERE id = 2"))
    )
    await desk.ask("OwnerService/RevokeInvitation", invitation_id="3")
    told = {await join(desk, secret, "mallory") for secret in (used, expired, revoked, "x")}
    words = "the invitation is unknown, used up or out of date"
    assert told == {(Code.PERMISSION_DENIED, "INVITATION", words)}
    assert len((await desk.ask("OwnerService/ListOwners")).owners) == 1
    assert not (await desk.ask("OwnerService/ListInvitations")).invitations


@BY_INVITATION
async def test_of_two_who_come_for_the_last_use_one_has_it(desk: Desk) -> None:
    """Whoever is first; there are never more owners than uses."""
    secret = (await desk.ask(INVITE, uses=3)).secret
    told = await asyncio.gather(*(join(desk, secret, f"owner-{n}") for n in range(8)))
    assert sorted(code.name for code, _, _ in told) == ["OK"] * 3 + ["PERMISSION_DENIED"] * 5
    assert len((await desk.ask("OwnerService/ListOwners")).owners) == 3


@BY_INVITATION
async def test_a_name_that_is_taken_uses_nothing(desk: Desk) -> None:
    """The invitation is still good for another one."""
    await desk.token("owner", "eve")
    secret = (await desk.ask(INVITE)).secret
    assert (await join(desk, secret, "eve"))[:2] == (Code.ALREADY_EXISTS, "NAME_TAKEN")
    assert (await join(desk, secret, "e v e"))[0] is Code.INVALID_ARGUMENT
    assert (await join(desk, secret, "eva"))[0] is Code.OK


@pytest.mark.settings(registration="closed")
async def test_a_closed_server_takes_no_invitation(desk: Desk) -> None:
    """Nor does it make any."""
    end = await desk.refusal(INVITE, desk.server.operator_token)
    assert (end.code, end.reason) == (Code.FAILED_PRECONDITION, "REGISTRATION_CLOSED")
    assert (await join(desk, "x", "eve"))[1] == "REGISTRATION_CLOSED"


@BY_INVITATION
async def test_an_invitation_has_bounds(desk: Desk) -> None:
    """Of uses, of time and of bots."""
    year, none = Duration(), Duration()
    year.FromTimedelta(timedelta(days=366))
    for more in ({"uses": 1001}, {"lifetime": year}, {"lifetime": none}, {"quota": 10_001}):
        end = await desk.refusal(INVITE, desk.server.operator_token, **more)
        assert (end.code, end.reason) == (Code.INVALID_ARGUMENT, "INVALID_REQUEST"), more


@pytest.mark.settings(registration="closed", owner_tournaments=True, owner_tournament_games=9)
async def test_an_owners_tournaments_are_bounded(desk: Desk) -> None:
    """Those of operators are not."""
    eve = await desk.token("owner", "eve")
    for name in ("ada", "bob"):
        await desk.bot(name)
    settings = tournament_pb.TournamentSettings(
        format=tournament_pb.TOURNAMENT_FORMAT_ROUND_ROBIN, bots=["ada", "bob"], rounds=10
    )
    settings.time_control.CopyFrom(time_control_to_proto(TimeControl.parse("60")))
    settings.variant.CopyFrom(variant_to_proto(GOMOKU))
    create = "TournamentService/CreateTournament"
    end = await desk.refusal(create, eve, settings=settings)
    assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "QUOTA")
    await desk.ask(create, settings=settings)
    settings.rounds = 8
    await desk.ask(create, eve, settings=settings)


@pytest.mark.settings(registration="closed", owner_tournaments=True)
async def test_owners_may_be_let_make_tournaments(desk: Desk) -> None:
    """But not stop them."""
    eve = await desk.token("owner", "eve")
    end = await desk.refusal("TournamentService/CreateTournament", eve)
    assert end.code is Code.INVALID_ARGUMENT
    end = await desk.refusal("TournamentService/UpdateTournament", eve, tournament_id="1")
    assert (end.code, end.reason) == (Code.PERMISSION_DENIED, "NOT_ALLOWED")
