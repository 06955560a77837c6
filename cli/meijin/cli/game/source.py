"""Where games are read from: a server, or the folder that one has left."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from meijin.cli.errors import CommandError, in_one_line, needed_parts
from meijin.cli.profile import Profile
from meijin.local.connection import connect
from meijin.v1 import game_service_pb2 as pb
from meijin.wire.contract import DATABASE_FILE, SERVER_LOCK_FILE

if TYPE_CHECKING:
    from meijin.server.api.answers.stored_games import StoredGames

FolderOption = Annotated[
    Path | None,
    "Read the folder of a server or of a local match that has ended, without any server.",
]


class GameSource(Protocol):
    """A `Connection`, as far as games are read, or what stands for one."""

    games: Any

    def ask(self, method: Any, request: Any) -> Any:  # noqa: ANN401 - of any method
        """Call a method that reads."""


class KeptGames:
    """The calls that read games, answered from a folder; for `ask` of a `GameSource`."""

    def __init__(self, stored: "StoredGames", runner: asyncio.Runner) -> None:
        self._stored = stored
        self._runner = runner
        self.games = self

    def ask(self, method: Callable[[Any], Any], request: object) -> Any:  # noqa: ANN401 - of any method
        return method(request)

    def GetGame(self, request: pb.GetGameRequest) -> pb.GetGameResponse:  # noqa: N802 - as the stub has it
        return self._runner.run(self._stored.get(request))

    def ListGames(self, request: pb.ListGamesRequest) -> pb.ListGamesResponse:  # noqa: N802 - likewise
        return self._runner.run(self._stored.list(request))


@contextmanager
def games_of(profile: Profile, data: Path | None) -> Iterator[GameSource]:
    """The games of a folder, or without one those of the server.

    Raises:
        CommandError: the folder has no games that can be read, or a server runs on it.
    """
    if data is None:
        with connect(profile.endpoint, profile.token) as connection:
            yield connection
        return
    with needed_parts():
        from meijin.server.api.answers.stored_games import StoredGames  # noqa: PLC0415 - bare install
        from meijin.server.errors import MeijinError  # noqa: PLC0415 - likewise
        from meijin.server.storage import Storage  # noqa: PLC0415 - likewise
        from meijin.store import Database, FileClaim, StoreInUseError, Writer  # noqa: PLC0415 - likewise
    file = data / DATABASE_FILE
    if not file.is_file():
        raise CommandError(f"there are no games in {data}: it has no {DATABASE_FILE}")
    with in_one_line(MeijinError), Database(f"sqlite:///{file.resolve()}") as database:
        try:
            with FileClaim(data / SERVER_LOCK_FILE, of=str(data)), database.claim():
                database.check_schema()
        except StoreInUseError as error:
            raise CommandError(f"{error}, or ask it with --server") from None
        storage = Storage(database, Writer(database))
        with asyncio.Runner() as runner:
            yield KeptGames(StoredGames(storage), runner)
