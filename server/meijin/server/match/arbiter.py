"""The judge of one game: a state machine that opens no socket and reads no clock."""

import enum
from array import array

from meijin.game import Board, Clock, Color, Ending, IllegalMoveError, Outcome, Party, Result
from meijin.server.match.stalls import Moment

SECOND = 1_000_000_000
"""In nanoseconds, the unit of every time in this module."""

LAG_PER_MOVE = SECOND // 2
"""The most that the network's lag takes off one move's time."""

LAG_PER_GAME = 30 * SECOND
"""The most that it takes off in one game."""


SIDES = (Color.BLACK, Color.WHITE)
"""The side to move at an even and at an odd ply."""


class Verdict(enum.Enum):
    """What became of an action."""

    ACCEPTED = enum.auto()
    """It had its effect; the game may be over."""
    STALE_PLY = enum.auto()
    """It answers no pending turn."""
    NOT_YOUR_TURN = enum.auto()
    """It is the opponent's turn."""


ACCEPTED = Verdict.ACCEPTED
"""For the hot path: CPython 3.11 takes 0.1 microseconds to find a member in its class."""


class Arbiter:
    """One game from its opening to its outcome.

    A side's time runs from `ask`, when its turn is handed to the transport, to
    `play`, when the answer has been read, less the server's stalls and a credit
    for lag. While a bot is away its clock stands and its grace runs instead:
    `grace` nanoseconds for each side in the whole game.

    Times are integer nanoseconds: this runs once a move, a hundred thousand
    times a second.
    """

    __slots__ = (
        "_asked_at",
        "_away_since",
        "_cells",
        "_excused",
        "_grace",
        "_lag_left",
        "_stall_at_ask",
        "_used",
        "board",
        "charged",
        "clock",
        "evidence",
        "outcome",
        "raw",
    )

    def __init__(self, board: Board, clock: Clock, *, grace: int) -> None:
        self.board = board
        self.clock = clock
        self.outcome: Outcome | None = None
        self.evidence: dict[str, object] = {}
        """What supports a forfeit or a void game; empty for endings on the board."""
        self.raw = array("Q")
        """Nanoseconds from request to answer of every move after the opening."""
        self.charged = array("Q")
        """Nanoseconds that the clock was charged for them."""
        self._cells = board.variant.cells
        self._asked_at = -1
        self._stall_at_ask = 0
        self._used = 0
        self._lag_left = [0, LAG_PER_GAME, LAG_PER_GAME]
        self._grace = [0, grace, grace]
        self._away_since: list[int | None] = [None, None, None]
        self._excused = [False, False, False]

    # -- the turn ---------------------------------------------------------------

    def ask(self, moment: Moment) -> int:
        """The side to move's turn is handed to the transport: its time runs.

        Returns:
            The nanoseconds left on its clock, less what this move has used before an absence.
        """
        self._asked_at, self._stall_at_ask = moment
        left = self.clock.left(SIDES[len(self.board.moves) & 1])
        return max(left - self._used, 0) if self._used else left

    def play(self, color: Color, ply: int, cell: int, moment: Moment, lag: int) -> Verdict:
        """Judge a move. `lag` is the round trip that the network took, in nanoseconds."""
        board = self.board
        if ply != len(board.moves) or self._asked_at < 0 or self.outcome is not None:
            return Verdict.STALE_PLY
        if color is not SIDES[ply & 1]:
            return Verdict.NOT_YOUR_TURN
        now, stall = moment
        raw = self._used + now - self._asked_at
        charged = raw - (stall - self._stall_at_ask)
        if charged <= 0:
            charged = 0
        elif lag:
            charged -= self._take_credit(color, lag, charged)
        if not self.clock.charge(color, charged):
            self._forfeit_time(color, raw, charged)
            return ACCEPTED
        try:
            board.play(cell)
        except IllegalMoveError as error:
            self._forfeit(color, Ending.ILLEGAL, str(error))
            self.evidence = {"cell": cell, "ply": ply, "moves": list(board.moves)}
            return ACCEPTED
        self.raw.append(raw)
        self.charged.append(charged)
        self._asked_at = -1
        self._used = 0
        if board.winner is not None:
            self.outcome = Outcome(Result.won_by(color), Ending.FIVE)
        elif ply + 1 == self._cells:
            self.outcome = Outcome(Result.DRAW, Ending.DRAW)
        return ACCEPTED

    def replay(self, cell: int, raw: int, charged: int) -> None:
        """Take a move from the store: it was judged before.

        Raises:
            IllegalMoveError: the move does not fit the position.
        """
        color = self.board.side_to_move
        self.board.play(cell)
        self.clock.charge(color, charged)
        self.raw.append(raw)
        self.charged.append(charged)

    def _take_credit(self, color: Color, lag: int, charged: int) -> int:
        """What the network's lag takes off a move, out of what is left of it for the game."""
        left = self._lag_left[color]
        credit = min(lag, LAG_PER_MOVE, left, charged)
        self._lag_left[color] = left - credit
        return credit

    # -- other actions ----------------------------------------------------------

    def resign(self, color: Color) -> Verdict:
        """`color` gives up."""
        if self.outcome is not None:
            return Verdict.STALE_PLY
        self.outcome = Outcome(Result.won_by(color.other), Ending.RESIGN)
        return Verdict.ACCEPTED

    def fail(self, color: Color, message: str) -> Verdict:
        """`color` reports that it can't go on."""
        if self.outcome is not None:
            return Verdict.STALE_PLY
        self._forfeit(color, Ending.CRASH, message)
        self.evidence = {"message": message, "ply": self.board.ply}
        return Verdict.ACCEPTED

    def void(self, party: Party, detail: str) -> None:
        """Stop the game: it counts for nothing. Does nothing once it has ended."""
        if self.outcome is None:
            self.outcome = Outcome(Result.NONE, Ending.VOID, party, detail)
            self.evidence = {"ply": self.board.ply, "detail": detail}

    # -- presence ---------------------------------------------------------------

    def is_away(self, color: Color) -> bool:
        """Whether `color` has no stream."""
        return self._away_since[color] is not None

    def leave(self, color: Color, moment: Moment, *, excused: bool = False) -> None:
        """`color` lost its stream; excused when the server itself was gone."""
        if self.is_away(color):
            return
        self._away_since[color] = moment.now
        self._excused[color] = excused
        if self._asked_at >= 0 and color is self.board.side_to_move:
            stalled = moment.stall - self._stall_at_ask
            self._used += max(moment.now - self._asked_at - stalled, 0)
            self._asked_at = -1

    def come_back(self, color: Color, moment: Moment) -> None:
        """`color` has a stream again; its turn, if any, must be asked anew."""
        since = self._away_since[color]
        if since is not None and not self._excused[color]:
            self._grace[color] -= moment.now - since
        self._away_since[color] = None
        self._excused[color] = False

    def excuse(self, moment: Moment) -> None:
        """Whoever is away can't return, through the server's fault: grace begins anew."""
        for color in Color:
            if self.is_away(color):
                self._away_since[color] = moment.now
                self._excused[color] = True

    # -- the passing of time ----------------------------------------------------

    def expire(self, moment: Moment, lag: int) -> None:
        """End the game when a clock or a grace has run out. `lag` as in `play`."""
        if self.outcome is not None:
            return
        for color in Color:
            since = self._away_since[color]
            if since is not None and moment.now - since > self._grace[color]:
                self._expire_grace(color, moment.now - since)
                return
        if self._asked_at < 0:
            return
        color = self.board.side_to_move
        raw = self._used + moment.now - self._asked_at
        credit = min(lag, LAG_PER_MOVE, self._lag_left[color])
        charged = raw - (moment.stall - self._stall_at_ask) - credit
        if charged > self.clock.budget(color):
            self._forfeit_time(color, raw, charged)

    def _expire_grace(self, color: Color, away: int) -> None:
        if self._excused[color]:
            self.void(Party.SERVER, f"{color.name.lower()} did not return after a restart")
        elif self.is_away(color.other):
            self.void(Party.NETWORK, "both bots were away")
        else:
            self._forfeit(color, Ending.DISCONNECT, f"away for {away / SECOND:.1f} s")
        self.evidence |= {"away_us": away // 1000, "ply": self.board.ply}

    def _forfeit_time(self, color: Color, raw: int, charged: int) -> None:
        budget = self.clock.budget(color)
        self.clock.drop_flag(color)
        detail = f"{charged / SECOND:.3f} s for a move that had {budget / SECOND:.3f} s"
        self._forfeit(color, Ending.TIME, detail)
        self.evidence = {
            "ply": self.board.ply,
            "raw_us": raw // 1000,
            "charged_us": charged // 1000,
            "budget_us": budget // 1000,
        }

    def _forfeit(self, color: Color, ending: Ending, detail: str) -> None:
        self.outcome = Outcome(Result.won_by(color.other), ending, Party.of(color), detail)
