"""Which games a command is about."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from meijin.cli.errors import CommandError
from meijin.cli.game.source import GameSource
from meijin.local.connection import pages
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb

GAMES_A_PAGE = 200
"""The server ends a page earlier, at half a megabyte."""


@dataclass(frozen=True, slots=True)
class GameSelection:
    """What the games have in common; what is empty chooses nothing."""

    tournament: Annotated[str, "Only this tournament's."] = ""
    bot: Annotated[str, "Only this bot's."] = ""
    ladder: Annotated[str, "Only this ladder's rated ones, by its name."] = ""
    since: Annotated[
        str, "Only games that started then or later: 2026-01-31, 2026-01-31T18:00."
    ] = ""
    until: Annotated[str, "Only games that started before then; without a time zone it is UTC."] = (
        ""
    )

    @property
    def is_empty(self) -> bool:
        return self == GameSelection()

    def request(self) -> pb.ListGamesRequest:
        request = pb.ListGamesRequest(
            tournament_id=self.tournament, bot=self.bot, ladder=self.ladder
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


def ended_games(source: GameSource, selection: GameSelection) -> Iterator[game_pb2.Game]:
    """The games that have ended, newest first, each with its moves, a page at a time in memory."""
    request = selection.request()
    request.page_size, request.with_moves = GAMES_A_PAGE, True
    for page in pages(source.ask, source.games.ListGames, request):
        for game in page.games:
            if game.state != game_pb2.GAME_STATE_RUNNING:
                yield game


def get_game(source: GameSource, key: str) -> game_pb2.Game:
    found: pb.GetGameResponse = source.ask(source.games.GetGame, pb.GetGameRequest(game_id=key))
    return found.game
