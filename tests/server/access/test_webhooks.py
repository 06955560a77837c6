"""Webhooks over the wire: whose they are, and what may be asked of them."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from functools import partial
from typing import Any

import grpc
import pytest
from sqlalchemy import text

from meijin.server.access import webhooks as decisions
from meijin.server.webhooks.dispatch import MAX_WAITING
from meijin.server.webhooks.lookups import Lookups
from meijin.testing.desk import Desk
from meijin.v1 import webhook_service_pb2 as pb

Code = grpc.StatusCode
CLOSED = pytest.mark.settings(registration="closed")
CREATE, LIST = "WebhookService/CreateWebhook", "WebhookService/ListWebhooks"
URL = "https://hooks.example.org/secret-path"


@pytest.fixture(autouse=True)
def _no_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name is asked for outside of this machine: those of new webhooks are known by a list."""
    monkeypatch.setattr(decisions, "Lookups", partial(Lookups, find_address))

    def unknown(host: str, *_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, f"nobody knows {host}")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)


def find_address(host: str, _port: int) -> Sequence[str]:
    """Where a new webhook would send."""
    if host == "inner.example.org":
        return ["93.184.216.34", "10.0.0.7"]
    if host == "nowhere.example.org":
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    return ["93.184.216.34"]


def disable(desk: Desk) -> None:
    """Disable all webhooks."""
    reason = "the receiver answers 410: it wants no more"
    desk.server.database.write(
        lambda to: to.execute(text(f"UPDATE webhook SET disable_reason = '{reason}'"))
    )


async def ids(desk: Desk, token: str | None = None) -> list[str]:
    """The webhooks that somebody sees."""
    return [each.webhook_id for each in (await desk.ask(LIST, token)).webhooks]


@CLOSED
async def test_a_webhook_is_shown_without_its_secret(desk: Desk) -> None:
    """With everything else that was asked for; what was left out is everything."""
    made = await desk.ask(CREATE, url=URL, format="WEBHOOK_FORMAT_SLACK")
    assert made.secret.startswith("whsec_")
    (listed,) = (await desk.ask(LIST)).webhooks
    assert listed == made.webhook
    assert (listed.url, listed.format) == (URL, pb.WEBHOOK_FORMAT_SLACK)
    assert list(listed.events) == pb.WebhookEvent.values()[1:-1]
    assert made.secret not in str(listed)


@CLOSED
async def test_owners_have_their_own(desk: Desk) -> None:
    """An owner neither sees nor touches another's, in the same words as for none at all."""
    eve, ada = await desk.token("owner", "eve"), await desk.token("owner", "ada")
    await desk.bot("hers", owner="eve")
    await desk.ask(CREATE, eve, url=URL, bot="hers")
    await desk.ask(CREATE, url=URL)
    assert await ids(desk, eve) == ["1"]
    assert await ids(desk, ada) == []
    assert await ids(desk) == ["1", "2"]
    sent = (await desk.ask("WebhookService/SendTest", webhook_id="1")).delivery
    for method, fields in (
        *(
            (method, {"webhook_id": "1"})
            for method in (
                *("DeleteWebhook", "EnableWebhook", "RotateSecret"),
                *("SendTest", "ListDeliveries"),
            )
        ),
        ("Redeliver", {"delivery_id": sent.delivery_id}),
    ):
        end = await desk.refusal(f"WebhookService/{method}", ada, **fields)
        unknown = await desk.refusal(
            f"WebhookService/{method}", ada, **dict.fromkeys(fields, "777")
        )
        assert end.code is unknown.code is Code.NOT_FOUND
        assert end.details.replace("1", "777", 1) == unknown.details


@CLOSED
async def test_an_owner_is_told_of_its_own_bots_alone(desk: Desk) -> None:
    """Another's is as unknown to it as none."""
    eve = await desk.token("owner", "eve")
    await desk.bot("his", owner="bob")
    for bot in ("his", "nobody"):
        end = await desk.refusal(CREATE, eve, url=URL, bot=bot)
        assert (end.code, end.details) == (Code.NOT_FOUND, f'you have no bot "{bot}"')


@CLOSED
@pytest.mark.parametrize("kind", [None, "bot", "read"])
async def test_others_have_none(desk: Desk, kind: str | None) -> None:
    """Neither without a token nor with one that is for playing or looking."""
    token = None
    if kind is not None:
        token = await (desk.bot("ada") if kind == "bot" else desk.token(kind))
    end = await desk.refusal(LIST, token)
    assert end.code is (Code.UNAUTHENTICATED if kind is None else Code.PERMISSION_DENIED)


