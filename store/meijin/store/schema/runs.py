"""Rating runs of ladders: their lines, their parameters and their diagnoses."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    ForeignKey,
    String,
    UniqueConstraint,
    false,
)

from meijin.store.schema.base import INT64, Field, Record, Recorded, column
from meijin.store.schema.ids import BotVersionId, LadderId, RatingRunId, TournamentId


@dataclass(frozen=True, slots=True)
class Score:
    """Games by their results."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def reversed(self) -> "Score":
        return Score(self.losses, self.draws, self.wins)

    def __add__(self, other: "Score") -> "Score":
        return Score(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)


@dataclass(frozen=True, slots=True)
class GoodnessFinding:
    """How well one strength a version explains the scores of all pairs."""

    p_value: float
    """The chance of so much scatter where the model holds."""
    is_rejected: bool
    chi_square: float
    """Pearson's, over the pairs with enough games."""
    deviance: float
    freedom: float
    """What both should be."""
    pairs: int
    """How many have enough games."""
    overdispersion: float
    """How much more the scores scatter than by luck alone; 1 where the model holds."""
    deviation: float
    """Of the differences of pairs from those of their ratings, over luck; Elo."""


@dataclass(frozen=True, slots=True)
class PairFinding:
    """Two whose results depart from their ratings."""

    one: BotVersionId
    other: BotVersionId
    games: int
    score: float
    """Of `one`: the share of the points."""
    expected: float
    deviations: float
    """The standardised residual."""
    p_value: float
    """For all pairs of the ladder together."""
    is_sure: bool


@dataclass(frozen=True, slots=True)
class TripleFinding:
    """A circular triad: `one` beat `other`, `other` beat `third`, `third` beat `one`."""

    one: BotVersionId
    other: BotVersionId
    third: BotVersionId
    excess: float
    """The sum of the three leads, in Elo: 0 where strengths alone decide."""
    deviations: float
    p_value: float
    """For all triples of the ladder together."""
    is_sure: bool


@dataclass(frozen=True, slots=True)
class DriftFinding:
    """A version whose strength has a trend."""

    version_id: BotVersionId
    elo_per_100_games: float
    deviations: float
    p_value: float
    """For all versions of the ladder together."""
    is_sure: bool


@dataclass(frozen=True, slots=True)
class ChangeFinding:
    """A version whose strength changed at once."""

    version_id: BotVersionId
    games: int
    """Its rated games since the change."""
    elo: float
    """The step: later less earlier."""
    deviations: float
    p_value: float
    """For all versions and all times of the ladder together."""
    is_sure: bool


@dataclass(frozen=True, slots=True)
class RunDiagnosis:
    """What speaks against the fit of a run; bounded, the surest first."""

    goodness: GoodnessFinding
    pairs: tuple[PairFinding, ...] = ()
    triples: tuple[TripleFinding, ...] = ()
    drifts: tuple[DriftFinding, ...] = ()
    changes: tuple[ChangeFinding, ...] = ()


@dataclass(frozen=True, slots=True)
class FitSummary:
    """A diagnosis in short."""

    p_value: float
    overdispersion: float
    deviation: float
    is_rejected: bool
    pairs: int
    """The sure ones; likewise below."""
    triples: int
    drifts: int
    changes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParameters:
    """What a run was computed with, and what it found beside the ratings.

    ``None`` and the defaults are those of runs of releases that did not know a parameter.
    """

    advantage: float = 0.0
    """What moving first is worth; Elo."""
    draws: float = 0.0
    """What a player has to be better by, in Elo, to win every second game."""
    draw_slope: float = 0.0
    draw_slope_is_sure: bool = False
    """Its own test is surer than chance; likewise below."""
    draw_level: float = 0.0
    """The mean rating of two who draw as `draws` says; Elo."""
    correlation: float | None = None
    """Of two results of the same players, colours and opening."""
    correlation_is_sure: bool = False
    pair_deviation: float | None = None
    """Of what a pairing adds to the difference of two strengths; Elo."""
    pair_deviation_is_sure: bool = False
    factor: float | None = None
    """How many times as wide intervals are as if every game were independent."""
    log_likelihood: float | None = None
    base: float | None = None
    """What the anchors' mean is shown as."""
    prior: float | None = None
    """The deviation of strengths; Elo."""
    prior_mean: float | None = None
    lineage: float | None = None
    """The deviation of a version from its parent; Elo."""
    openings: float | None = None
    """The deviation among openings of what moving first is worth; Elo."""
    opening_is_sure: bool = False
    established: int | None = None
    """Games after which a rating is no more provisional."""
    active_days: int | None = None
    anchors: tuple[BotVersionId, ...] = ()
    diagnosis: FitSummary | None = None


