"""What a match is to be, in the words of a program."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from meijin.game import (
    FREE,
    GOMOKU,
    Opening,
    TimeControl,
    Variant,
    check_opening,
    encode_moves,
    opening_rule_named,
    parse_opening,
)
from meijin.game.openings.file import read_openings
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.values import time_control_to_proto, variant_to_proto

USUAL_GAMES = 10
"""Of a match without a test."""
USUAL_TIME = "60+0.5"
USUAL_MAX_FAULTS = 3
"""More of them, and a score says nothing of strength."""


class MatchOptions(TypedDict, total=False):
    """The fields of `MatchSettings`, each of which may be left out."""

    games: int | None
    time: str | tuple[str, str]
    variant: str
    opening_rule: str
    openings: Sequence[str] | Path
    seed: int | None
    sprt: tuple[float, float] | None
    concurrency: int
    max_faults: int


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """What is played, how often and with which clocks."""

    games: int | None = None
    """Two of them are one opening with both colours; with a test, the most that are played.
    10 when left out; with a test 100,000."""
    time: str | tuple[str, str] = USUAL_TIME
    """Such as ``60+0.5`` or ``1/move``, in seconds; two of them are one for each bot."""
    variant: str = str(GOMOKU)
    opening_rule: str = FREE.name
    openings: Sequence[str] | Path = ()
    """Such as ``h8 i9``, or a file of them; balanced ones of ours when left out."""
    seed: int | None = None
    """Same seed, same openings; drawn by lot when left out."""
    sprt: tuple[float, float] | None = None
    """Normalised Elo: play until a test has decided which of the two the advantage is."""
    concurrency: int = 0
    """Games at once; 0 leaves it to what the bots can."""
    max_faults: int = USUAL_MAX_FAULTS
    """The match ends when a bot has forfeited this many games; 0 for never."""

    def tournament(self) -> pb.TournamentSettings:
        """The tournament that two bots are to play, without their names.

        Raises:
            ValueError: a text can't be what it should be.
            OSError: the file of openings can't be read.
        """
        board = Variant.parse(self.variant)
        if self.opening_rule != FREE.name:
            board = replace(board, opening_rule=opening_rule_named(self.opening_rule))
        times = (self.time,) if isinstance(self.time, str) else self.time
        controls = [TimeControl.parse(text) for text in times]
        wanted = pb.TournamentSettings(
            variant=variant_to_proto(board),
            time_control=time_control_to_proto(controls[0]),
            time_controls=map(time_control_to_proto, controls[1:] and controls),
            seed=secrets.randbits(31) if self.seed is None else self.seed,
            openings=[encode_moves(opening) for opening in self._openings(board)],
            max_games=self.concurrency,
            unrated=True,
            max_faults=self.max_faults,
        )
        if self.sprt is None:
            wanted.rounds = USUAL_GAMES if self.games is None else self.games
        else:
            elo0, elo1 = self.sprt
            wanted.format = pb.TOURNAMENT_FORMAT_SPRT
            wanted.sprt.CopyFrom(pb.Sprt(elo0=elo0, elo1=elo1, most_games=self.games or 0))
        return wanted

    def _openings(self, variant: Variant) -> Iterator[Opening]:
        if isinstance(self.openings, Path):
            yield from read_openings(self.openings.read_bytes(), variant)
            return
        for text in self.openings:
            opening = parse_opening(text, variant)
            check_opening(opening, variant)
            yield opening
