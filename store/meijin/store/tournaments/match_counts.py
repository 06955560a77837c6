"""Results of a tournament: game by game, planned or played, and counted as a match's score.

- `planned_results`, `pairing_results`: a tournament's games, by their numbers or by their ends
- `results_after`: those that have come since some of them were counted
- `games_from`: a tournament's games as they were begun, for who counts on from some of them
- `match_counts`: what two bots scored against each other, by games and by pairs of games, without
  those that repeat an earlier game of the tournament
- `dealt_openings`: what its pairs have begun with
- `RESULT_PLACES`: the order in which wins, draws and losses are counted, here and elsewhere

A pair is what the pairings 2k - 1 and 2k are, of more than two bots those of one `pair`: one
opening, played with both colours. It counts when both of its games are new.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Subquery,
    and_,
    case,
    func,
    literal,
    or_,
    select,
    true,
)

from meijin.game import Party, Result
from meijin.game.board.moves import MOVE_BYTES
from meijin.store.games import decode_times
from meijin.store.ladders.results import BLACK_SCORES
from meijin.store.rows import columns_of, read_rows
from meijin.store.schema import (
    BotId,
    BotVersion,
    Entrant,
    Game,
    GameId,
    GameState,
    Pairing,
    Score,
    TournamentId,
    aliased,
)

GAMES_OF_A_PAIR = 2

CHUNK = 5000
"""Games that are read at once where all of a tournament's are."""

RESULT_PLACES = {Result.BLACK_WINS: 0, Result.DRAW: 1, Result.WHITE_WINS: 2}
"""Where results stand in counts of black's wins, draws and losses."""


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """The first bot's results, from the worst to the best, in games that repeat no earlier one."""

    games: tuple[int, ...] = (0,) * 3
    """Lost, drawn, won."""
    pairs: tuple[int, ...] = (0,) * 5
    """Complete pairs of such games by their half points, from none to four."""
    repeats: int = 0
    """Games that are left out, since they repeat an earlier one."""

    @property
    def played(self) -> int:
        """How many games have a result, repeats among them."""
        return sum(self.games) + self.repeats


SEAT_RESULT = case(
    (
        (Game.is_swapped & (Game.result == Result.BLACK_WINS)),
        literal(Result.WHITE_WINS, Game.result.type),
    ),
    (
        (Game.is_swapped & (Game.result == Result.WHITE_WINS)),
        literal(Result.BLACK_WINS, Game.result.type),
    ),
    else_=Game.result,
)
"""The result as if the first player, whom the pairing calls black, had had black."""


class PairingResult(NamedTuple):
    """How a planned game ended, by the players that the pairing calls black and white."""

    number: int
    black_id: BotId
    white_id: BotId
    result: Result
    fingerprint: int | None = None
    """The same for games that repeat each other; ``None`` for one that repeats none."""


class PlannedResult(NamedTuple):
    """A planned game, and how it ended; as `PairingResult`."""

    number: int
    round: int
    black_id: BotId
    white_id: BotId
    result: Result | None
    """``None`` while there is none."""


def planned_results(connection: Connection, tournament_id: TournamentId) -> Sequence[PlannedResult]:
    """All planned games of a tournament by their numbers, with their results."""
    # Not "a finished game": the index of a pairing's games leaves out the void ones alone.
    begun = (Game.pairing_id == Pairing.id) & (Game.state != GameState.VOID)
    result = case((Game.state == GameState.FINISHED, SEAT_RESULT))
    query = (
        select(*columns_of(PlannedResult, Pairing, result=result))
        .select_from(Pairing)
        .outerjoin(Game, begun)
        .where(Pairing.tournament_id == tournament_id)
        .order_by(Pairing.number)
    )
    return read_rows(PlannedResult, connection.execute(query))


_PAIRING_RESULT = columns_of(
    PairingResult, Pairing, result=SEAT_RESULT, fingerprint=Game.symmetric_fingerprint
)


def pairing_results(connection: Connection, tournament_id: TournamentId) -> Sequence[PairingResult]:
    """A tournament's results in the order of the ends."""
    query = (
        select(*_PAIRING_RESULT)
        .select_from(Pairing)
        .join(Game, Game.pairing_id == Pairing.id)
        .where(Game.tournament_id == tournament_id, Game.state == GameState.FINISHED)
        .order_by(Game.end_sequence)
    )
    return read_rows(PairingResult, connection.execute(query))