class RatingRun(Record, table="rating_run"):
    """One run of a ladder's job."""

    id: Field[RatingRunId] = column(primary_key=True, default=0)
    ladder_id: Field[LadderId] = column(ForeignKey("ladder.id"))
    revision: Field[int] = column(INT64)
    """The ladder's revision whose games it was computed from."""
    voided: Field[int] = column(INT64)
    """How many finished games of the ladder had been voided."""
    cutoff: Field[int] = column(INT64)
    """The `end_sequence` of the last game that went into it; 0 for none."""
    games: Field[int] = column(INT64)
    repeats: Field[int] = column(INT64)
    """Finished games up to there that are not rated, since they repeat others."""
    checksum: Field[str] = column(String(64))
    """SHA-256 of its input, hexadecimal."""
    algorithm: Field[str] = column(String(60))
    parameters: Field[RunParameters] = column(Recorded(RunParameters))
    create_time: Field[datetime]
    diagnosis: Field[RunDiagnosis | None] = column(Recorded(RunDiagnosis), default=None)
    """What speaks against its fit; ``None`` for a run of a release that did not look."""
    final_of: Field[TournamentId | None] = column(default=None)
    """The tournament that settled the ladder, where it is the first to have all of its games."""


UniqueConstraint(RatingRun.ladder_id, RatingRun.revision, RatingRun.algorithm)


class RatingLine(Record, table="rating"):
    """What a run says of one version."""

    run_id: Field[RatingRunId] = column(
        ForeignKey("rating_run.id"), primary_key=True, default=RatingRunId(0)
    )
    """0 before it is published."""
    version_id: Field[BotVersionId] = column(ForeignKey("bot_version.id"), primary_key=True)
    rank: Field[int]
    """From 1 on."""
    elo: Field[float]
    margin: Field[float]
    """Half of the 95 % interval, relative to the anchors; Elo."""
    superiority: Field[float | None]
    """The chance to be stronger than the next in rank; ``None`` for the last."""
    classic_elo: Field[float]
    opponents_elo: Field[float]
    """The mean over its games."""
    wins_as_black: Field[int]
    draws_as_black: Field[int]
    losses_as_black: Field[int]
    wins_as_white: Field[int]
    draws_as_white: Field[int]
    losses_as_white: Field[int]
    faults: Field[int]
    is_anchor: Field[bool]
    is_provisional: Field[bool]
    """It has few games, or has won or lost them all: the prior says much of its rating."""
    is_linked: Field[bool]
    """Games lead from it to the anchors, from opponent to opponent."""
    depends_on_opponents: Field[bool] = column(default=False, server_default=false())
    """Its results depend on whom it meets, surer than chance: its interval is one over all of them."""
    changes_over_time: Field[bool] = column(default=False, server_default=false())
    """Its strength has a trend or changed at once, surer than chance: its interval allows for that."""
    form: Field[float | None] = column(default=None)
    """Its performance over its last games, on the scale of `elo`; ``None`` with few of them."""
    form_margin: Field[float | None] = column(default=None)
    """Half of the 95 % interval of `form`; Elo."""
    form_games: Field[int | None] = column(default=None)
    """How many games `form` is over."""
    bound: Field[float | None] = column(default=None)
    """The one-sided 95 % bound of who has won, or lost, every game; ``None`` for others."""
    changed_games: Field[int | None] = column(default=None)
    """Its rated games since its strength changed at once; ``None`` if it did not."""

    @property
    def as_black(self) -> Score:
        return Score(self.wins_as_black, self.draws_as_black, self.losses_as_black)

    @property
    def as_white(self) -> Score:
        return Score(self.wins_as_white, self.draws_as_white, self.losses_as_white)
