"""A game that is being played, and the tournament it is played for."""

from array import array
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from meijin.game import Color, Result, TimeControl, Variant, encode_moves
from meijin.server.match.arbiter import Arbiter
from meijin.server.match.session import Player, Session
from meijin.server.tournaments.formats.base import Supply
from meijin.store.games import encode_times
from meijin.store.journal import GameEnd, GameStart
from meijin.store.ladders.repeats import fingerprint
from meijin.store.match_counts import PairingResult
from meijin.store.schema import (
    BotVersionId,
    EntryId,
    GameId,
    LadderId,
    PairingId,
    TournamentId,
)
from meijin.store.tournaments import PendingPairing


@dataclass(slots=True, eq=False)
class TournamentRun:
    """A tournament whose games are being played."""

    id: TournamentId
    variant: Variant
    time_control: TimeControl
    max_games: int
    """The most games at once; 0 leaves it to the bots."""
    ladder_id: LadderId | None
    remaining: int
    """Games of the schedule without a result; 0 where there is no schedule."""
    pending: OrderedDict[PairingId, PendingPairing] = field(default_factory=OrderedDict)
    """Planned games in the order of the schedule.

    They are taken from the front, where a plain dictionary's search would pass all that were
    there before.
    """
    running: int = 0
    cancelled: bool = False
    is_finished: bool = False
    """Its end is stored, or is about to be."""
    supply: Supply | None = None
    """Plans the games where there is no schedule."""
    last_number: int = 0
    """Of the games that were planned."""

    @property
    def has_ended(self) -> bool:
        """Whether it has come to its end."""
        return bool(self.supply.verdict) if self.supply else self.remaining == 0

    @property
    def is_over(self) -> bool:
        """Whether no game of it is left to play, or none will be."""
        return self.cancelled or self.has_ended

    def count(self, pairing: PendingPairing, result: Result) -> None:
        """A game of it has a result."""
        if self.supply is None:
            self.remaining -= 1
        else:
            self.supply.game_ended(
                PairingResult(pairing.number, pairing.black_id, pairing.white_id, result)
            )


@dataclass(slots=True, eq=False)
class LiveGame:
    """A game, its arbiter and its players."""

    number: int
    """Names the game on the wire, for as long as this server runs."""
    id: GameId
    run: TournamentRun
    pairing: PendingPairing
    arbiter: Arbiter
    black: Player
    white: Player
    black_version: BotVersionId
    white_version: BotVersionId
    start_time: datetime
    first_entry: EntryId
    """No entry before this one holds a move of the game."""
    opening_plies: int
    analysis: dict[str, Any] | None = None
    """By ply, what the bots said they thought; ``None`` while they say nothing."""
    sessions: list[Session | None] = field(default_factory=lambda: [None, None, None])
    """By the value of a colour: the stream of that side's player, unless it is away."""
    is_announced: bool = False
    """Its start is committed, so its players may hear of it."""
    is_unsettled: bool = False
    """Its last move is not committed yet, so nobody may hear of it."""
    end_time: datetime | None = None
    """``None`` while it runs."""

    @property
    def settled_moves(self) -> "array[int]":
        """The committed moves."""
        moves = self.arbiter.board.moves
        return moves[:-1] if self.is_unsettled else moves

    def color(self, player: Player) -> Color:
        """The side that one of its two players has."""
        return Color.BLACK if player is self.black else Color.WHITE

    def player(self, color: Color) -> Player:
        """The player of a side."""
        return self.black if color is Color.BLACK else self.white

    def version(self, color: Color) -> BotVersionId:
        """The bot version that plays a side, from the first move to the last."""
        return self.black_version if color is Color.BLACK else self.white_version

    def is_played_by(self, player: Player, version_id: BotVersionId) -> bool:
        """Whether this version of a bot plays it: another one does not take it over."""
        return self.version(self.color(player)) == version_id

    def to_start(self) -> GameStart:
        """The game's beginning as it is stored."""
        return GameStart(
            id=self.id,
            pairing_id=self.pairing.id,
            tournament_id=self.run.id,
            ladder_id=self.run.ladder_id,
            black_id=self.black_version,
            white_id=self.white_version,
            opening=self.pairing.opening,
            time=self.start_time,
        )

    def to_end(self, sequence: int, now: datetime) -> GameEnd:
        """The game's end as it is stored."""
        arbiter = self.arbiter
        outcome = arbiter.outcome
        assert outcome is not None
        culprit = outcome.at_fault.color
        moves = encode_moves(arbiter.board.moves)
        return GameEnd(
            id=self.id,
            pairing_id=self.pairing.id,
            ladder_id=self.run.ladder_id,
            sequence=sequence,
            moves=moves,
            times=encode_times(arbiter.raw, arbiter.charged),
            analysis=self.analysis,
            result=outcome.result,
            ending=outcome.ending,
            at_fault=outcome.at_fault,
            detail=outcome.detail,
            time=now,
            fault_version_id=None if culprit is None else self.version(culprit),
            evidence=arbiter.evidence,
            fingerprint=fingerprint(
                self.black_version, self.white_version, self.opening_plies, moves
            ),
        )
