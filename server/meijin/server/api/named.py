"""What requests name."""

from sqlalchemy import Connection

from meijin.server.errors import NotFoundError
from meijin.store.bots import find_bot
from meijin.store.schema import BotId


def named_bot(connection: Connection, name: str) -> BotId:
    """The bot of that name.

    Raises:
        NotFoundError: there is none.
    """
    bot_id = find_bot(connection, name)
    if bot_id is None:
        raise NotFoundError(f'no bot "{name}"; `meijin bot list` names them')
    return bot_id
