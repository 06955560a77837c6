"""Owners, and the invitations that they come by."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import text
from tests.server_in_test import ServerInTest

BY_INVITATION = pytest.mark.settings(registration="invitation", owner_quota=2)
INVITE, JOIN = "OwnerService/CreateInvitation", "OwnerService/Join"
CREATE = "TournamentService/CreateTournament"


async def join(server: ServerInTest, invitation: str, name: str) -> tuple[str, str]:
    end = await server.refusal(JOIN, invitation=invitation, name=name)
    return end.reason, end.details


@BY_INVITATION
async def test_whoever_has_an_invitation_becomes_an_owner(server: ServerInTest) -> None:
    """With a token, the invitation's quota, and a row for each step in the audit log.

    A name that is taken, or none, uses nothing of it.
    """
    secret = (await server.ask(INVITE, quota=1)).secret
    await server.token("owner", "ann")
    assert (await join(server, secret, "ann"))[0] == "NAME_TAKEN"
    assert (await join(server, secret, "e v e"))[0] == "INVALID_REQUEST"
    eve = (await server.ask(JOIN, invitation=secret, name="eve")).token
    await server.ask("BotService/RegisterBot", eve, name="ada")
    assert (await server.refusal("BotService/RegisterBot", eve, name="bob")).reason == "QUOTA"
    _, owner = (await server.ask("OwnerService/ListOwners")).owners
    assert (owner.name, owner.bots, owner.quota) == ("eve", 1, 1)
    acts = [(action, subject) for _, action, subject in await server.acts()]
    assert acts[:1] + acts[3:] == [
        ("invite", "invitation 1"),
        ("make", "owner eve"),
        ("use", "invitation 1"),
        ("register", "bot ada"),
    ]


@BY_INVITATION
async def test_an_invitation_that_is_none_any_more(server: ServerInTest) -> None:
    """Unknown, used up, expired or revoked: the same words, and nobody comes by it."""
    used, expired, revoked = [(await server.ask(INVITE)).secret for _ in range(3)]
    await server.ask(JOIN, invitation=used, name="eve")
    server.database.write(
        lambda to: to.execute(text("UPDATE invitation SET expire_time = create_time WHERE id = 2"))
    )
    await server.ask("OwnerService/RevokeInvitation", invitation_id="3")
    told = {await join(server, secret, "mallory") for secret in (used, expired, revoked, "x")}
    assert told == {("INVITATION", "the invitation is unknown, used up or out of date")}
    assert len((await server.ask("OwnerService/ListOwners")).owners) == 1
    assert not (await server.ask("OwnerService/ListInvitations")).invitations


@BY_INVITATION
async def test_of_two_who_come_for_the_last_use_one_has_it(server: ServerInTest) -> None:
    """Whoever is first; there are never more owners than uses."""
    secret = (await server.ask(INVITE, uses=3)).secret
    told = await asyncio.gather(*(join(server, secret, f"owner-{n}") for n in range(8)))
    assert sorted(reason for reason, _ in told) == [""] * 3 + ["INVITATION"] * 5
    assert len((await server.ask("OwnerService/ListOwners")).owners) == 3


@pytest.mark.settings(registration="closed")
async def test_a_closed_server_takes_no_invitation(server: ServerInTest) -> None:
    end = await server.refusal(INVITE, server.operator_token)
    assert end.reason == (await join(server, "x", "eve"))[0] == "REGISTRATION_CLOSED"


@pytest.mark.settings(registration="closed", owner_tournaments=True, owner_tournament_games=9)
async def test_an_owners_tournaments_are_bounded(server: ServerInTest) -> None:
    """Those of operators are not."""
    eve, clock = await server.token("owner", "eve"), {"time_control": {"initial": {"seconds": 60}}}
    for name in ("ada", "bob"):
        await server.register(name)

    def settings(rounds: int) -> dict[str, Any]:
        return {"settings": {"bots": ["ada", "bob"], "rounds": rounds, **clock}}

    assert (await server.refusal(CREATE, eve, **settings(10))).reason == "QUOTA"
    await server.ask(CREATE, **settings(10))
    await server.ask(CREATE, eve, **settings(8))


async def test_what_an_owner_may_have_is_changed(server: ServerInTest) -> None:
    """What is not said stays; the audit log has what it was before."""
    await server.token("owner", "eve")
    update = "OwnerService/UpdateOwner"
    await server.ask(update, name="eve", quota=7, program_quota=3)
    changed = (await server.ask(update, name="eve", program_quota=0, program_cpu_quota=60)).owner
    quotas = (changed.quota, changed.program_quota, changed.program_cpu_quota)
    assert quotas == (7, 0, 60)
    assert not changed.HasField("program_bytes_quota")
    act = (await server.ask("AdminService/ListAudit", page_size=1)).acts[0]
    assert (act.action, act.subject) == ("update", "owner eve")
    for fields, words in (
        ({"name": "eve"}, "say what is to change"),
        ({"name": "eve", "program_quota": 100_001}, "program_quota 100001 is above 100000"),
        ({"name": "bob", "quota": 1}, 'no owner "bob"'),
    ):
        assert words in (await server.refusal(update, server.operator_token, **fields)).details
