"""Where two versions of a bot play otherwise: positions that both have met, and what they chose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from meijin.game import Variant, decode_moves, encode_moves
from meijin.game.board.moves import MOVE_BYTES
from meijin.game.board.symmetry import canonical_moves, canonical_position
from meijin.store.bots import VersionRow, get_bot, version_of
from meijin.store.games import FirstMoves, first_moves
from meijin.store.ladders.games import settled_opening
from meijin.store.ladders.results import BLACK_SCORES
from meijin.store.ladders.versions import bot_ratings, version_ratings
from meijin.store.schema import BotVersionId, GameId, RatingLine, Score

GAMES = 500
"""The newest of each version that are looked at."""

PLIES = 20
"""Of each game."""

MAX_DIFFERENCES = 50


@dataclass(frozen=True, slots=True)
class VersionMove:
    """What a version played most in a position."""

    cell: int
    score: Score
    """Of the games in which it played so."""
    games: int
    """All of its games with the position."""
    game_id: GameId
    """The newest in which it played so."""


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """A position in which two versions prefer different moves."""

    variant: Variant
    moves: bytes
    """Of the newest game of the other one that led to it; two bytes a cell, little-endian."""
    one: VersionMove
    other: VersionMove


@dataclass(frozen=True, slots=True)
class VersionComparison:
    one: VersionRow
    other: VersionRow
    ratings: Mapping[BotVersionId, RatingLine]
    """In the ladder with most of the bot's games, as far as it rates them."""
    one_games: int
    """Of the first that were looked at."""
    other_games: int
    positions: int
    """That both have met with the same side to move, each with its mirror images once."""
    differing: int
    """Those of them in which they prefer different moves."""
    differences: Sequence[VersionDifference]
    """Those that both have met most, and of these the ones with the fewest stones, first."""


@dataclass(slots=True)
class _Tally:
    """A move of a version in a position, counted; it grows, as thousands of them are made."""

    game: FirstMoves
    """The newest with it."""
    ply: int
    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses


_Position = dict[int, _Tally]
"""What was played in it, by canonical cells, the newest first."""


def compare_versions(
    connection: Connection, name: str, version_id: BotVersionId, other_version_id: BotVersionId
) -> VersionComparison:
    """Compare what two versions of a bot played in the first `PLIES` of their games.

    Raises:
        RowNotFoundError: there is no such bot, or it has no such version.
    """
    bot_id = get_bot(connection, name)
    one, other = (version_of(connection, bot_id, each) for each in (version_id, other_version_id))
    rating = bot_ratings(connection, [bot_id]).get(bot_id)
    ladder = "" if rating is None else rating.ladder
    games, other_games = (
        first_moves(connection, each.id, limit=GAMES, plies=PLIES) for each in (one, other)
    )
    met, other_met = _positions(games, one.id), _positions(other_games, other.id)
    shared = met.keys() & other_met.keys()
    differing = [key for key in shared if not _best(met[key]).keys() & _best(other_met[key]).keys()]

    def weight(key: int) -> tuple[int, int, int]:
        counts = (sum(each.games for each in of[key].values()) for of in (met, other_met))
        return -min(counts), next(iter(met[key].values())).ply, key

    differing.sort(key=weight)
    return VersionComparison(
        one,
        other,
        version_ratings(connection, ladder, [one.id, other.id]),
        len(games),
        len(other_games),
        len(shared),
        len(differing),
        [_difference(met[key], other_met[key]) for key in differing[:MAX_DIFFERENCES]],
    )


def _positions(games: Sequence[FirstMoves], version_id: BotVersionId) -> Mapping[int, _Position]:
    """The positions in which a version had to move after the openings, by their keys."""
    found: dict[int, _Position] = {}
    for game in games:
        is_black = game.black_id == version_id
        score = BLACK_SCORES[game.result]
        mine = score if is_black else score.reversed
        moves = decode_moves(game.moves)
        opening = settled_opening(game.moves, game.opening_plies, game.decisions)
        begin = len(opening) // MOVE_BYTES
        plies = range(begin + (begin + (not is_black)) % 2, len(moves), 2)
        choices = canonical_moves(moves, game.variant, plies)
        for ply, (key, cell) in zip(plies, choices, strict=True):
            position = found.setdefault(key, {})
            tally = position.get(cell)
            if tally is None:
                tally = position[cell] = _Tally(game, ply)
            tally.wins += mine.wins
            tally.draws += mine.draws
            tally.losses += mine.losses
    return found


def _best(position: _Position) -> _Position:
    """The moves that were played most."""
    most = max(each.games for each in position.values())
    return {cell: each for cell, each in position.items() if each.games == most}


def _difference(one: _Position, other: _Position) -> VersionDifference:
    """What both prefer, on the board of the newest game of the other."""
    game, ply = next((each.game, each.ply) for each in _best(other).values())
    moves = decode_moves(game.moves)[:ply]
    position = canonical_position(moves, game.variant)

    def preferred(choices: _Position) -> VersionMove:
        cell, tally = next(iter(_best(choices).items()))
        return VersionMove(
            position.cells_of(cell)[0],
            Score(tally.wins, tally.draws, tally.losses),
            sum(each.games for each in choices.values()),
            tally.game.id,
        )

    return VersionDifference(game.variant, encode_moves(moves), preferred(one), preferred(other))
