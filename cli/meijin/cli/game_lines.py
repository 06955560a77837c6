"""Games as JSON lines, each written when it ends."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from meijin.cli.connection import Connection
from meijin.cli.errors import unusable_file
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb

STANDARD_OUTPUT = Path("-")


@contextmanager
def opened(path: Path) -> Iterator[IO[str]]:
    """A file with the games of one match and no others.

    Raises:
        CommandError: it can't be written.
    """
    if path == STANDARD_OUTPUT:
        yield sys.stdout
        return
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise unusable_file(error) from None
    with file:
        yield file


class GameLines:
    """Writes every game that has ended, with all that is known of it."""

    def __init__(self, connection: Connection, file: IO[str]) -> None:
        self._connection = connection
        self._file = file

    def hear(self, game: game_pb2.Game) -> None:
        """Write a game, at once."""
        request = pb.ExportGameRequest(game_id=game.game_id, format=pb.RECORD_FORMAT_JSON)
        text = self._connection.ask(self._connection.games.ExportGame, request).text
        self._file.write(text.rstrip("\n") + "\n")
        self._file.flush()
