"""The table of methods and scopes, walked whole."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.peer import ending_of_request
from tests.server_in_test import ServerInTest

from meijin.server.access.permissions import (
    CLOSED,
    PERMISSIONS,
    STREAMS,
    Permission,
    check_call,
    is_change,
)
from meijin.server.errors import NotAllowedError, UnauthenticatedError
from meijin.server.settings import Reading, Registration, Settings
from meijin.store.access.tokens import Identity
from meijin.store.schema import BotId, OwnerId, TokenId, TokenKind
from meijin.v1 import method_pb2 as pb

Code = grpc.StatusCode
ALL = {"nobody", "bot", "owner", "operator", "read", "person", "host", "seat"}
PLAYERS = {"person", "seat"}
"""Who is no operator where everybody else is."""
ALLOWED = {
    pb.PERMISSION_ANYONE: ALL,
    pb.PERMISSION_READER: ALL,
    pb.PERMISSION_BOT: {"bot"},
    pb.PERMISSION_PLAYER: {"bot", "person", "seat"},
    pb.PERMISSION_EVALUATIONS: {"bot", "owner", "operator", "person"},
    pb.PERMISSION_OWNER: {"owner", "operator"},
    pb.PERMISSION_CHALLENGES: {"owner", "operator", "person"},
    pb.PERMISSION_TOURNAMENTS: {"operator"},
    pb.PERMISSION_OPERATOR: {"operator"},
    pb.PERMISSION_CLASSES: {"bot", "operator"},
    pb.PERMISSION_PROGRAMS: {"bot", "owner", "operator"},
    pb.PERMISSION_HOST: {"host"},
}
"""Who may call what on a server with the default settings."""

ROLES = ("nobody", "bot", "read", "owner", "operator")
"""The columns of the page's table."""

PAGE = Path(__file__).resolve().parents[3] / "docs/access.md"

UNKNOWN = (Code.UNAUTHENTICATED, "UNKNOWN_TOKEN")

IDENTITIES: dict[str, Identity | None] = {
    "nobody": None,
    "bot": Identity(TokenKind.BOT, BotId(1), TokenId(1)),
    "owner": Identity(TokenKind.OWNER, None, TokenId(2), OwnerId(1)),
    "operator": Identity(TokenKind.OPERATOR, None, TokenId(3)),
    "read": Identity(TokenKind.READ, None, TokenId(4)),
    "person": Identity(TokenKind.PERSON, BotId(2), TokenId(5)),
    "host": Identity(TokenKind.HOST, None, TokenId(6)),
    "seat": Identity(TokenKind.SEAT, BotId(1), TokenId(7)),
}


def allowed(permission: Permission, **changes: Any) -> set[str]:
    """Whom settings let call a method; who shows no token is refused as such."""
    settings = Settings.model_construct(**changes)
    found = set()
    for who, identity in IDENTITIES.items():
        with suppress(UnauthenticatedError if identity is None else NotAllowedError):
            check_call(settings, permission, identity)
            found.add(who)
    return found


@pytest.mark.parametrize("permission", pb.Permission.values()[1:])
def test_who_may_call_what(permission: Permission) -> None:
    """By invitation the scopes are those of a closed server; on an open one all are operators.

    But a stream with a token is that of the bot's whose token it is, people stay people, and what
    has programs run needs its token there too.
    """
    assert allowed(permission) == ALLOWED[permission]
    assert allowed(permission, registration=Registration.INVITATION) == ALLOWED[permission]
    others = {"nobody", "bot"} if permission in STREAMS else ALL - PLAYERS
    players = ALLOWED[permission] & PLAYERS
    expected = ALLOWED[permission] if permission in CLOSED else others | players
    assert allowed(permission, registration=Registration.OPEN) == expected


def test_what_settings_change() -> None:
    """Reading may need a token, of any kind; owners may make tournaments, and that alone."""
    for permission, who in ((pb.PERMISSION_READER, ALL - {"nobody"}), (pb.PERMISSION_ANYONE, ALL)):
        assert allowed(permission, reading=Reading.TOKEN) == who
    for permission, who in (
        (pb.PERMISSION_TOURNAMENTS, {"owner", "operator"}),
        (pb.PERMISSION_OPERATOR, {"operator"}),
    ):
        assert allowed(permission, owner_tournaments=True) == who


def test_a_method_without_a_permission_is_nobodys() -> None:
    """Deny by default, to operators and on open servers too."""
    for registration in Registration:
        settings = Settings.model_construct(registration=registration)
        for identity in IDENTITIES.values():
            with pytest.raises(NotAllowedError):
                check_call(settings, None, identity)


def test_what_changes_something_is_limited_so() -> None:
    """Also the methods that anyone may call."""
    changing = {method.rpartition("/")[2] for method in PERMISSIONS if is_change(method)}
    assert {"Join", "EnterAsPerson", "RegisterBot", "VoidGame", "UpdateBot"} <= changing
    assert not {"ListGames", "GetGame", "Check", "Evaluate"} & changing


REFUSED = {
    who: (Code.PERMISSION_DENIED, "NOT_ALLOWED") if who != "nobody" else UNKNOWN for who in ALL
}
ENDLESS = "Watch"
"""In the names of methods that end only with their caller."""


@pytest.mark.settings(registration="closed", requests_per_second=1000)
async def test_every_method_over_the_wire(server: ServerInTest) -> None:
    """Each method of the table with each scope: who may call it is answered by its servicer."""
    tokens: dict[str, str | None] = {
        "nobody": None,
        "bot": await server.register("ada"),
        "owner": await server.token("owner", "eve"),
        "operator": server.operator_token,
        "read": await server.token("read"),
        "person": (await server.ask("ChallengeService/EnterAsPerson")).token,
        "host": await server.token("host"),
    }
    for method, permission in PERMISSIONS.items():
        if method.startswith("/grpc.") or ENDLESS in method:
            continue
        for who, token in tokens.items():
            end = await ending_of_request(server.calls, method, b"", token)
            told = (end.code, end.reason)
            if who not in ALLOWED[permission]:
                assert told == REFUSED[who], (method, who, end)
            elif not method.endswith("GetOwnToken"):
                assert told not in {UNKNOWN, REFUSED[who]}, (method, who, end)
                assert end.code not in {Code.UNIMPLEMENTED, Code.INTERNAL}, (method, end)


def test_each_method_has_the_scopes_of_the_page() -> None:
    """Who may call what changes something, or shows what is not for all: role by call."""
    told: dict[str, set[str]] = {}
    for row in re.findall(r"^\| .*`\w+.*\|$", PAGE.read_text(), re.MULTILINE):
        methods, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        if len(cells) == len(ROLES):
            roles = {role for role, cell in zip(ROLES, cells, strict=True) if cell}
            for method in re.findall(r"`([A-Z]\w+)`", methods):
                told[method] = told.get(method, set()) | roles
    given = {
        path.rpartition("/")[2]: allowed(permission, owner_tournaments=True) & {*ROLES}
        for path, permission in PERMISSIONS.items()
        if path.startswith("/meijin.") and permission != pb.PERMISSION_READER
    }
    assert told == given
