"""The log of a ladder's finished games, in the order in which they ended."""

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, String, case, cast, func, literal, select

from meijin.game import Ending, Party, Result
from meijin.game.board.moves import MOVE_BYTES
from meijin.store.ladders.opening_keys import opening_key, settled_opening
from meijin.store.rows import columns_of
from meijin.store.schema import (
    BotVersionId,
    Fault,
    FaultKind,
    Game,
    GameId,
    GameState,
    Ladder,
    LadderId,
)
from meijin.store.void_evidence import VoidEvidence

CHUNK = 10_000
"""Rows that are read at once where there may be a million."""


class FinishedGame(NamedTuple):
    """A finished game in plain numbers, since a million may be read at once."""

    end_sequence: int
    day: str
    """The day (UTC) that it ended on, as in ``2026-01-31``."""
    black_id: BotVersionId
    white_id: BotVersionId
    opening: int
    """The key of its opening."""
    points: int
    """Black's: 2 for a win, 1 for a draw, 0 for a loss."""
    fault: int
    """Who forfeited: 1 for black, 2 for white, 0 for nobody."""
    is_repeat: bool
    """It is the same as an earlier one, and not rated."""


def finished_games(
    connection: Connection, ladder_id: LadderId, *, after: int
) -> Iterator[FinishedGame]:
    """The finished games in the ladder's log after an `end_sequence`, in order, as marked."""
    last = select(Ladder.sequenced).where(Ladder.id == ladder_id).scalar_subquery()
    query = (
        select(*_FINISHED_GAME)
        .where(
            Game.ladder_id == ladder_id,
            Game.state == GameState.FINISHED,
            Game.end_sequence > after,
            Game.end_sequence <= last,
        )
        .order_by(Game.end_sequence)
        .execution_options(yield_per=CHUNK)
    )
    yield from map(FinishedGame._make, connection.execute(query))


def logged_games(
    connection: Connection, ladder_id: LadderId, *, cutoff: int, voided: int
) -> Iterator[FinishedGame]:
    """What `finished_games` gave when the last game was that with an `end_sequence`.

    No mark of a repeat and no key of an opening is believed. Games that were voided since, when
    more than `voided` had been, are what they were before.
    """
    seen: set[bytes] = set()
    for game in _log(connection, ladder_id, cutoff=cutoff, voided=voided):
        digest = game.digest
        yield FinishedGame(
            end_sequence=game.end_sequence,
            day=game.day,
            black_id=game.black_id,
            white_id=game.white_id,
            opening=opening_key(settled_opening(game.moves, game.opening_plies, game.choice)),
            points=_POINTS[game.result],
            fault=_FAULTS.get(game.at_fault, 0),
            is_repeat=game.has_moves and digest in seen,
        )
        seen.add(digest)


class _LoggedGame(NamedTuple):
    """A game as it was when a run was computed."""

    id: GameId
    state: GameState
    end_sequence: int
    day: str
    black_id: BotVersionId
    white_id: BotVersionId
    opening_plies: int
    choice: bytes | None
    moves: bytes
    result: Result
    ending: Ending
    at_fault: Party

    @property
    def has_moves(self) -> bool:
        """Whether anything was played after the opening."""
        return len(self.moves) > MOVE_BYTES * self.opening_plies

    @property
    def digest(self) -> bytes:
        """Equal for games with the same players, opening, moves and end alone."""
        players = b"%d %d %d " % (self.black_id, self.white_id, self.opening_plies)
        end = f"{self.result.value} {self.ending.value} {self.at_fault.value} "
        return hashlib.sha256(players + end.encode() + self.moves).digest()


def _log(
    connection: Connection, ladder_id: LadderId, *, cutoff: int, voided: int
) -> Iterator[_LoggedGame]:
    """The finished games up to a cutoff, in order; those voided later are what they were."""
    games = (
        select(*columns_of(_LoggedGame, Game, day=_DAY))
        .where(Game.ladder_id == ladder_id, Game.end_sequence <= cutoff)
        .order_by(Game.end_sequence)
        .execution_options(yield_per=CHUNK)
    )
    before = _voided_since(connection, ladder_id, after=voided)
    for row in connection.execute(games).mappings():
        game = _LoggedGame(**row)
        if game.id in before:
            was = before[game.id]
            yield game._replace(result=was.result, ending=was.ending, at_fault=was.at_fault)
        elif game.state is GameState.FINISHED:
            yield game


def _voided_since(
    connection: Connection, ladder_id: LadderId, *, after: int
) -> dict[GameId, VoidEvidence]:
    """A ladder's finished games that were voided, but for the first so many of them."""
    query = (
        select(Fault.game_id, Fault.evidence)
        .join(Game, Game.id == Fault.game_id)
        .where(
            Game.ladder_id == ladder_id,
            Fault.kind == FaultKind.VOIDED,
        )
        .order_by(Fault.id)
    )
    voids = [
        (game_id, was)
        for game_id, evidence in connection.execute(query)
        if (was := VoidEvidence.from_json(evidence)) is not None
    ]
    return dict(voids[after:])


_POINTS = {Result.BLACK_WINS: 2, Result.DRAW: 1, Result.WHITE_WINS: 0}
_FAULTS = {Party.BLACK: 1, Party.WHITE: 2}
_DAY = cast(func.date(Game.end_time), String)
"""As text on both databases."""
_FINISHED_GAME = columns_of(
    FinishedGame,
    Game,
    day=_DAY,
    points=case(*((Game.result == result, literal(key)) for result, key in _POINTS.items())),
    fault=case(
        *((Game.at_fault == party, literal(key)) for party, key in _FAULTS.items()), else_=0
    ),
)
