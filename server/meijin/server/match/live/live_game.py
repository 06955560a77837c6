"""A game that is being played, and what it is played for."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from meijin.game import (
    Adjudicator,
    Choose,
    Color,
    Decision,
    Ending,
    Outcome,
    Party,
    Seat,
    TimeControl,
    encode_moves,
)
from meijin.game.arbiter.arbiter import Arbiter
from meijin.game.arbiter.moment import Moment
from meijin.server.match.live.commands import Analysis
from meijin.server.match.live.segments import Segment
from meijin.server.match.live.witnesses import Witnesses
from meijin.store.access.people import is_person_name
from meijin.store.games import encode_decisions, encode_times
from meijin.store.journal import GameEnd
from meijin.store.ladders.games import fingerprint, opening_key
from meijin.store.schema import (
    BotId,
    BotVersionId,
    Game,
    GameId,
    LadderId,
    TournamentId,
)
from meijin.store.tournaments import PendingPairing, TournamentRow
from meijin.store.tournaments.duplicates import symmetric_fingerprint

SUPPLIER_FAILURES = 5
"""How many games of a bot may be void through its supplier in `SUPPLIER_PERIOD`."""

SUPPLIER_PERIOD = timedelta(hours=24)


class SupplierBudget:
    """A bot's budget of games that are void since what it depends on failed.

    Beyond it such a failure is the bot's own, or nobody could ever beat a bot that says so
    whenever it is about to lose.

    Args:
        times: When its supplier failed before, oldest first.
    """

    __slots__ = ("_times",)

    def __init__(self, times: Iterable[datetime] = ()) -> None:
        # A list: an empty deque takes 0.8 KB, of each bot that is connected.
        self._times = [*times][-SUPPLIER_FAILURES:]

    def take(self, now: datetime) -> bool:
        """Whether one more failure is within the budget; it is counted then."""
        times = self._times
        if len(times) == SUPPLIER_FAILURES and now - times[0] < SUPPLIER_PERIOD:
            return False
        times.append(now)
        del times[:-SUPPLIER_FAILURES]
        return True


@dataclass(slots=True, eq=False)
class Contest:
    """What games are played for: a tournament."""

    row: TournamentRow
    """As it was when it was taken up."""
    games: "dict[int, LiveGame]" = field(default_factory=dict)
    """Its running games by their numbers; the match keeps them."""

    @property
    def id(self) -> TournamentId:
        return self.row.id


@dataclass(slots=True, eq=False)
class Participant:
    """A bot, or a person, as its opponents know it."""

    bot_id: BotId
    name: str
    supplier_failures: SupplierBudget = field(default_factory=SupplierBudget)

    @property
    def is_person(self) -> bool:
        return is_person_name(self.name)


class Outbox(Protocol):
    """A player's open stream, as far as a game knows it."""

    lag_ns: int
    heard: Moment
    silent_since_ns: int | None
    """Since when it is silent together with others, so that no clock of the bot's runs."""

    def add_turn(self, game: "LiveGame") -> None: ...

    def add_start(self, game: "LiveGame") -> None: ...

    def add_choice(self, game: "LiveGame") -> None: ...

    def add_end(self, game: "LiveGame") -> None: ...

    def excuse_action(self, game: "LiveGame") -> None: ...

    def probe(self, game: "LiveGame") -> None: ...

    def lag_evidence(self, moment: Moment) -> dict[str, object]: ...

    def last_words(self, number: int, now_ns: int) -> dict[str, object]: ...


