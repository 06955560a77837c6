"""A bot's settings: the server's address, its token and its name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Self

from meijin.wire.channel import Security
from meijin.wire.contract import (
    DEFAULT_HOST,
    SERVER_VARIABLE,
    TOKEN_VARIABLE,
    Address,
    check_bot_name,
    parse_address,
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The server's address and the bot's identity, checked."""

    address: Address
    security: Security
    """How the connection is made safe."""
    token: str
    """May be empty on a server with open registration."""
    name: str
    """Empty when the token alone says which bot it is."""

    @classmethod
    def resolve(
        cls,
        *,
        server: str | None,
        token: str | None,
        name: str | None,
        security: Security | None,
        default_name: str,
    ) -> Self:
        """Fill in MEIJIN_SERVER, MEIJIN_TOKEN and, without a token, `default_name`.

        An empty token is none, whatever the environment says.

        Raises:
            ValueError: the address, the token or the name can't be one, or the token would be
                sent to another machine in plain text.
        """
        if token is None:
            token = os.environ.get(TOKEN_VARIABLE, "")
        token = token.strip()
        if not (token.isascii() and token.isprintable()):
            raise ValueError("the token holds characters that no token has; copy it again")
        name = name or ("" if token else default_name)
        if name:
            check_bot_name(name)
        address = parse_address(server or os.environ.get(SERVER_VARIABLE) or DEFAULT_HOST)
        security = security or Security.from_environment()
        security.check_token(address, token)
        return cls(address=address, security=security, token=token, name=name)