@CLOSED
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"url": ""}, "url: it must be a URL such as https://example.org/hook"),
        ({"url": "http://example.org/"}, "url: it must be https"),
        ({"url": "https://10.0.0.1/"}, "url: 10.0.0.1 is no public address, or leads to one"),
        ({"url": "https://0x7f000001/"}, "url: 0x7f000001 is no name; write an address as four"),
        ({"url": "https://inner.example.org/"}, "url: inner.example.org is no public address, or"),
        ({"url": "https://nowhere.example.org/"}, "url: nowhere.example.org has no address that"),
        ({"url": URL + "x" * 2000}, "url: it is longer than 2000 characters"),
        ({"url": URL, "events": [6]}, "no webhook can be told of webhook.test alone"),
        ({"url": URL, "events": [77]}, "no event of webhooks 77"),
        ({"url": URL, "events": [0]}, "no event of webhooks 0"),
        ({"url": URL, "format": 77}, "no format of webhooks 77"),
        ({"url": URL, "tournament_id": "x"}, 'tournament_id "x" is none of this server\'s'),
        ({"url": URL, "bot": "ada", "events": [3]}, "ladder.published is about no bot"),
    ],
)
async def test_what_can_t_be_made(desk: Desk, fields: dict[str, Any], words: str) -> None:
    """In one line that says why."""
    end = await desk.refusal(CREATE, desk.server.operator_token, **fields)
    assert end.code is Code.INVALID_ARGUMENT
    assert end.details.startswith(words)


@CLOSED
@pytest.mark.parametrize("fields", [{"bot": "x"}, {"tournament_id": "7"}, {"ladder": "x"}])
async def test_what_it_is_bound_to_is_there(desk: Desk, fields: dict[str, str]) -> None:
    """Else nothing would ever be told."""
    end = await desk.refusal(CREATE, desk.server.operator_token, url=URL, **fields)
    assert end.code is Code.NOT_FOUND
    assert await ids(desk) == []


@CLOSED
async def test_there_are_so_many_at_most(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an owner, and of a server."""
    monkeypatch.setattr(decisions, "MAX_WEBHOOKS", 3)
    monkeypatch.setattr(decisions, "MAX_WEBHOOKS_OF_OWNER", 2)
    eve = await desk.token("owner", "eve")
    for token, number in ((eve, 2), (desk.server.operator_token, 1)):
        for _ in range(number):
            await desk.ask(CREATE, token, url=URL)
        end = await desk.refusal(CREATE, token, url=URL)
        assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "QUOTA")


@CLOSED
async def test_a_webhook_is_deleted_with_its_deliveries(desk: Desk) -> None:
    """Nothing of it is left to be asked for."""
    await desk.ask(CREATE, url=URL)
    sent = (await desk.ask("WebhookService/SendTest", webhook_id="1")).delivery
    await desk.ask("WebhookService/DeleteWebhook", webhook_id="1")
    assert await ids(desk) == []
    end = await desk.refusal(
        "WebhookService/Redeliver", desk.server.operator_token, delivery_id=sent.delivery_id
    )
    assert end.code is Code.NOT_FOUND


@CLOSED
async def test_a_disabled_webhook_is_sent_nothing(desk: Desk) -> None:
    """Until it is enabled, which it can be once."""
    operator = desk.server.operator_token
    await desk.ask(CREATE, url=URL)
    disable(desk)
    end = await desk.refusal("WebhookService/SendTest", operator, webhook_id="1")
    assert (end.code, end.reason) == (Code.FAILED_PRECONDITION, "WRONG_STATE")
    assert "the receiver answers 410: it wants no more; enable it first" in end.details
    enabled = (await desk.ask("WebhookService/EnableWebhook", webhook_id="1")).webhook
    assert enabled.disable_reason == ""
    end = await desk.refusal("WebhookService/EnableWebhook", operator, webhook_id="1")
    assert end.reason == "WRONG_STATE"


@CLOSED
async def test_tests_are_no_way_to_fill_the_disk(desk: Desk) -> None:
    """As many wait as of other deliveries."""
    await desk.ask(CREATE, url=URL)
    row = (
        "INSERT INTO webhook_delivery (webhook_id, message_id, event, subject_id, event_time,"
        " next_time, state, attempts, detail) VALUES (1, 'msg_1', 'webhook.test', 1,"
        " '2999-01-01 00:00:00', '2999-01-01 00:00:00', 'waiting', 0, '')"
    )
    for _ in range(MAX_WAITING):
        desk.server.database.write(lambda to: to.execute(text(row)))
    end = await desk.refusal("WebhookService/SendTest", desk.server.operator_token, webhook_id="1")
    assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "BUSY")
    page = await desk.ask("WebhookService/ListDeliveries", webhook_id="1", page_size=60)
    rest = await desk.ask(
        "WebhookService/ListDeliveries", webhook_id="1", page_token=page.next_page_token
    )
    assert (len(page.deliveries), len(rest.deliveries)) == (60, MAX_WAITING - 60)


@CLOSED
async def test_the_log_holds_no_secret(desk: Desk) -> None:
    """Neither the one that signs nor the path, by which others write to Discord."""
    secret = (await desk.ask(CREATE, url=URL)).secret
    newer = (await desk.ask("WebhookService/RotateSecret", webhook_id="1")).secret
    acts = str((await desk.ask("AdminService/ListAudit")).acts)
    assert "hooks.example.org" in acts
    assert not any(hidden in acts for hidden in (secret, newer, "secret-path"))
    assert secret != newer