class EndedResult(NamedTuple):
    """A result, and the game that it is of."""

    result: PairingResult
    game_id: GameId
    end_sequence: int


def results_after(
    connection: Connection, tournament_id: TournamentId, *, first: GameId, last_end: int
) -> Sequence[EndedResult]:
    """A tournament's results after the one that ended at `last_end`, in the order of the ends.

    Args:
        first: No game before it has ended since.
    """
    query = (
        select(Game.id, Game.end_sequence, *_PAIRING_RESULT)
        .join(Pairing, Game.pairing_id == Pairing.id)
        .where(
            Game.tournament_id == tournament_id,
            Game.id >= first,
            Game.state == GameState.FINISHED,
            Game.end_sequence > last_end,
        )
        .order_by(Game.end_sequence)
    )
    return [
        EndedResult(PairingResult(*row), game_id, end_sequence)
        for game_id, end_sequence, *row in connection.execute(query)
    ]


def end_times(
    connection: Connection, tournament_id: TournamentId, numbers: Collection[int]
) -> dict[int, datetime]:
    """When some planned games ended; reading a time costs as much as all else of a result."""
    query = (
        select(Pairing.number, Game.end_time)
        .join(Game, Game.pairing_id == Pairing.id)
        .where(
            Pairing.tournament_id == tournament_id,
            Pairing.number.in_(numbers),
            Game.state == GameState.FINISHED,
        )
    )
    return {number: time for number, time in connection.execute(query) if time is not None}


def first_running(
    connection: Connection, tournament_id: TournamentId, first: GameId
) -> GameId | None:
    """The first of a tournament's games from one on that still runs, if any."""
    query = select(func.min(Game.id)).where(
        Game.tournament_id == tournament_id, Game.id >= first, Game.state == GameState.RUNNING
    )
    return connection.scalar(query)


class BegunGame(NamedTuple):
    """A game of a tournament, and what has become of it."""

    id: GameId
    black_id: BotId
    white_id: BotId
    state: GameState
    result: Result
    at_fault: Party
    end_sequence: int | None
    """``None`` while it runs."""


def games_from(
    connection: Connection, tournament_id: TournamentId, first: GameId
) -> Iterator[Sequence[BegunGame]]:
    """A tournament's games from this one on as they were begun, some thousand at once."""
    black, white = aliased(BotVersion), aliased(BotVersion)
    columns = columns_of(BegunGame, Game, black_id=black.bot_id, white_id=white.bot_id)
    query = (
        select(*columns)
        .join(black, black.id == Game.black_id)
        .join(white, white.id == Game.white_id)
        .where(Game.tournament_id == tournament_id, Game.id >= first)
        .order_by(Game.id)
    )
    for rows in connection.execute(query).partitions(CHUNK):
        yield [BegunGame(*row) for row in rows]


def dealt_openings(connection: Connection, tournament_id: TournamentId) -> list[bytes]:
    """The opening of each pair of a tournament, in the order in which they were planned."""
    query = (
        select(Pairing.opening)
        .where(Pairing.tournament_id == tournament_id, Pairing.number % GAMES_OF_A_PAIR == 1)
        .order_by(Pairing.number)
    )
    return [bytes(opening) for opening in connection.scalars(query)]


def match_counts(
    connection: Connection, tournament_id: TournamentId, opponent: BotId | None = None
) -> MatchCounts:
    """The counts for the first entrant, of a tournament of two or against one opponent of several."""
    pairs = _pairs(tournament_id, opponent)
    columns = (pairs.c.games, pairs.c.repeats, pairs.c.wins, pairs.c.draws)
    query = select(*columns, func.count()).group_by(*columns)
    results, halves, left_out = [0] * 3, [0] * 5, 0
    for games, repeats, wins, draws, count in connection.execute(query):
        for place, share in enumerate((games - wins - draws, draws, wins)):
            results[place] += share * count
        if games == GAMES_OF_A_PAIR:
            halves[2 * wins + draws] += count
        left_out += repeats * count
    return MatchCounts(tuple(results), tuple(halves), left_out)


def _pairs(tournament_id: TournamentId, opponent: BotId | None) -> Subquery:
    """Of each pair: new games with a result, those the first entrant won and drew, and repeats."""
    games = _results(tournament_id, opponent)
    columns = games.c

    def count(of: ColumnElement[bool]) -> ColumnElement[int]:
        return func.sum(case((of, 1), else_=0))

    is_new = or_(columns.fingerprint.is_(None), columns.place == 1)
    is_won = or_(
        and_(columns.has_black, columns.result == Result.BLACK_WINS),
        and_(~columns.has_black, columns.result == Result.WHITE_WINS),
    )
    return (
        select(
            count(is_new).label("games"),
            count(~is_new).label("repeats"),
            count(is_new & is_won).label("wins"),
            count(is_new & (columns.result == Result.DRAW)).label("draws"),
        )
        .group_by(columns.pair)
        .subquery()
    )


