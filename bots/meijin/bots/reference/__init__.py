"""Readable adversarial search over any small game; the oracle that fast bots are held to.

- `game`: what a game must offer to be searched, and orders of its moves
- `minimax`, `uct`: the searches
- `trace`: what a search did
- `gomoku`: boards, and what they are worth
- `tree`: explicit trees, worked through by hand
"""

from meijin.bots.reference.game import Game, Ordering, ordered_by, scan, shuffled
from meijin.bots.reference.minimax import Found, Table, alphabeta, fewest_leaves, minimax, negamax
from meijin.bots.reference.trace import Step, Trace, Window
from meijin.bots.reference.uct import Estimate, uct

__all__ = [
    "Estimate",
    "Found",
    "Game",
    "Ordering",
    "Step",
    "Table",
    "Trace",
    "Window",
    "alphabeta",
    "fewest_leaves",
    "minimax",
    "negamax",
    "ordered_by",
    "scan",
    "shuffled",
    "uct",
]
