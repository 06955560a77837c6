"""What both sides of the wire agree on: boards, rules, clocks, openings and records.

- `board`, `color`, `grid`: the position of a game
- `variant`, `rule`: what is played
- `coordinates`, `diagram`, `moves`, `byte_order`: cells, boards and moves in writing
- `opening`, `balanced`: the first moves
- `opening_book`, `generated`: more of them than a test can play
- `symmetry`: mirror images of openings and games
- `clock`, `seconds`: time controls
- `time_class`: bullet, blitz and the other classes of them
- `outcome`: how games end
- `record`, `analysis`: a game to be kept, and what the bots thought of its moves
- `sgf`, `sgf_tree`, `psq`, `position_string`, `game_json`, `rif`: games in the formats of files
- `record_file`: files of games in whatever format
- `imported`: outcomes of games that tell a result alone
- `referee`: whether a record can be true
- `opening_file`: openings from files
"""

from meijin.game.analysis import Analysis
from meijin.game.board import Board, IllegalMoveError
from meijin.game.clock import Clock, TimeControl
from meijin.game.color import Color
from meijin.game.coordinates import cell_at, cell_name, parse_cell
from meijin.game.moves import decode_moves, encode_moves
from meijin.game.opening import (
    Opening,
    check_opening,
    format_opening,
    openings_for,
    parse_opening,
)
from meijin.game.outcome import Ending, Outcome, Party, Result
from meijin.game.record import GameRecord
from meijin.game.rule import FREESTYLE, RULES, STANDARD, Rule, rule_named
from meijin.game.sgf import from_sgf, to_sgf
from meijin.game.sgf_tree import SgfError
from meijin.game.time_class import TIME_CLASSES, TimeClass, TimeClasses
from meijin.game.variant import GOMOKU, TIC_TAC_TOE, Variant

__all__ = [
    "FREESTYLE",
    "GOMOKU",
    "RULES",
    "STANDARD",
    "TIC_TAC_TOE",
    "TIME_CLASSES",
    "Analysis",
    "Board",
    "Clock",
    "Color",
    "Ending",
    "GameRecord",
    "IllegalMoveError",
    "Opening",
    "Outcome",
    "Party",
    "Result",
    "Rule",
    "SgfError",
    "TimeClass",
    "TimeClasses",
    "TimeControl",
    "Variant",
    "cell_at",
    "cell_name",
    "check_opening",
    "decode_moves",
    "encode_moves",
    "format_opening",
    "from_sgf",
    "openings_for",
    "parse_cell",
    "parse_opening",
    "rule_named",
    "to_sgf",
]
