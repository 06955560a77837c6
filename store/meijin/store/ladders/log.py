"""The log of a ladder's games, from which a run is computed anew and believed."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select

from meijin.game import Ending, Party, Result
from meijin.game.moves import MOVE_BYTES
from meijin.store.ladders.opening_keys import opening_key
from meijin.store.ladders.rated_games import (
    FaultCount,
    ScoredGame,
    Snapshot,
    count_openings,
    ladder_row,
)
from meijin.store.rows import columns_of
from meijin.store.schema import BotVersionId, Fault, FaultKind, Game, GameId, GameState, LadderId
from meijin.store.tournaments.match_counts import RESULT_PLACES
from meijin.store.void_evidence import VoidEvidence


def log_snapshot(
    connection: Connection,
    ladder_id: LadderId,
    anchors: Sequence[BotVersionId],
    *,
    cutoff: int,
    voided: int,
) -> Snapshot:
    """What `snapshot` gave when the last game was that with an `end_sequence`.

    It is read game by game: no mark of a repeat and no count is believed. Games that were
    voided since, when more than `voided` had been, are what they were before.
    """
    ladder = ladder_row(connection, ladder_id)
    seen: set[bytes] = set()
    openings: list[int] = []
    results: list[ScoredGame] = []
    faults: Counter[BotVersionId] = Counter()
    finished = last = 0
    for game in _log(connection, ladder_id, cutoff=cutoff, voided=voided):
        finished, last = finished + 1, game.end_sequence
        black, white = game.black_id, game.white_id
        if game.at_fault in {Party.BLACK, Party.WHITE}:
            faults[black if game.at_fault is Party.BLACK else white] += 1
        if not game.has_moves or game.digest not in seen:
            seen.add(game.digest)
            results.append((black, white, 1 - RESULT_PLACES[game.result] / 2))
            openings.append(opening_key(game.moves[: 2 * game.opening_plies]))
    return Snapshot(
        ladder_id=ladder_id,
        name=ladder.name,
        revision=ladder.revision,
        voided=voided,
        cutoff=last,
        counts=count_openings(
            (black, white, opening, points)
            for (black, white, points), opening in zip(results, openings, strict=True)
        ),
        results=results,
        fault_counts=sorted(FaultCount(*count) for count in faults.items()),
        repeats=finished - len(results),
        anchors=anchors,
    )


class _LoggedGame(NamedTuple):
    """A game as it was when a run was computed."""

    id: GameId
    state: GameState
    end_sequence: int
    black_id: BotVersionId
    white_id: BotVersionId
    opening_plies: int
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
        select(*columns_of(_LoggedGame, Game))
        .where(Game.ladder_id == ladder_id, Game.end_sequence <= cutoff)
        .order_by(Game.end_sequence)
        .execution_options(yield_per=10_000)
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
