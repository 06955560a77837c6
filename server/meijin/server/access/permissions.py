"""Permissions: the scopes that may call each method of the server."""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from meijin.server.errors import NotAllowedError, UnauthenticatedError
from meijin.server.settings import Reading, Settings
from meijin.store.access.tokens import Identity
from meijin.store.schema import TokenKind
from meijin.v1 import method_pb2 as pb
from meijin.wire.contract import WRONG_KIND
from meijin.wire.methods import contract_methods, method_path

Permission: TypeAlias = pb.Permission.ValueType
"""Who may call a method: the values of the contract's enum."""

OTHER_METHODS = {
    "/meijin.v1.PlayService/Play": pb.PERMISSION_PLAYER,
    "/grpc.health.v1.Health/Check": pb.PERMISSION_ANYONE,
    "/grpc.health.v1.Health/List": pb.PERMISSION_ANYONE,
    "/grpc.health.v1.Health/Watch": pb.PERMISSION_ANYONE,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": pb.PERMISSION_ANYONE,
}
"""The stream of players, whose protos need no others, and what is not of our contract."""


def _permissions() -> Iterator[tuple[str, Permission]]:
    for method in contract_methods():
        permission = method.GetOptions().Extensions[pb.permission]
        if permission:
            yield method_path(method), permission


PERMISSIONS: Final[Mapping[str, Permission]] = OTHER_METHODS | dict(_permissions())
"""Every method of the server; one that is not here can't be called."""

CHANGES_BY_ANYONE = frozenset(
    {"/meijin.v1.OwnerService/Join", "/meijin.v1.ChallengeService/EnterAsPerson"}
)
"""The methods that change something though anyone may call them."""

STREAMS = frozenset({pb.PERMISSION_BOT, pb.PERMISSION_PLAYER})
"""Of players' streams, and of what is said about a player with its own token."""

CLOSED = frozenset({pb.PERMISSION_PROGRAMS, pb.PERMISSION_HOST})
"""Permissions of methods that need a token on an open server too: they have programs run."""

OPERATORS = frozenset({TokenKind.OPERATOR})
OWNERS = OPERATORS | {TokenKind.OWNER}
PEOPLE = frozenset({TokenKind.PERSON})
BOTS = frozenset({TokenKind.BOT})
HOSTS = frozenset({TokenKind.HOST})
SEATS = frozenset({TokenKind.SEAT})

READERS = (
    None,
    pb.PERMISSION_ANYONE,
    pb.PERMISSION_READER,
    pb.PERMISSION_EVALUATIONS,
    pb.PERMISSION_CLASSES,
)
"""Permissions of methods that change nothing."""

SCOPES: Final[Mapping[Permission, frozenset[TokenKind]]] = {
    pb.PERMISSION_BOT: BOTS,
    pb.PERMISSION_PLAYER: BOTS | PEOPLE | SEATS,
    pb.PERMISSION_EVALUATIONS: OWNERS | BOTS | PEOPLE,
    pb.PERMISSION_OWNER: OWNERS,
    pb.PERMISSION_CHALLENGES: OWNERS | PEOPLE,
    pb.PERMISSION_OPERATOR: OPERATORS,
    pb.PERMISSION_CLASSES: OPERATORS | BOTS,
    pb.PERMISSION_PROGRAMS: OWNERS | BOTS,
    pb.PERMISSION_HOST: HOSTS,
}
"""The kinds of tokens that permissions are given to, where that is the same on every server."""


def is_change(method: str) -> bool:
    """Whether a method is limited as those that change something are."""
    return method in CHANGES_BY_ANYONE or PERMISSIONS.get(method) not in READERS


def scopes_of(settings: Settings, permission: Permission) -> frozenset[TokenKind]:
    """The kinds of tokens that a permission is given to."""
    if permission == pb.PERMISSION_TOURNAMENTS:
        return OWNERS if settings.owner_tournaments else OPERATORS
    return SCOPES.get(permission, frozenset(TokenKind))


def check_call(
    settings: Settings, permission: Permission | None, identity: Identity | None
) -> None:
    """Let a call be made.

    Raises:
        NotAllowedError: the token is of another kind, or there is no such method.
        UnauthenticatedError: a token is needed, and none was shown.
    """
    if permission is None:
        raise NotAllowedError("this method can't be called")
    if identity is None and _needs_no_token(settings, permission):
        return
    if identity is None:
        raise UnauthenticatedError("a token is needed")
    is_player = identity.kind in PEOPLE | SEATS or permission in STREAMS
    if _is_open(settings, permission) and not is_player:
        return
    scopes = scopes_of(settings, permission)
    if identity.kind not in scopes:
        kinds = " or ".join(sorted(kind.value for kind in scopes))
        raise NotAllowedError(f"{WRONG_KIND} {kinds}, not {identity.kind.value}")


def _needs_no_token(settings: Settings, permission: Permission) -> bool:
    if permission == pb.PERMISSION_READER:
        return settings.reading is Reading.ANYONE
    return permission == pb.PERMISSION_ANYONE or _is_open(settings, permission)


def _is_open(settings: Settings, permission: Permission) -> bool:
    """Whether everybody may call the methods of a permission, but with a player's token."""
    return settings.is_open and permission not in CLOSED
