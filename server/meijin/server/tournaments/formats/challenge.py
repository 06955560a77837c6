"""A challenge: two players in some games, one after another."""

from collections.abc import Sequence

from sqlalchemy import Connection

from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.formats.base import BotIds
from meijin.server.tournaments.formats.schedule import PlayedOut
from meijin.store.schema import BotId, ChallengeColors, FormatName
from meijin.store.tournaments import NewTournament, PlannedGame
from meijin.store.tournaments.match_counts import GAMES_OF_A_PAIR

CHALLENGE = FormatName("challenge")


class ChallengeFormat(PlayedOut):
    """Plays what was planned with the challenge."""

    IS_CASUAL = True

    @classmethod
    def plan(cls, connection: Connection, asked: NewTournament, here: BotIds) -> NewTournament:
        """Nothing: no tournament is asked to be a challenge.

        Raises:
            InvalidRequestError: always.
        """
        raise InvalidRequestError("format: `meijin challenge` makes challenges, no tournament")


def schedule(
    challenger: BotId,
    opponent: BotId,
    games: int,
    colors: ChallengeColors,
    openings: Sequence[bytes],
) -> tuple[PlannedGame, ...]:
    """The games of a challenge, in order; each opening is dealt to one, or to two of both colours."""
    alternates = colors is ChallengeColors.ALTERNATE
    planned = []
    for number in range(games):
        deal = number // GAMES_OF_A_PAIR if alternates else number
        is_black = number % 2 == 0 if alternates else colors is ChallengeColors.BLACK
        players = (challenger, opponent) if is_black else (opponent, challenger)
        pair = deal + 1 if alternates else 0
        opening = openings[deal % len(openings)]
        planned.append(PlannedGame(number + 1, *players, opening, pair=pair))
    return tuple(planned)
