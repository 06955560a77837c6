"""Every method that changes something leaves a row in the audit log."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest
from tests.peer import bearer

from meijin.server.access.permissions import PERMISSIONS
from meijin.v1 import hosting_service_pb2
from meijin.v1.hosting_service_pb2_grpc import HostingServiceStub

if TYPE_CHECKING:
    from tests.server_in_test import ServerInTest

READING = ("Get", "List", "Watch", "Export", "Evaluate", "Explore", "Compare", "Read", "Fetch")
"""How the names of methods begin that change nothing."""

ELSEWHERE = {
    "/meijin.v1.PlayService/Play",
    "/meijin.v1.WorkerService/Work",
    "/meijin.v1.HostService/Run",
    "/meijin.v1.ChallengeService/EnterAsPerson",
}
"""What bots and workers do on their streams is in the records of their games; people change nothing."""

CHANGING = {
    method.removeprefix("/meijin.v1.")
    for method in PERMISSIONS.keys() - ELSEWHERE
    if method.startswith("/meijin.") and not method.rpartition("/")[2].startswith(READING)
}

CLOCK = {"time_control": {"initial": {"seconds": 600}}}
CHANGES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("LadderService/SetAnchors", {"bots": ["ada"]}),
    (
        "TournamentService/UpdateTournament",
        {"tournament_id": "1", "state": "TOURNAMENT_STATE_CANCELLED"},
    ),
    (
        "ChallengeService/CreateChallenge",
        {"opponent": "ada", "challenger": "bob", "settings": CLOCK},
    ),
    ("ChallengeService/CancelChallenge", {"challenge_id": "2"}),
    (
        "BotService/UpdateBot",
        {
            "name": "ada",
            "challenges": "CHALLENGE_POLICY_ANYONE",
            "hidden": True,
            "state": "BOT_STATE_DISABLED",
            "new_name": "eva",
        },
    ),
    ("ClassService/CreateClass", {"name": "CS101"}),
    (
        "ClassService/UpdateClass",
        {"name": "CS101", "student": {"handle": "ada", "display_name": "Ada"}},
    ),
    ("OwnerService/RevokeInvitation", {"invitation_id": "1"}),
    ("TokenService/CreateToken", {"kind": "TOKEN_KIND_READ"}),
    ("TokenService/RotateToken", {"token_id": "2"}),
    ("TokenService/RevokeToken", {"token_id": "3"}),
    ("WebhookService/CreateWebhook", {"url": "http://127.0.0.1:1/"}),
    ("WebhookService/UpdateWebhook", {"webhook_id": "1", "new_secret": True}),
    ("WebhookService/SendDelivery", {"webhook_id": "1"}),
    ("WebhookService/SendDelivery", {"delivery_id": "1"}),
    ("WebhookService/DeleteWebhook", {"webhook_id": "1"}),
)
"""What one server is asked, one after the other, once two bots have played."""


RETIRED = hosting_service_pb2.PROGRAM_STATE_RETIRED


async def _upload(server: ServerInTest, token: str) -> None:
    """Upload a program, whose act is to be the only new one."""
    source = b"print()"
    header = hosting_service_pb2.ProgramHeader(
        digest=hashlib.sha256(source).hexdigest(), size=len(source), file_name="bot.py"
    )
    before = len(await server.acts())
    call = HostingServiceStub(server.calls).UploadProgram(metadata=bearer(token))
    for message in ({"header": header}, {"chunk": source}):
        await call.write(hosting_service_pb2.UploadProgramRequest(**message))
        await call.read()
    assert [action for _, action, _ in (await server.acts())[before:]] == ["upload"]


class Audited:
    """Holds each change against the rows that it leaves."""

    def __init__(self, server: ServerInTest) -> None:
        self.methods: set[str] = set()
        self._server = server

    async def ask(self, method: str, token: str | None = None, /, **fields: Any) -> Any:
        before = len(await self._server.acts())
        answer = await self._server.ask(method, token, **fields)
        acts = (await self._server.ask("AdminService/ListAudit", page_size=1000)).acts
        assert {act.method for act in acts[: len(acts) - before]} == {f"/meijin.v1.{method}"}
        self.methods.add(method)
        return answer


@pytest.mark.settings(registration="invitation", webhook_networks="127.0.0.0/8", hosting=True)
async def test_a_change_is_in_the_log(server: ServerInTest) -> None:
    """Under the method that was called; one that is new needs a call here."""
    audited = Audited(server)
    made = [await audited.ask("BotService/RegisterBot", name=name) for name in ("ada", "bob")]
    ada, _ = [await server.bot("", token=each.token) for each in made]
    settings = {"bots": ["ada", "bob"], **CLOCK}
    await audited.ask("TournamentService/CreateTournament", settings=settings)
    await ada.resign((await ada.started()).game)
    await ada.started()
    for game_id in ("1", "2"):  # the one has finished, the other runs
        await audited.ask("GameService/VoidGame", game_id=game_id, reason="a test")
    engine = {"version": "1"}
    await audited.ask("BotService/ReportDoctor", made[0].token, engine=engine, passed=True)
    secret = (await audited.ask("OwnerService/CreateInvitation")).secret
    await audited.ask("OwnerService/Join", invitation=secret, name="eve")
    await audited.ask("OwnerService/UpdateOwner", name="eve", program_quota=3)
    await _upload(server, made[1].token)
    audited.methods.add("HostingService/UploadProgram")
    await audited.ask("HostingService/UpdateProgram", program_id="1", state=RETIRED)
    for method, fields in CHANGES:
        await audited.ask(method, **fields)
    assert audited.methods == CHANGING
