"""What a match came to: its score, what that says of the two, and every game."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from meijin.game import GameEngine, GameRecord
from meijin.local.first_fault import FirstFault
from meijin.local.game_tables import COLUMNS, Rows, data_frame, table_rows
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.enums import enum_table
from meijin.wire.match_report import report_lines
from meijin.wire.records import record_from_proto
from meijin.wire.standings import added

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class TestDecision(Enum):
    """What a sequential test has found."""

    __test__ = False  # for pytest, which collects classes by their names

    OPEN = "open"
    """The games were used up before."""
    ELO0 = "elo0"
    ELO1 = "elo1"
    NOTHING_NEW = "nothing new"
    """The openings are used up: the bots end alike on them, or repeat their games."""


_DECISIONS = {
    number: member for member, number in enum_table(TestDecision, pb.SprtDecision).items()
}


@dataclass(frozen=True, slots=True)
class Advantage:
    """An estimate of how much stronger the first bot is, with 95 % intervals."""

    elo: float
    elo_low: float
    elo_high: float
    normalised_elo: float
    normalised_low: float
    normalised_high: float
    los: float
    """The likelihood that it is the stronger one."""


@dataclass(frozen=True)
class MatchResult:
    """A match, from its first bot's side."""

    first: str
    second: str
    """The names they played under."""
    wins: int
    draws: int
    losses: int
    pairs: tuple[int, ...]
    """Pairs of games on one opening, by the first bot's points in both: 0, 0.5, 1, 1.5 and 2.
    Games that repeat earlier ones are left out."""
    advantage: Advantage | None
    """``None`` where all results are the same, which has no interval."""
    elo_bound: float | None
    """The Elo beyond which the first bot's advantage is, at 95 %, where it has won or lost every
    game; else ``None``."""
    faults: tuple[int, int]
    """Games that the first bot and the second one have forfeited."""
    decision: TestDecision | None = None
    """``None`` for a match without a test."""
    verdict: str = ""
    """The decision in a sentence, or why the match was broken off."""
    first_faults: tuple[FirstFault, ...] = ()
    """Of each bot that has forfeited a game, the first such game."""
    _lines: tuple[str, ...] = field(default=(), repr=False)
    _messages: tuple[game_pb2.Game, ...] = field(default=(), repr=False)

    @property
    def score(self) -> float:
        """The first bot's share of the points, from 0 to 1."""
        return (self.wins + self.draws / 2) / (self.wins + self.draws + self.losses)

    @property
    def elo(self) -> float | None:
        """The first bot's advantage; ``None`` where there is no estimate."""
        return None if self.advantage is None else self.advantage.elo

    @property
    def los(self) -> float | None:
        """The likelihood that the first bot is the stronger; ``None`` without an estimate."""
        return None if self.advantage is None else self.advantage.los

    @cached_property
    def games(self) -> tuple[GameRecord, ...]:
        """The games with a result, in the order in which they were dealt."""
        return tuple(map(record_from_proto, self._messages))

    @property
    def engines(self) -> tuple[GameEngine, GameEngine] | None:
        """What played as the first bot and as the second one; ``None`` without a game."""
        if not self.games:
            return None
        game = self.games[0]
        engines = (game.black_engine, game.white_engine)
        return engines if game.black == self.first else engines[::-1]

    def to_frame(self, rows: str = "games") -> Any:  # noqa: ANN401 - of the library that is there
        """A data frame of pandas, or of polars where that alone is installed.

        Its columns are those of `meijin game export --format csv`.

        Args:
            rows: What a row is: ``games`` or ``moves``.

        Raises:
            ArenaError: neither is installed.
        """
        kind = Rows(rows)
        return data_frame(COLUMNS[kind], list(table_rows(self._messages, kind)))

    def __str__(self) -> str:
        """The lines that `meijin match` prints of it."""
        return "\n".join(
            (*self._lines, *(line for each in self.first_faults for line in each.lines()))
        )


def result_of(
    response: pb.GetTournamentResponse,
    games: Sequence[game_pb2.Game],
    first_faults: Iterable[FirstFault] = (),
) -> MatchResult:
    """Read a tournament of two bots that has ended, with its match report and its games."""
    found, report = response.tournament, response.match_report
    first, second = found.settings.bots
    total = added(report.black, report.white)
    faults = {count.bot: count.faults for count in response.faults}
    return MatchResult(
        first=first,
        second=second,
        wins=total.wins,
        draws=total.draws,
        losses=total.losses,
        pairs=tuple(report.pairs),
        advantage=_advantage(report.estimate) if report.HasField("estimate") else None,
        elo_bound=report.elo_bound if report.HasField("elo_bound") else None,
        faults=(faults.get(first, 0), faults.get(second, 0)),
        decision=_DECISIONS.get(found.sprt.decision),
        verdict=found.verdict,
        first_faults=tuple(first_faults),
        _lines=tuple(report_lines(response)),
        _messages=tuple(games),
    )


def _advantage(estimate: pb.SprtEstimate) -> Advantage:
    return Advantage(*(getattr(estimate, each.name) for each in fields(Advantage)))
