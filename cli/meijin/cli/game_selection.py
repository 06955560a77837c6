"""Which of a server's games a command is about."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import typer

from meijin.cli.connection import Connection, pages
from meijin.cli.errors import CommandError
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb

GAMES_A_PAGE = 200
"""The server ends a page earlier, at half a megabyte."""

TournamentOption = Annotated[str, typer.Option(help="Only this tournament's.")]
BotOption = Annotated[str, typer.Option("--bot", help="Only this bot's.")]
LadderOption = Annotated[str, typer.Option(help="Only this ladder's rated ones, by its name.")]
SinceOption = Annotated[
    str, typer.Option(help="Only games that started then or later: 2026-01-31, 2026-01-31T18:00.")
]
UntilOption = Annotated[
    str, typer.Option(help="Only games that started before then; without a time zone it is UTC.")
]


@dataclass(frozen=True, slots=True)
class Selection:
    """What the games have in common; what is empty chooses nothing."""

    tournament: str = ""
    bot: str = ""
    ladder: str = ""
    since: str = ""
    until: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether every game of the server is meant."""
        return self == Selection()

    def request(self, *, size: int, with_moves: bool) -> pb.ListGamesRequest:
        """The list to be asked for.

        Raises:
            CommandError: an instant is none.
        """
        request = pb.ListGamesRequest(
            tournament_id=self.tournament,
            bot=self.bot,
            ladder=self.ladder,
            page_size=size,
            with_moves=with_moves,
        )
        if self.since:
            request.start_time.FromDatetime(_instant("--since", self.since))
        if self.until:
            request.end_time.FromDatetime(_instant("--until", self.until))
        return request


def _instant(option: str, text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(
            f'{option}: "{text}" is no date; write it like 2026-01-31 or 2026-01-31T18:00+01:00'
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def ended_games(connection: Connection, selection: Selection) -> Iterator[game_pb2.Game]:
    """The games that have ended, newest first, each with its moves, a page at a time in memory."""
    request = selection.request(size=GAMES_A_PAGE, with_moves=True)
    for page in pages(connection.ask, connection.games.ListGames, request):
        for game in page.games:
            if game.state != game_pb2.GAME_STATE_RUNNING:
                yield game
