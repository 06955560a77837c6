"""The table of methods and scopes, walked whole."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import grpc
import pytest

from meijin.server.access.permissions import (
    PERMISSIONS,
    STREAMS,
    Permission,
    Policy,
    is_change,
)
from meijin.server.errors import NotAllowedError, UnauthenticatedError
from meijin.server.settings import Reading, Registration
from meijin.store.access.tokens import Identity
from meijin.store.schema import BotId, OwnerId, TokenId, TokenKind
from meijin.testing.desk import Desk
from meijin.testing.server import ServerInTest

Code = grpc.StatusCode
ALL = {"nobody", "bot", "owner", "operator", "read", "person"}
ALLOWED = {
    Permission.ANYONE: ALL,
    Permission.READER: ALL,
    Permission.BOT: {"bot"},
    Permission.PLAYER: {"bot", "person"},
    Permission.EVALUATIONS: {"bot", "owner", "operator", "person"},
    Permission.OWNER: {"owner", "operator"},
    Permission.CHALLENGES: {"owner", "operator", "person"},
    Permission.TOURNAMENTS: {"operator"},
    Permission.OPERATOR: {"operator"},
}
"""Who may call what on a server with the default settings."""

IDENTITIES: dict[str, Identity | None] = {
    "nobody": None,
    "bot": Identity(TokenKind.BOT, BotId(1), TokenId(1)),
    "owner": Identity(TokenKind.OWNER, None, TokenId(2), OwnerId(1)),
    "operator": Identity(TokenKind.OPERATOR, None, TokenId(3)),
    "read": Identity(TokenKind.READ, None, TokenId(4)),
    "person": Identity(TokenKind.PERSON, BotId(2), TokenId(5)),
}


def allowed(policy: Policy, permission: Permission) -> set[str]:
    """Whom a policy lets call a method; who shows no token is refused as such."""
    found = set()
    for who, identity in IDENTITIES.items():
        with suppress(UnauthenticatedError if identity is None else NotAllowedError):
            policy.check(permission, identity)
            found.add(who)
    return found


@pytest.mark.parametrize("permission", Permission)
def test_scopes_of_the_default_policy(permission: Permission) -> None:
    """Nobody may do more than is said above."""
    assert allowed(Policy(), permission) == ALLOWED[permission]


@pytest.mark.parametrize("permission", Permission)
def test_an_invitation_gives_no_scope(permission: Permission) -> None:
    """By invitation, the scopes are those of a closed server."""
    policy = Policy(registration=Registration.INVITATION)
    assert allowed(policy, permission) == ALLOWED[permission]


def test_reading_may_need_a_token() -> None:
    """Of any kind; what anyone may do is not touched."""
    policy = Policy(reading=Reading.TOKEN)
    assert allowed(policy, Permission.READER) == ALL - {"nobody"}
    assert allowed(policy, Permission.ANYONE) == ALL


def test_owners_may_be_let_make_tournaments() -> None:
    """By a setting, and that alone."""
    policy = Policy(owner_tournaments=True)
    assert allowed(policy, Permission.TOURNAMENTS) == {"owner", "operator"}
    assert allowed(policy, Permission.OPERATOR) == {"operator"}


@pytest.mark.parametrize("permission", Permission)
def test_where_registration_is_open_everybody_is_an_operator(permission: Permission) -> None:
    """But a stream with a token is that of the bot's whose token it is, and people stay people."""
    policy = Policy(registration=Registration.OPEN)
    others = {"nobody", "bot"} if permission in STREAMS else ALL - {"person"}
    assert allowed(policy, permission) == others | (ALLOWED[permission] & {"person"})


def test_a_method_without_a_permission_is_nobodys() -> None:
    """Deny by default, to operators and on open servers too."""
    for policy in (Policy(), Policy(registration=Registration.OPEN)):
        for identity in IDENTITIES.values():
            with pytest.raises(NotAllowedError):
                policy.check(None, identity)


def test_what_changes_something_is_limited_so() -> None:
    """Also the methods that anyone may call."""
    changing = {method.rpartition("/")[2] for method in PERMISSIONS if is_change(method)}
    assert {"Join", "EnterAsPerson", "RegisterBot", "VoidGame", "UpdateBot"} <= changing
    assert not {"ListGames", "GetGame", "Check", "Evaluate"} & changing


@pytest.mark.settings(registration="closed", requests_per_second=1000)
async def test_every_method_over_the_wire(
    server: ServerInTest, ending: Callable[..., Any], desk: Desk
) -> None:
    """Each method of the table with each scope, and with a token that was revoked."""
    tokens: dict[str, str | None] = {
        "nobody": None,
        "bot": await desk.bot("ada"),
        "owner": await desk.token("owner", "eve"),
        "operator": server.operator_token,
        "read": await desk.token("read"),
        "person": (await desk.ask("ChallengeService/EnterAsPerson")).token,
    }
    for method, permission in PERMISSIONS.items():
        if method.startswith("/grpc.") or "Watch" in method or method.endswith("GetOwnToken"):
            continue
        for who, token in tokens.items():
            end = await ending(desk.channel, method, b"", token)
            is_refused = (end.code, end.reason) in {
                (Code.UNAUTHENTICATED, "UNKNOWN_TOKEN"),
                (Code.PERMISSION_DENIED, "NOT_ALLOWED"),
            }
            assert is_refused is (who not in ALLOWED[permission]), (method, who, end)


@pytest.mark.settings(registration="closed", reading="token")
async def test_reading_with_a_token(ending: Callable[..., Any], desk: Desk) -> None:
    """Without one nothing is read, nor is the health hidden."""
    token = await desk.token("read")
    path = "/meijin.v1.GameService/ListGames"
    assert (await ending(desk.channel, path, b"", None)).code is Code.UNAUTHENTICATED
    assert (await ending(desk.channel, path, b"", token)).code is Code.OK
    assert (await ending(desk.channel, "/grpc.health.v1.Health/Check", b"", None)).code is Code.OK
