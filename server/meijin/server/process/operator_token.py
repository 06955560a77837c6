"""The operator's token, made when a server first starts on a database."""

from datetime import UTC, datetime
from pathlib import Path

import structlog
from sqlalchemy import Connection

from meijin.server.settings import Settings
from meijin.server.storage import Storage
from meijin.store.bots import add_token, has_admin_token, new_token
from meijin.store.schema import TokenKind
from meijin.wire.contract import OPERATOR_TOKEN_FILE

log = structlog.get_logger()


def operator_token_path(data: Path) -> Path:
    """The file in the data folder that commands on the same machine read the token from."""
    return data / OPERATOR_TOKEN_FILE


async def ensure_operator_token(storage: Storage, settings: Settings) -> None:
    """Make a token unless there is one; it is written to a file that only its owner may read.

    One server claims a database at a time, so that two that first start there don't make two.
    """
    if await storage.read(has_admin_token):
        return
    token = new_token(TokenKind.ADMIN)
    path = operator_token_path(settings.data)
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(f"{token}\n")

    def keep(connection: Connection) -> None:
        add_token(connection, token, TokenKind.ADMIN, datetime.now(UTC))

    await storage.write(keep)
    log.info("made the operator's token", file=str(path))
