"""The operator's token: made when a server first starts on a database, and kept in a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import structlog
from sqlalchemy import Connection

from meijin.server.errors import MeijinError, StoreAwayError
from meijin.server.storage import Storage
from meijin.store.access.tokens import (
    add_token,
    authenticate,
    find_secret,
    has_operator_token,
    new_secret,
)
from meijin.store.schema import TokenId, TokenKind
from meijin.wire.contract import OPERATOR_TOKEN_FILE

log = structlog.get_logger()


class OperatorTokenFile:
    """The file in the data folder that commands on the same machine read the token from.

    Only its owner may read it.

    A new token is written beside it before the database has it, and takes its place after: a
    server that ends in between finds out at its next start which of the two is valid.
    """

    def __init__(self, data: Path) -> None:
        self.path = data / OPERATOR_TOKEN_FILE
        self._next = self.path.with_name(f"{self.path.name}.new")

    def holds(self, connection: Connection, token_id: TokenId) -> bool:
        """Whether a token is the one in the file."""
        return self.path.is_file() and find_secret(connection, _read(self.path)) == token_id

    @contextmanager
    def replacing(self, token: str) -> Iterator[None]:
        """Write a token that is stored in the context, and takes the old one's place after it."""
        self._next.unlink(missing_ok=True)
        self._next.touch(mode=0o600)
        self._next.chmod(0o600)
        self._next.write_text(f"{token}\n")
        try:
            yield
        except StoreAwayError:  # it may be stored nevertheless
            raise
        except MeijinError:
            self._next.unlink()
            raise
        self._next.replace(self.path)

    def recover(self, connection: Connection, now: datetime) -> None:
        """Finish what an earlier server was about: the new token stays if it was stored."""
        if not self._next.is_file():
            return
        if authenticate(connection, _read(self._next), now) is None:
            self._next.unlink()
        else:
            self._next.replace(self.path)


async def ensure_operator_token(storage: Storage, file: OperatorTokenFile) -> None:
    """Make a token unless there is a valid one.

    One server claims a database at a time, so that two that first start there don't make two.
    """
    now = datetime.now(UTC)
    await storage.read(lambda connection: file.recover(connection, now))
    if await storage.read(lambda connection: has_operator_token(connection, now)):
        return
    token = new_secret(TokenKind.OPERATOR.value)
    with file.replacing(token):
        kind = TokenKind.OPERATOR
        await storage.write(add_token, token, kind, now, label="first", creator="server")
    log.info("made the operator's token", file=str(file.path))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip()
