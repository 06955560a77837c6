"""What both sides of the wire agree on: boards, rules, clocks, openings and records.

- `rules`: what is played: rules, variants, opening rules
- `board`: the stones of a game, in writing, as a picture, and mirrored
- `color`, `grid`: colours and seats, and the lines of a board
- `position`: who of the players is to act, and how
- `clock`: time controls, and durations in writing
- `time_class`: bullet, blitz and the other classes of them
- `outcome`: how games end
- `adjudication`: games ended early, by scores that both sides agree about
- `records`: games to be kept, their formats, and whether they can be true
- `openings`: the first moves, dealt and from files
"""

from meijin.game.adjudication import Adjudication, Adjudicator, DrawRule, ResignRule
from meijin.game.board.board import Board, ForbiddenMoveError, IllegalMoveError
from meijin.game.board.coordinates import cell_at, cell_name, parse_cell
from meijin.game.board.moves import decode_moves, encode_moves
from meijin.game.board.winning_line import winning_line, winning_lines
from meijin.game.clock import Clock, TimeControl, cpu_charge
from meijin.game.color import Color, Seat
from meijin.game.openings.balanced import openings_for
from meijin.game.openings.opening import (
    Opening,
    check_opening,
    format_opening,
    parse_opening,
)
from meijin.game.outcome import Ending, Outcome, Party, Result
from meijin.game.position import (
    Action,
    Choose,
    Decision,
    Declare,
    GamePosition,
    IllegalActionError,
    Offer,
    OpeningAction,
    Placement,
    encode_action,
    is_stone,
)
from meijin.game.records.analysis import Analysis
from meijin.game.records.record import GameEngine, GameRecord
from meijin.game.records.sgf import from_sgf, to_sgf
from meijin.game.records.sgf_tree import SgfError
from meijin.game.rules.opening_rule import (
    FREE,
    OPENING_RULES,
    SOOSYRV8,
    SWAP,
    SWAP1,
    SWAP2,
    TARAGUCHI10,
    YAMAGUCHI,
    OpeningRule,
    Task,
    opening_rule_named,
)
from meijin.game.rules.renju import RENJU
from meijin.game.rules.rule import CARO, CARO_EXACT, FREESTYLE, STANDARD, Rule
from meijin.game.rules.variant import GOMOKU, RULES, TIC_TAC_TOE, Variant, rule_named
from meijin.game.time_class import TIME_CLASSES, TimeClass, TimeClasses

__all__ = [
    "CARO",
    "CARO_EXACT",
    "FREE",
    "FREESTYLE",
    "GOMOKU",
    "OPENING_RULES",
    "RENJU",
    "RULES",
    "SOOSYRV8",
    "STANDARD",
    "SWAP",
    "SWAP1",
    "SWAP2",
    "TARAGUCHI10",
    "TIC_TAC_TOE",
    "TIME_CLASSES",
    "YAMAGUCHI",
    "Action",
    "Adjudication",
    "Adjudicator",
    "Analysis",
    "Board",
    "Choose",
    "Clock",
    "Color",
    "Decision",
    "Declare",
    "DrawRule",
    "Ending",
    "ForbiddenMoveError",
    "GameEngine",
    "GamePosition",
    "GameRecord",
    "IllegalActionError",
    "IllegalMoveError",
    "Offer",
    "Opening",
    "OpeningAction",
    "OpeningRule",
    "Outcome",
    "Party",
    "Placement",
    "ResignRule",
    "Result",
    "Rule",
    "Seat",
    "SgfError",
    "Task",
    "TimeClass",
    "TimeClasses",
    "TimeControl",
    "Variant",
    "cell_at",
    "cell_name",
    "check_opening",
    "cpu_charge",
    "decode_moves",
    "encode_action",
    "encode_moves",
    "format_opening",
    "from_sgf",
    "is_stone",
    "opening_rule_named",
    "openings_for",
    "parse_cell",
    "parse_opening",
    "rule_named",
    "to_sgf",
    "winning_line",
    "winning_lines",
]
