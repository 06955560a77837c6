"""The folder of a demo: what an earlier one left there goes, and nothing else."""

import secrets
import shutil
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path

from sqlalchemy import Connection, inspect, select

from meijin.cli.errors import CommandError, in_one_line
from meijin.store import Database, FileClaim, StoreInUseError
from meijin.store.move_log.segment import log_folder
from meijin.store.schema import Bot, Tournament
from meijin.wire.contract import (
    DATABASE_FILE,
    OPERATOR_TOKEN_FILE,
    SERVER_LOCK_FILE,
    SERVER_LOG_FILE,
    VALKEY_FOLDER,
)

MARKER = "demo"
"""The file that names the demo whose folder it is: its tournament's request id."""

LOCKS = frozenset({SERVER_LOCK_FILE, f"{DATABASE_FILE}.lock"})
"""Files that hold nothing to keep; a server that starts looks at them first."""

WRITTEN = LOCKS | {
    MARKER,
    DATABASE_FILE,
    f"{DATABASE_FILE}-wal",
    f"{DATABASE_FILE}-shm",
    log_folder(Path(DATABASE_FILE)).name,
    OPERATOR_TOKEN_FILE,
    SERVER_LOG_FILE,
    VALKEY_FOLDER,
}
"""What a demo writes, beside a log for each of its bots."""


@in_one_line()
def make_room(data: Path, bots: Collection[str]) -> str:
    """Empty the folder for a demo with these bots, and return the request id of its tournament.

    No server can start in the folder while this goes on.
    """
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (data / MARKER).is_file() and any(_names(data) - LOCKS):
            raise CommandError(f"{data} is no earlier demo's folder; give another --data")
        with ExitStack() as stack:
            stack.enter_context(FileClaim(data / SERVER_LOCK_FILE, of=str(data)))
            database = stack.enter_context(
                Database(f"sqlite:///{(data / DATABASE_FILE).resolve()}")
            )
            stack.enter_context(database.claim())
            _check(data, database, bots)
            return _empty(data)
    except StoreInUseError as error:
        raise CommandError(f"{error}, or give another --data") from None
    except FileExistsError:
        raise CommandError(f"{data} is a file; give a folder with --data") from None
    except OSError as error:
        raise CommandError(f"can't use {data}: {error.strerror}; give another --data") from None


def _names(data: Path) -> set[str]:
    return {path.name for path in data.iterdir()}


def _check(data: Path, database: Database, bots: Collection[str]) -> None:
    more = sorted(_names(data) - WRITTEN - {f"{bot}.log" for bot in bots})
    if not more and (data / DATABASE_FILE).exists():
        request_id = (data / MARKER).read_text(encoding="utf-8")
        more = database.read(lambda sql: _additions(sql, request_id, bots))
    if more:
        raise CommandError(
            f"{data} holds more than a demo ({more[0]}); give another --data, or remove it yourself"
        )


def _additions(sql: Connection, request_id: str, bots: Collection[str]) -> list[str]:
    if not inspect(sql).has_table(Tournament.__table__.name):
        return []
    tournaments = sql.execute(select(Tournament.id, Tournament.request_id)).all()
    names = sql.scalars(select(Bot.name)).all()
    more = [f"tournament {key}" for key, request in tournaments if request != request_id]
    return more + [f"the bot {name}" for name in names if name not in bots]


def _empty(data: Path) -> str:
    """Remove all but the locks, which are held, and mark the folder as a new demo's."""
    for path in data.iterdir():
        if path.name in LOCKS | {MARKER}:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    request_id = f"demo-{secrets.token_hex(8)}"
    (data / MARKER).write_text(request_id, encoding="utf-8")
    return request_id
