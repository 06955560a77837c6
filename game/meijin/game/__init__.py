"""What both sides of the wire agree on: boards, rules, clocks, openings and records.

- `board`, `color`, `grid`: the stones of a game
- `seat`, `position`, `action`: its players, who of them is to act, and how
- `variant`: what is played
- `rule`, `rules`, `line_rule`, `renju`: what wins and what is forbidden
- `winning_line`: which stones have won
- `forbidden`: where no stone may be placed
- `coordinates`, `diagram`, `moves`, `byte_order`: cells, boards and moves in writing
- `board_svg`: a board as a picture
- `opening_rule`: who places the first stones, and who gets which colour
- `opening`, `balanced`: the first moves
- `opening_book`, `generated`: more of them than a test can play
- `symmetry`, `canonical_position`: mirror images of openings and games; what all of a position share
- `clock`, `seconds`: time controls
- `time_class`: bullet, blitz and the other classes of them
- `outcome`: how games end
- `adjudication`: games ended early, by scores that both sides agree about
- `record`, `analysis`: a game to be kept, and what the bots thought of its moves
- `recorded_turn`: who was asked for what in a record, and with which clocks
- `recorded_clocks`: what both clocks showed at every ply of a record
- `sgf`, `sgf_tree`, `psq`, `position_string`, `game_json`, `rif`: games in the formats of files
- `record_file`: files of games in whatever format
- `imported`: outcomes of games that tell a result alone
- `referee`: whether a record can be true
- `opening_file`: openings from files
"""

from meijin.game.action import (
    Action,
    Choose,
    OpeningAction,
    Placement,
    chosen_color,
    encode_action,
)
from meijin.game.adjudication import Adjudication, Adjudicator, DrawRule, ResignRule
from meijin.game.analysis import Analysis
from meijin.game.board import Board, ForbiddenMoveError, IllegalMoveError
from meijin.game.clock import Clock, TimeControl
from meijin.game.color import Color
from meijin.game.coordinates import cell_at, cell_name, parse_cell
from meijin.game.line_rule import CARO, CARO_EXACT, FREESTYLE, STANDARD
from meijin.game.moves import decode_moves, encode_moves
from meijin.game.opening import (
    Opening,
    check_opening,
    format_opening,
    openings_for,
    parse_opening,
)
from meijin.game.opening_rule import (
    FREE,
    OPENING_RULES,
    SWAP,
    SWAP1,
    SWAP2,
    OpeningRule,
    Task,
    opening_rule_named,
)
from meijin.game.outcome import Ending, Outcome, Party, Result
from meijin.game.position import GamePosition, IllegalActionError, SideChoice
from meijin.game.record import GameRecord
from meijin.game.renju import RENJU
from meijin.game.rule import Rule
from meijin.game.rules import RULES, rule_named
from meijin.game.seat import Seat
from meijin.game.sgf import from_sgf, to_sgf
from meijin.game.sgf_tree import SgfError
from meijin.game.time_class import TIME_CLASSES, TimeClass, TimeClasses
from meijin.game.variant import GOMOKU, TIC_TAC_TOE, Variant
from meijin.game.winning_line import winning_line

__all__ = [
    "CARO",
    "CARO_EXACT",
    "FREE",
    "FREESTYLE",
    "GOMOKU",
    "OPENING_RULES",
    "RENJU",
    "RULES",
    "STANDARD",
    "SWAP",
    "SWAP1",
    "SWAP2",
    "TIC_TAC_TOE",
    "TIME_CLASSES",
    "Action",
    "Adjudication",
    "Adjudicator",
    "Analysis",
    "Board",
    "Choose",
    "Clock",
    "Color",
    "DrawRule",
    "Ending",
    "ForbiddenMoveError",
    "GamePosition",
    "GameRecord",
    "IllegalActionError",
    "IllegalMoveError",
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
    "SideChoice",
    "Task",
    "TimeClass",
    "TimeClasses",
    "TimeControl",
    "Variant",
    "cell_at",
    "cell_name",
    "check_opening",
    "chosen_color",
    "decode_moves",
    "encode_action",
    "encode_moves",
    "format_opening",
    "from_sgf",
    "opening_rule_named",
    "openings_for",
    "parse_cell",
    "parse_opening",
    "rule_named",
    "to_sgf",
    "winning_line",
]
