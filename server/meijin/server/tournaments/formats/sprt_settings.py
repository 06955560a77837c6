"""A sequential test's settings, and where it stands.

- `SprtSettings`: what is tested and how, and the words that a test ends with
- `SprtStanding`: what its results say
"""

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Self

from meijin.ladder.statistics.sequential.sprt import (
    Decision,
    Estimate,
    Scale,
    Sprt,
    estimate_of_match,
)
from meijin.ladder.statistics.sequential.stopped import estimate_of
from meijin.ladder.statistics.sequential.units import Evidence
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.tournaments.formats.base import MAX_GAMES
from meijin.server.tournaments.formats.match_tally import Tallied
from meijin.wire.formats import Options
from meijin.wire.match_report import units_text

STALE_PAIRS = 50
"""Pairs in a row that add next to nothing, after which a test ends."""
LEAST_GAIN = 0.05
"""Units that a pair adds if it adds something. Bots that don't end alike fall below it where chance
makes pairs of forty openings look correlated by sixteen standard errors, and bots of which every
other game is new play fifty pairs in a row with a repeat in each with a chance of 6e-7."""

DEFAULT_MOST_GAMES = 100_000
DEFAULT_RISK = 0.05

SCALE_WORDS = {Scale.NORMALISED: "nElo", Scale.LOGISTIC: "Elo"}


class Unit(Enum):
    """What the test counts."""

    PAIRS = "pairs"
    """Complete pairs of games on one opening."""
    GAMES = "games"


class SprtDecision(Enum):
    """What a test has decided, as the contract says it."""

    OPEN = Decision.UNDECIDED
    ELO0 = Decision.H0_ACCEPTED
    ELO1 = Decision.H1_ACCEPTED
    NOTHING_NEW = "nothing new"
    """Undecided, and more games on the same openings would say next to nothing."""


@dataclass(frozen=True, slots=True)
class SprtStanding:
    """Where a test stands, with the fields of the contract's message."""

    wins: int
    draws: int
    losses: int
    """Games of the first bot that repeat no earlier one."""
    pairs: tuple[int, ...]
    """Complete pairs of such games by its half points, from none to four."""
    openings: int
    """Of these; mirror images count as others where they end otherwise."""
    units: float
    """How many pairs on openings of their own those are worth."""
    llr: float
    lower: float
    upper: float
    decision: SprtDecision
    estimate: Estimate | None
    """``None`` while all results are the same, and in a live format once it has decided."""
    repeats: int = 0
    """Games that are left out of all these, since they repeat an earlier one."""

    @property
    def played(self) -> int:
        return self.wins + self.draws + self.losses + self.repeats


@dataclass(frozen=True, slots=True)
class SprtSettings:
    """What is tested of a match's first bot against its second, and how."""

    test: Sprt
    unit: Unit = Unit.PAIRS
    most_games: int = DEFAULT_MOST_GAMES
    """Even. After these the match ends undecided."""

    @classmethod
    def parse(cls, given: Options | None) -> Self:
        """The settings that options say; those that are 0 or left out have their defaults.

        Raises:
            InvalidRequestError: a number is out of its range.
        """
        options = given or {}
        most_games = int(options.get("most_games") or DEFAULT_MOST_GAMES)
        if most_games % 2:
            raise InvalidRequestError(f"sprt.most_games {most_games} is odd; games come in pairs")
        if most_games > MAX_GAMES:
            raise InvalidRequestError(f"sprt.most_games {most_games} is above {MAX_GAMES}")
        with invalid_request("sprt"):
            test = Sprt(
                float(options.get("elo0", 0.0)),
                float(options.get("elo1", 0.0)),
                alpha=float(options.get("alpha") or DEFAULT_RISK),
                beta=float(options.get("beta") or DEFAULT_RISK),
                scale=Scale(options.get("scale", Scale.NORMALISED)),
            )
        return cls(test, Unit(options.get("unit", Unit.PAIRS)), most_games)

    def to_options(self) -> Options:
        return {
            **asdict(self.test),
            "scale": self.test.scale.value,
            "unit": self.unit.value,
            "most_games": self.most_games,
        }

    def used(self, evidence: Evidence) -> tuple[float, ...]:
        """What the test counts of the results, from the worst to the best."""
        return evidence.pairs if self.unit is Unit.PAIRS else evidence.games

    def standing(
        self, found: Tallied, llr: float, decision: SprtDecision, *, is_live: bool = False
    ) -> SprtStanding:
        """What results say.

        Args:
            is_live: It is asked for on the event loop. The estimate of a decided test takes up to
                0.16 s, too long for that; whoever reads the stored test is told it.
        """
        evidence, used = found.evidence, self.used(found.evidence)
        losses, draws, wins = found.counts.games
        is_decided = decision in {SprtDecision.ELO0, SprtDecision.ELO1}
        estimate = None
        if not (is_decided and is_live):
            estimate = estimate_of_match(evidence.games, evidence.pairs)
        if is_decided and estimate and sum(map(bool, used)) > 1:
            estimate = estimate_of(self.test, used)
        return SprtStanding(
            wins=wins,
            draws=draws,
            losses=losses,
            pairs=found.counts.pairs,
            openings=evidence.openings,
            units=evidence.units,
            llr=llr,
            lower=self.test.lower,
            upper=self.test.upper,
            decision=decision,
            estimate=estimate,
            repeats=found.counts.repeats,
        )

    def verdict(self, standing: SprtStanding, first: str) -> str:
        """Why a match with this standing is over, in words; empty while it is not."""
        played = standing.played
        if standing.decision is SprtDecision.NOTHING_NEW:
            said = units_text(sum(standing.pairs), standing.openings, standing.units)
            if standing.repeats:
                said += f", {standing.repeats} of {played} games repeat others"
            return (
                f"undecided: the last {STALE_PAIRS} pairs of games said nothing new ({said}); "
                "more openings may decide it"
            )
        if standing.decision is SprtDecision.OPEN:
            is_used_up = played >= self.most_games
            return (
                f"undecided after {played} games, the most there were to be" if is_used_up else ""
            )
        is_better = standing.decision is SprtDecision.ELO1
        accepted, bound = ("H1", standing.upper) if is_better else ("H0", standing.lower)
        rejected = self.test.elo0 if is_better else self.test.elo1
        claim = _claim(rejected, SCALE_WORDS[self.test.scale], is_above=is_better)
        ratio = f"LLR {standing.llr:.2f} of {bound:.2f}"
        return f"{accepted} accepted: {first} is {claim} ({ratio})"


def _claim(elo: float, unit: str, *, is_above: bool) -> str:
    """What a bot is whose advantage is above this one, or below."""
    if not elo:
        return "better" if is_above else "not better"
    degree = "more than" if is_above == (elo > 0) else "not"
    return f"{degree} {abs(elo):g} {unit} {'better' if elo > 0 else 'weaker'}"
