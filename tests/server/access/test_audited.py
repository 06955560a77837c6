"""Every method that changes something leaves a row in the audit log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest
from sqlalchemy import text

from meijin.server.access.permissions import PERMISSIONS
from meijin.testing.desk import Desk
from meijin.testing.peer import Peer

READING = ("Get", "List", "Watch", "Export", "Evaluate", "Explore")
"""How the names of methods begin that change nothing."""

ELSEWHERE = {"/meijin.v1.PlayService/Play", "/meijin.v1.ChallengeService/EnterAsPerson"}
"""What bots do on their streams is in the records of their games; people change nothing."""

CHANGING = sorted(
    method.removeprefix("/meijin.v1.")
    for method in PERMISSIONS.keys() - ELSEWHERE
    if method.startswith("/meijin.") and not method.rpartition("/")[2].startswith(READING)
)

Fields: TypeAlias = dict[str, Any]
Case: TypeAlias = Callable[[Desk], Awaitable[Fields]]
"""Brings about what a method is called for; the fields of the call, and `by` whose token."""


def bot(**more: Any) -> Case:
    """A method is called for a bot that there is."""

    async def made(desk: Desk) -> Fields:
        await desk.bot("ada")
        return {"name": "ada", **more}

    return made


async def playing(desk: Desk) -> tuple[Peer, Peer]:
    """Two bots in a rated game."""
    ada, bob = [await desk.server.bot(name, token=await desk.bot(name)) for name in ("ada", "bob")]
    await desk.server.tournament("ada", "bob", token=desk.server.operator_token)
    for peer in (ada, bob):
        await peer.started()
    return ada, bob


async def running_game(desk: Desk) -> Fields:
    """A game that goes on."""
    ada, _ = await playing(desk)
    return {"game_id": ada.start.game_id, "reason": "a test"}


async def finished_game(desk: Desk) -> Fields:
    """A game that has its result."""
    ada, bob = await playing(desk)
    await ada.resign(ada.start.game)
    await bob.ended()
    return {"game_id": ada.start.game_id, "reason": "a test"}


async def anchors(desk: Desk) -> Fields:
    """A ladder, and a bot that was there."""
    await playing(desk)
    return {"bots": ["ada"]}


async def settings(desk: Desk) -> Fields:
    """A tournament that is to be made."""
    for name in ("ada", "bob"):
        await desk.bot(name)
    return {"settings": {"bots": ["ada", "bob"], "time_control": {"initial": {"seconds": 1}}}}


async def tournament(desk: Desk) -> Fields:
    """A tournament that is being played."""
    made = await desk.ask("TournamentService/CreateTournament", **await settings(desk))
    return {"tournament_id": made.tournament.tournament_id}


async def stopped(desk: Desk) -> Fields:
    """A tournament that is being played, and is to be stopped."""
    return {**await tournament(desk), "state": "TOURNAMENT_STATE_CANCELLED"}


async def token(desk: Desk) -> Fields:
    """A token that nothing hangs on."""
    made = await desk.ask("TokenService/CreateToken", kind="TOKEN_KIND_READ")
    return {"token_id": made.token.token_id}


async def invitation(desk: Desk) -> Fields:
    """An invitation that is open."""
    made = await desk.ask("OwnerService/CreateInvitation")
    return {"invitation_id": made.invitation.invitation_id}


async def invited(desk: Desk) -> Fields:
    """An invitation that somebody uses."""
    return {"invitation": (await desk.ask("OwnerService/CreateInvitation")).secret, "name": "eve"}


async def nothing(_desk: Desk) -> Fields:
    """A method that needs nothing."""
    return {}


async def new_bot(_desk: Desk) -> Fields:
    """A name that is free."""
    return {"name": "ada"}


async def new_token(_desk: Desk) -> Fields:
    """A token that is to be made."""
    return {"kind": "TOKEN_KIND_READ"}


async def new_class(_desk: Desk) -> Fields:
    """A class that is to be made."""
    return {"name": "CS101"}


async def new_student(desk: Desk) -> Fields:
    """A student who is to be added to a class."""
    await desk.ask("ClassService/CreateClass", name="CS101")
    return {"name": "CS101", "student": {"handle": "ada", "display_name": "Ada"}}


async def examined(desk: Desk) -> Fields:
    """A bot that reports of itself."""
    return {"by": await desk.bot("ada"), "engine": {"version": "1"}, "passed": True}


async def challenge(desk: Desk) -> Fields:
    """Two bots that are there."""
    for name in ("ada", "bob"):
        await desk.server.bot(name, token=await desk.bot(name))
    clock = {"initial": {"seconds": 1}}
    return {"opponent": "ada", "challenger": "bob", "settings": {"time_control": clock}}


async def challenged(desk: Desk) -> Fields:
    """A challenge that is being played."""
    made = await desk.ask("ChallengeService/CreateChallenge", **await challenge(desk))
    return {"challenge_id": made.challenge.challenge_id}


async def new_webhook(_desk: Desk) -> Fields:
    """A webhook that is to be made."""
    return {"url": "http://127.0.0.1:1/"}


async def webhook(desk: Desk) -> Fields:
    """A webhook that sends."""
    await desk.ask("WebhookService/CreateWebhook", **await new_webhook(desk))
    return {"webhook_id": "1"}


async def disabled_webhook(desk: Desk) -> Fields:
    """A webhook that sends nothing."""
    fields = await webhook(desk)
    disable = text("UPDATE webhook SET disable_reason = 'a test'")
    desk.server.database.write(lambda connection: connection.execute(disable))
    return fields


async def delivery(desk: Desk) -> Fields:
    """A delivery of a webhook."""
    sent = await desk.ask("WebhookService/SendTest", **await webhook(desk))
    return {"delivery_id": sent.delivery.delivery_id}


CASES: dict[str, Case] = {
    "BotService/RegisterBot": new_bot,
    "BotService/ReportDoctor": examined,
    "BotService/UpdateBot": bot(
        challenges="CHALLENGE_POLICY_ANYONE",
        hidden=True,
        state="BOT_STATE_DISABLED",
        new_name="eva",
    ),
    "ChallengeService/CancelChallenge": challenged,
    "ChallengeService/CreateChallenge": challenge,
    "ClassService/CreateClass": new_class,
    "ClassService/UpdateClass": new_student,
    "GameService/VoidGame": finished_game,
    "LadderService/SetAnchors": anchors,
    "OwnerService/CreateInvitation": nothing,
    "OwnerService/Join": invited,
    "OwnerService/RevokeInvitation": invitation,
    "TokenService/CreateToken": new_token,
    "TokenService/RevokeToken": token,
    "TokenService/RotateToken": token,
    "TournamentService/CreateTournament": settings,
    "TournamentService/UpdateTournament": stopped,
    "WebhookService/CreateWebhook": new_webhook,
    "WebhookService/DeleteWebhook": webhook,
    "WebhookService/EnableWebhook": disabled_webhook,
    "WebhookService/Redeliver": delivery,
    "WebhookService/RotateSecret": webhook,
    "WebhookService/SendTest": webhook,
}


async def audited(desk: Desk, method: str, case: Case) -> list[str]:
    """The methods by which things were changed in a call."""
    fields = await case(desk)
    before = await desk.ask("AdminService/ListAudit")
    await desk.ask(method, fields.pop("by", None), **fields)
    after = await desk.ask("AdminService/ListAudit")
    return [act.method for act in after.acts[: len(after.acts) - len(before.acts)]]


@pytest.mark.settings(registration="invitation", max_faults=1, webhook_networks="127.0.0.0/8")
@pytest.mark.parametrize("method", CHANGING)
async def test_a_change_is_in_the_log(desk: Desk, method: str) -> None:
    """Under the method that was called; one that is new needs a case above."""
    found = await audited(desk, method, CASES[method])
    assert set(found) == {f"/meijin.v1.{method}"}


@pytest.mark.settings(registration="closed")
async def test_a_void_of_a_running_game_is_in_the_log(desk: Desk) -> None:
    """It takes another way than that of a finished one."""
    method = "GameService/VoidGame"
    assert await audited(desk, method, running_game) == [f"/meijin.v1.{method}"]
