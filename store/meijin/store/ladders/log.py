"""The log of a ladder's games, from which a run is computed anew and believed."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from meijin.game import Party, Result
from meijin.store.ladders.lineage import latest_days, parents_of
from meijin.store.ladders.rated_games import (
    CountedPairs,
    FaultCount,
    PairCount,
    ScoredGame,
    Snapshot,
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
    scores: dict[tuple[BotVersionId, BotVersionId], list[int]] = defaultdict(lambda: [0, 0, 0])
    results: list[ScoredGame] = []
    faults: Counter[BotVersionId] = Counter()
    days: set[tuple[BotVersionId, date]] = set()
    finished = last = 0
    for game in _log(connection, ladder_id, cutoff=cutoff, voided=voided):
        finished, last = finished + 1, game.end_sequence
        black, white = game.black_id, game.white_id
        if game.at_fault in {Party.BLACK, Party.WHITE}:
            faults[black if game.at_fault is Party.BLACK else white] += 1
        if game.digest not in seen:
            seen.add(game.digest)
            place = RESULT_PLACES[game.result]
            scores[black, white][place] += 1
            results.append((black, white, 1 - place / 2))
            days |= {(black, game.end_time.date()), (white, game.end_time.date())}
    last_days = latest_days(days)
    return Snapshot(
        ladder_id=ladder_id,
        name=ladder.name,
        revision=ladder.revision,
        voided=voided,
        cutoff=last,
        pair_counts=CountedPairs.of(
            sorted(PairCount(*players, *counts) for players, counts in scores.items())
        ),
        results=results,
        fault_counts=sorted(FaultCount(*count) for count in faults.items()),
        repeats=finished - len(results),
        anchors=anchors,
        parents=parents_of(connection, [version for version, _ in last_days]),
        last_days=last_days,
    )


class _LoggedGame(NamedTuple):
    """A game as it was when a run was computed."""

    id: GameId
    state: GameState
    end_sequence: int
    end_time: datetime
    black_id: BotVersionId
    white_id: BotVersionId
    opening_plies: int
    moves: bytes
    result: Result
    at_fault: Party

    @property
    def digest(self) -> bytes:
        """Equal for games with the same players, opening and moves alone."""
        players = b"%d %d %d " % (self.black_id, self.white_id, self.opening_plies)
        return hashlib.sha256(players + self.moves).digest()


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
            yield game._replace(result=was.result, at_fault=was.at_fault)
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
