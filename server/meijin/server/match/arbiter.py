"""The judge of one game: a state machine that opens no socket and reads no clock."""

import enum
from array import array

from meijin.game import Board, Clock, Color, Ending, IllegalMoveError, Outcome, Party, Result
from meijin.server.match.stalls import Moment

NS_PER_SECOND = 1_000_000_000

LAG_PER_MOVE_NS = NS_PER_SECOND // 2
"""The most that the network's lag takes off one move's time."""

LAG_PER_GAME_NS = 30 * NS_PER_SECOND
"""The most that it takes off in one game."""


SIDES = (Color.BLACK, Color.WHITE)
"""The side to move at an even and at an odd ply."""


class ActionResult(enum.Enum):
    """What became of an action."""

    ACCEPTED = enum.auto()
    """It had its effect; the game may be over."""
    STALE_PLY = enum.auto()
    """It answers no pending turn."""
    NOT_YOUR_TURN = enum.auto()
    """It is the opponent's turn."""


ACCEPTED = ActionResult.ACCEPTED
"""For the hot path: CPython 3.11 takes 0.1 microseconds to find a member in its class."""


class Arbiter:
    """One game from its opening to its outcome.

    A side's time runs from `ask`, when its turn is handed to the transport, to
    `play`, when the answer has been read, less the server's stalls and a credit
    for lag. While a bot is away its clock stands and its grace runs instead:
    `grace_ns` for each side in the whole game, less the server's stalls.

    Times are integer nanoseconds, not `timedelta`: this runs once a move, a hundred
    thousand times a second.
    """

    __slots__ = (
        "_asked_at_ns",
        "_away_since_ns",
        "_cells",
        "_excused",
        "_grace_ns",
        "_lag_left_ns",
        "_stall_at_ask_ns",
        "_used_ns",
        "board",
        "charged_ns",
        "clock",
        "evidence",
        "outcome",
        "raw_ns",
    )

    def __init__(self, board: Board, clock: Clock, *, grace_ns: int) -> None:
        self.board = board
        self.clock = clock
        self.outcome: Outcome | None = None
        self.evidence: dict[str, object] = {}
        """What supports a forfeit or a void game; empty for endings on the board."""
        self.raw_ns = array("Q")
        """Nanoseconds from request to answer of every move after the opening."""
        self.charged_ns = array("Q")
        """Nanoseconds that the clock was charged for them."""
        self._cells = board.variant.cells
        self._asked_at_ns = -1
        self._stall_at_ask_ns = 0
        self._used_ns = 0
        self._lag_left_ns = [0, LAG_PER_GAME_NS, LAG_PER_GAME_NS]
        self._grace_ns = [0, grace_ns, grace_ns]
        self._away_since_ns: list[int | None] = [None, None, None]
        self._excused = [False, False, False]

    # -- the turn ---------------------------------------------------------------

    def ask(self, moment: Moment) -> int:
        """The side to move's turn is handed to the transport: its time runs.

        Returns:
            The nanoseconds left on its clock, less what this move has used before an absence.
        """
        self._asked_at_ns, self._stall_at_ask_ns = moment
        left = self.clock.left_ns(SIDES[len(self.board.moves) & 1])
        return max(left - self._used_ns, 0) if self._used_ns else left

    def play(self, color: Color, ply: int, cell: int, moment: Moment, lag_ns: int) -> ActionResult:
        """Judge a move. `lag_ns` is the round trip that the network took."""
        board = self.board
        if ply != len(board.moves) or self._asked_at_ns < 0 or self.outcome is not None:
            return ActionResult.STALE_PLY
        if color is not SIDES[ply & 1]:
            return ActionResult.NOT_YOUR_TURN
        now_ns, stall_ns = moment
        raw_ns = self._used_ns + now_ns - self._asked_at_ns
        charged_ns = raw_ns - (stall_ns - self._stall_at_ask_ns)
        if charged_ns <= 0:
            charged_ns = 0
        elif lag_ns:
            charged_ns -= self._take_credit(color, lag_ns, charged_ns)
        if not self.clock.charge(color, charged_ns):
            self._forfeit_time(color, raw_ns, charged_ns)
            return ACCEPTED
        try:
            board.play(cell)
        except IllegalMoveError as error:
            self._forfeit(color, Ending.ILLEGAL, str(error))
            self.evidence = {"cell": cell, "ply": ply, "moves": list(board.moves)}
            return ACCEPTED
        self.raw_ns.append(raw_ns)
        self.charged_ns.append(charged_ns)
        self._asked_at_ns = -1
        self._used_ns = 0
        if board.winner is not None:
            self.outcome = Outcome(Result.won_by(color), Ending.FIVE)
        elif ply + 1 == self._cells:
            self.outcome = Outcome(Result.DRAW, Ending.DRAW)
        return ACCEPTED

    def replay(self, cell: int, raw_ns: int, charged_ns: int) -> None:
        """Take a move from the store: it was judged before.

        Raises:
            IllegalMoveError: the move does not fit the position.
        """
        color = self.board.side_to_move
        self.board.play(cell)
        self.clock.charge(color, charged_ns)
        self.raw_ns.append(raw_ns)
        self.charged_ns.append(charged_ns)

    def _take_credit(self, color: Color, lag_ns: int, charged_ns: int) -> int:
        """What the network's lag takes off a move, out of what is left of it for the game."""
        left_ns = self._lag_left_ns[color]
        credit_ns = min(lag_ns, LAG_PER_MOVE_NS, left_ns, charged_ns)
        self._lag_left_ns[color] = left_ns - credit_ns
        return credit_ns

    # -- other actions ----------------------------------------------------------

    def resign(self, color: Color) -> ActionResult:
        """`color` gives up."""
        if self.outcome is not None:
            return ActionResult.STALE_PLY
        self.outcome = Outcome(Result.won_by(color.other), Ending.RESIGN)
        return ActionResult.ACCEPTED

    def fail(self, color: Color, message: str) -> ActionResult:
        """`color` reports that it can't go on."""
        if self.outcome is not None:
            return ActionResult.STALE_PLY
        self._forfeit(color, Ending.CRASH, message)
        self.evidence = {"message": message, "ply": self.board.ply}
        return ActionResult.ACCEPTED

    def void(self, party: Party, detail: str) -> None:
        """Stop the game: it counts for nothing. Does nothing once it has ended."""
        if self.outcome is None:
            self.outcome = Outcome(Result.NONE, Ending.VOID, party, detail)
            self.evidence = {"ply": self.board.ply, "detail": detail}

    # -- presence ---------------------------------------------------------------

    def is_away(self, color: Color) -> bool:
        """Whether `color` has no stream."""
        return self._away_since_ns[color] is not None

    def leave(self, color: Color, moment: Moment, *, excused: bool = False) -> None:
        """`color` lost its stream; excused when the server itself was gone."""
        if self.is_away(color):
            return
        self._away_since_ns[color] = moment.running_ns
        self._excused[color] = excused
        if self._asked_at_ns >= 0 and color is self.board.side_to_move:
            stalled_ns = moment.stall_ns - self._stall_at_ask_ns
            self._used_ns += max(moment.now_ns - self._asked_at_ns - stalled_ns, 0)
            self._asked_at_ns = -1

    def come_back(self, color: Color, moment: Moment) -> None:
        """`color` has had a stream again since `moment`; its turn, if any, must be asked anew."""
        since = self._away_since_ns[color]
        if since is not None and not self._excused[color]:
            self._grace_ns[color] -= max(moment.running_ns - since, 0)
        self._away_since_ns[color] = None
        self._excused[color] = False

    def excuse(self, moment: Moment) -> None:
        """Whoever is away can't return, through the server's fault: grace begins anew."""
        for color in Color:
            if self.is_away(color):
                self._away_since_ns[color] = moment.running_ns
                self._excused[color] = True

    # -- the passing of time ----------------------------------------------------

    def expire_grace(self, running_ns: int) -> None:
        """End the game when a grace has run out by an instant of the server's running time."""
        if self.outcome is not None:
            return
        for color in Color:
            since = self._away_since_ns[color]
            if since is not None and running_ns - since > self._grace_ns[color]:
                self._end_absence(color, running_ns - since)
                return

    def expire(self, moment: Moment, lag_ns: int) -> None:
        """Flag fall: end the game when a clock has run out. `lag_ns` as in `play`."""
        if self.outcome is not None or self._asked_at_ns < 0:
            return
        color = self.board.side_to_move
        raw_ns = self._used_ns + moment.now_ns - self._asked_at_ns
        credit_ns = min(lag_ns, LAG_PER_MOVE_NS, self._lag_left_ns[color])
        charged_ns = raw_ns - (moment.stall_ns - self._stall_at_ask_ns) - credit_ns
        if charged_ns > self.clock.budget_ns(color):
            self._forfeit_time(color, raw_ns, charged_ns)

    def _end_absence(self, color: Color, away_ns: int) -> None:
        if self._excused[color]:
            self.void(Party.SERVER, f"{color.name.lower()} did not return after an outage")
        elif self.is_away(color.other):
            self.void(Party.NETWORK, "both bots were away")
        else:
            self._forfeit(color, Ending.DISCONNECT, f"away for {away_ns / NS_PER_SECOND:.1f} s")
        self.evidence |= {"away_us": away_ns // 1000, "ply": self.board.ply}

    def _forfeit_time(self, color: Color, raw_ns: int, charged_ns: int) -> None:
        budget_ns = self.clock.budget_ns(color)
        self.clock.drop_flag(color)
        spent, had = charged_ns / NS_PER_SECOND, budget_ns / NS_PER_SECOND
        detail = f"{spent:.3f} s for a move that had {had:.3f} s"
        self._forfeit(color, Ending.TIME, detail)
        self.evidence = {
            "ply": self.board.ply,
            "raw_us": raw_ns // 1000,
            "charged_us": charged_ns // 1000,
            "budget_us": budget_ns // 1000,
        }

    def _forfeit(self, color: Color, ending: Ending, detail: str) -> None:
        self.outcome = Outcome(Result.won_by(color.other), ending, Party.of(color), detail)
