"""The token of the server's own host, which is another one at every start."""

from datetime import UTC, datetime

from sqlalchemy import Connection, update

from meijin.store.access.tokens import add_token, new_secret
from meijin.store.schema import Token, TokenKind

_LABEL, _CREATOR = "own host", "server"


def renew_host_token(connection: Connection) -> str:
    """Make a token for the server's own host; that of an earlier start is valid no more."""
    now, secret = datetime.now(UTC), new_secret(TokenKind.HOST.value)
    earlier = update(Token).where(
        Token.kind == TokenKind.HOST, Token.creator == _CREATOR, Token.revoke_time.is_(None)
    )
    connection.execute(earlier.values(revoke_time=now))
    add_token(connection, secret, TokenKind.HOST, now, label=_LABEL, creator=_CREATOR)
    return secret