@dataclass(slots=True, eq=False)
class LiveGame:
    """A game, its arbiter and its players."""

    number: int
    """Names the game on the wire, for as long as this server runs."""
    id: GameId
    run: Contest
    pairing: PendingPairing
    arbiter: Arbiter
    first: Participant
    """Has the first seat."""
    second: Participant
    first_version: BotVersionId
    second_version: BotVersionId
    start_time: datetime
    opening_plies: int
    analysis: dict[str, Any] | None = None
    """By ply, what the bots said they thought; ``None`` while they say nothing."""
    held_analysis: Analysis | None = None
    """What the bot said of a move that waits for its verdict."""
    outboxes: list[Outbox | None] = field(default_factory=lambda: [None] * 3)
    """By the value of a seat: the stream of its player, unless it is away."""
    last_outboxes: Sequence[Outbox | None] = (None, None, None)
    """By the value of a seat: the last stream that its player has lost."""
    is_announced: bool = False
    """Its start is committed, so its players may hear of it."""
    is_uncommitted: bool = False
    """Its last action is not committed yet, so nobody may hear of it."""
    uncommitted_stones: int = 1
    """How many stones that action has placed: 0 for a decision."""
    end_time: datetime | None = None
    """``None`` while it runs."""
    adjudicator: Adjudicator | None = None
    """Follows what its bots say of their moves; ``None`` where it is played to its end."""
    symmetric_fingerprint: int | None = None
    """What its mirror images share, once it has ended."""
    segment: Segment | None = None
    """No older segment of the journal is kept for it; ``None`` once it has ended."""
    bucket: int = 0
    """Where it waits for its deadlines to be looked at."""
    concerned: BotVersionId | None = None
    """Of the bot that a void game's fault concerns; ``None`` when it was no bot."""
    witnesses: Witnesses | None = None
    """Of a game of an earlier server: what its players know of it, until both are back. While it
    is disputed nobody is asked."""

    def time_control(self, seat: Seat) -> TimeControl:
        return self.pairing.time_control or self.run.row.control_of(self.player(seat).bot_id)

    def own_control(self, player: Participant) -> TimeControl:
        return self.time_control(self.seat(player))

    @property
    def ladder_id(self) -> LadderId | None:
        """The ladder that it counts for: that of its time control's class; ``None`` if not rated."""
        return self.pairing.ladder_id or self.run.row.ladder_id

    @property
    def committed_moves(self) -> "array[int]":
        moves = self.arbiter.board.moves
        return moves[: len(moves) - self.uncommitted_stones] if self.is_uncommitted else moves

    @property
    def committed_decisions(self) -> Sequence[Decision]:
        """The decisions of its opening that are committed."""
        decisions = self.arbiter.position.decisions
        is_committed = not self.is_uncommitted or self.uncommitted_stones
        return decisions if is_committed else decisions[:-1]

    def color(self, seat: Seat) -> Color:
        """The colour that a seat has, as far as anybody may know."""
        position, known = self.arbiter.position, len(self.committed_decisions)
        hidden = position.decisions[known:]
        is_hidden = bool(hidden) and isinstance(hidden[0].action, Choose)
        black = position.black_before if is_hidden else position.black
        return Color.BLACK if seat is black else Color.WHITE

    def seat(self, player: Participant) -> Seat:
        return Seat.FIRST if player is self.first else Seat.SECOND

    def player(self, seat: Seat) -> Participant:
        return self.first if seat is Seat.FIRST else self.second

    def version(self, seat: Seat) -> BotVersionId:
        """The bot version that has a seat, from the first move to the last."""
        return self.first_version if seat is Seat.FIRST else self.second_version

    @property
    def is_swapped(self) -> bool:
        """Whether the first player has white, as far as anybody may know."""
        return self.color(Seat.FIRST) is Color.WHITE

    @property
    def black(self) -> Participant:
        return self.second if self.is_swapped else self.first

    @property
    def white(self) -> Participant:
        return self.first if self.is_swapped else self.second

    @property
    def versions(self) -> tuple[BotVersionId, BotVersionId]:
        seat_of = self.arbiter.position.seat_of
        return self.version(seat_of(Color.BLACK)), self.version(seat_of(Color.WHITE))

    @property
    def final_outcome(self) -> Outcome:
        """How it has ended."""
        assert self.arbiter.outcome is not None
        return self.arbiter.outcome

    @property
    def culprit(self) -> Seat | None:
        """The seat that is at fault for its end, if one is."""
        color = self.final_outcome.at_fault.color
        return None if color is None else self.arbiter.position.seat_of(color)

    def connect(self, player: Participant, outbox: Outbox, moment: Moment) -> None:
        """One of its players has a stream again, and hears where the game stands."""
        seat = self.seat(player)
        self.outboxes[seat] = outbox
        self.arbiter.come_back(seat, moment)
        if self.is_announced:
            outbox.add_start(self)
            if seat is self.arbiter.seat_to_act and not self.is_uncommitted:
                if self.witnesses is not None and self.witnesses.is_disputed:
                    self.witnesses.withholds_turn = True
                else:
                    outbox.add_turn(self)

    def settle(self) -> None:
        """Both players are back, and have told what they know: go on, unless it has ended."""
        witnesses, self.witnesses = self.witnesses, None
        assert witnesses is not None
        if witnesses.withholds_turn and self.arbiter.outcome is None:
            self.announce_turn()

    def disconnect(self, player: Participant, outbox: Outbox, moment: Moment) -> None:
        seat = self.seat(player)
        if self.outboxes[seat] is outbox:
            self.outboxes[seat] = None
            last = list(self.last_outboxes)
            last[seat] = outbox
            self.last_outboxes = last
            self.arbiter.leave(seat, moment, heard=outbox.heard)

    def end_silence(
        self, player: Participant, outbox: Outbox, heard: Moment, moment: Moment
    ) -> bool:
        """One of its players is heard again, as in `Arbiter.credit_silence`."""
        seat = self.seat(player)
        is_here = self.outboxes[seat] is outbox
        return is_here and self.arbiter.credit_silence(seat, heard, moment)

    def void_for(self, version_id: BotVersionId, party: Party, detail: str) -> None:
        """Stop it through what concerns one of its bots and is not its fault."""
        self.concerned = version_id
        self.arbiter.void(party, detail)

    def adjudicate(self, seat: Seat, ply: int, analysis: Mapping[str, object] | None) -> bool:
        """A stone was placed, and the bot may have said its score; whether that ends the game."""
        assert self.adjudicator is not None
        score = None if analysis is None else analysis.get("score")
        told = score if isinstance(score, int) else None
        outcome = self.adjudicator.note(seat, ply, told, self.arbiter.position)
        if outcome is not None:
            self.arbiter.adjudicate(outcome)
        return outcome is not None

    def excuse_actions(self) -> None:
        """It was stopped, so that an action of either player comes too late through no fault."""
        for outbox in filter(None, self.outboxes):
            outbox.excuse_action(self)

    def announce_start(self) -> None:
        """Tell its players that it starts, unless it has ended meanwhile."""
        if self.arbiter.outcome is not None:
            return
        self.is_announced = True
        for outbox in filter(None, self.outboxes):
            outbox.add_start(self)
        self.announce_turn()

    def announce_turn(self) -> None:
        """Ask the side to move, unless it is away."""
        outbox = self.outboxes[self.arbiter.seat_to_act]
        if outbox is not None:
            outbox.add_turn(self)

    def announce_choice(self) -> None:
        """Tell its players which sides they have from now on."""
        if self.is_announced:
            for outbox in filter(None, self.outboxes):
                outbox.add_choice(self)

    def announce_end(self) -> None:
        """Tell its players that it has ended, if they heard of its start."""
        if self.is_announced:
            for outbox in filter(None, self.outboxes):
                outbox.add_end(self)

    def add_evidence(self, moment: Moment) -> None:
        """Keep what is known of the stream of a bot that has forfeited the game."""
        outcome, culprit = self.final_outcome, self.culprit
        if culprit is None:
            return
        outbox = self.outboxes[culprit] or self.last_outboxes[culprit]
        if outbox is None:
            return
        told = outbox.last_words(self.number, moment.now_ns)
        if outcome.ending is Ending.TIME and outbox is self.outboxes[culprit]:
            told |= outbox.lag_evidence(moment)
        self.arbiter.add_evidence(**told)

    def take_fingerprint(self) -> None:
        """Note what repeats of the game are known by; it has ended."""
        arbiter = self.arbiter
        self.symmetric_fingerprint = symmetric_fingerprint(
            self.versions,
            arbiter.board.moves,
            self.final_outcome,
            opening_plies=self.opening_plies,
            variant=arbiter.board.variant,
        )

    def to_start(self) -> Game:
        opening = self.pairing.opening
        return Game(
            id=self.id,
            pairing_id=self.pairing.id,
            tournament_id=self.run.id,
            ladder_id=self.ladder_id,
            black_id=self.first_version,
            white_id=self.second_version,
            opening_plies=self.opening_plies,
            opening=opening_key(opening),
            moves=opening,
            start_time=self.start_time,
        )

    def to_end(self, sequence: int) -> GameEnd:
        arbiter, outcome = self.arbiter, self.final_outcome
        assert self.end_time is not None
        culprit = self.culprit
        moves = encode_moves(arbiter.board.moves)
        return GameEnd(
            id=self.id,
            tournament_id=self.run.id,
            end_sequence=sequence,
            end_time=self.end_time,
            moves=moves,
            times=encode_times(arbiter.raw_ns, arbiter.charged_ns),
            analysis=self.analysis,
            result=outcome.result,
            ending=outcome.ending,
            at_fault=outcome.at_fault,
            detail=outcome.detail,
            fault_version_id=self.concerned if culprit is None else self.version(culprit),
            evidence=dict(arbiter.evidence),
            decisions=encode_decisions(arbiter.position.decisions, arbiter.decision_ns),
            is_swapped=arbiter.position.is_swapped,
            bots=(self.first.bot_id, self.second.bot_id),
            fingerprint=fingerprint(*self.versions, self.opening_plies, moves),
            symmetric_fingerprint=self.symmetric_fingerprint,
        )