def _results(tournament_id: TournamentId, opponent: BotId | None) -> Subquery:
    """A tournament's results, each with its place among the games that it repeats or that do it."""
    pair = (Pairing.number + 1) // GAMES_OF_A_PAIR if opponent is None else Pairing.pair
    place = func.row_number().over(
        partition_by=Game.symmetric_fingerprint, order_by=Game.end_sequence
    )
    return (
        select(
            pair.label("pair"),
            SEAT_RESULT.label("result"),
            Game.symmetric_fingerprint.label("fingerprint"),
            place.label("place"),
            (Pairing.black_id == Entrant.bot_id).label("has_black"),
        )
        .join(Game, Game.pairing_id == Pairing.id)
        .join(Entrant, and_(Entrant.tournament_id == Pairing.tournament_id, Entrant.seat == 0))
        .where(Game.tournament_id == tournament_id, Game.state == GameState.FINISHED)
        .where(_meets(opponent))
        .subquery()
    )


def _meets(opponent: BotId | None) -> ColumnElement[bool]:
    """Whether a pairing is one of this bot; of any without one."""
    if opponent is None:
        return true()
    return or_(Pairing.black_id == opponent, Pairing.white_id == opponent)


@dataclass(slots=True)
class TimeUse:
    """The time that a bot's clocks were charged."""

    moves: int = 0
    """Those of openings that were set up left out."""
    nanoseconds: int = 0
    longest: int = 0
    """Nanoseconds of one move."""

    def add(self, charged: Sequence[int]) -> None:
        """Count moves by the nanoseconds of each."""
        self.moves += len(charged)
        self.nanoseconds += sum(charged)
        self.longest = max(self.longest, max(charged, default=0))


@dataclass(slots=True)
class MatchSums:
    """Sums over the games with a result, repeats among them."""

    black: Score = field(default_factory=Score)
    """The first bot's games with black."""
    white: Score = field(default_factory=Score)
    plies: int = 0
    """Stones on the boards at the ends, openings among them."""
    first: TimeUse = field(default_factory=TimeUse)
    second: TimeUse = field(default_factory=TimeUse)
    start_time: datetime | None = None
    """Of the first game; ``None`` where there is none."""
    end_time: datetime | None = None
    """Of the last game."""


class _Played(NamedTuple):
    black_id: BotId
    opening_plies: int
    moves: bytes
    times: bytes
    result: Result
    start_time: datetime
    end_time: datetime | None


def match_sums(
    connection: Connection,
    tournament_id: TournamentId,
    first: BotId,
    opponent: BotId | None = None,
) -> MatchSums:
    """The sums for a bot of a tournament of two, or against one opponent of several.

    A stone counts for whoever has its colour, though with an opening rule the other one may have
    placed it.
    """
    query = (
        select(*columns_of(_Played, Game, black_id=BotVersion.bot_id))
        .join(BotVersion, BotVersion.id == Game.black_id)
        .join(Pairing, Pairing.id == Game.pairing_id)
        .where(Game.tournament_id == tournament_id, Game.state == GameState.FINISHED)
        .where(_meets(opponent))
        .order_by(Game.id)
    )
    sums = MatchSums()
    for rows in connection.execute(query).partitions(CHUNK):
        for row in rows:
            _add(sums, _Played(*row), first)
    return sums


def _add(sums: MatchSums, game: _Played, first: BotId) -> None:
    has_black = game.black_id == first
    if has_black:
        sums.black += BLACK_SCORES[game.result]
    else:
        sums.white += BLACK_SCORES[game.result].reversed
    sums.plies += len(game.moves) // MOVE_BYTES
    _, charged = decode_times(game.times)
    begins = game.opening_plies % 2 == 0  # black made the first move that was timed
    (sums.first if has_black == begins else sums.second).add(charged[::2])
    (sums.second if has_black == begins else sums.first).add(charged[1::2])
    sums.start_time = min(sums.start_time or game.start_time, game.start_time)
    if game.end_time is not None:
        sums.end_time = max(sums.end_time or game.end_time, game.end_time)
