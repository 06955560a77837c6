"""STATE: a position and its search stack, in one record passed as a pointer."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.jit import int64, jit, record_type, uint64, void
from meijin.bots.core.lookup import CELLS, CHANNELS, HIDDEN, KINDS, LINES, SIDE, TABLES_TYPE
from meijin.bots.core.shapes import THREATS

PLIES = 160
"""The most plies that a search looks ahead, with all extensions."""
LINE = 64
"""The most cells of a principal variation."""
CHANGES = 40
"""The most codes that one stone changes."""
SEEN = 1 << 14
"""Positions in the hash table of the VCF search."""
VALUES = 1 << 16
"""Positions in the cache of evaluations; their keys' low bits are the place."""
OCCUPIED_MARGIN = 3
"""Empty rows above and below `occupied`, so that neighbours need no check."""

STATE = np.dtype(
    [
        # The position.
        ("side", np.int64),  # to move: 0 black, 1 white
        ("empties", np.int64),
        ("made", np.int64),  # stones that `undo` can take back
        ("hash", np.uint64),  # of the stones alone
        ("stones", np.int64, CELLS),  # 0 empty, 1 black, 2 white
        ("occupied", np.int64, SIDE + 2 * OCCUPIED_MARGIN),  # a bit per column, rows as above
        ("lines", np.uint64, (4, LINES)),  # two bits per cell, 3 for the wall
        ("codes", np.int64, (2, CELLS)),  # of each cell by colour; stale under a stone
        ("counts", np.int64, (2, THREATS)),  # empty cells by colour and threat
        ("masks", np.int64, (2, KINDS, SIDE)),  # the same by kind: a bit per column, by row
        # What `undo` needs.
        ("played", np.int64, CELLS),
        ("log", np.uint64, CELLS * CHANGES),  # cell, white's code, black's code: 16 bits each
        ("log_ends", np.int64, CELLS + 1),
        # The network's accumulators, see `meijin.bots.core.network`.
        ("synced", np.int64),  # stones that they hold
        ("synced_stones", np.int64, CELLS),  # cells times two, and one more for white
        ("synced_lines", np.uint64, (4, LINES)),
        ("features", np.int16, (CELLS, 2 * CHANNELS)),  # before they are rectified
        ("pooled", np.int32, 2 * CHANNELS),
        ("previewed", np.int32, 2 * CHANNELS),  # `pooled` with a last stone that is not kept
        ("inputs", np.int16, 2 * CHANNELS),
        ("layer", np.int16, HIDDEN),
        ("values", np.uint64, VALUES),  # cached evaluations: keys, the value in the low 16 bits
        # How to search; 1 is yes.
        ("stop", np.int64),  # set by another thread; polled at every node
        ("node_limit", np.int64),
        ("use_vcf", np.int64),
        ("use_table", np.int64),
        ("use_reductions", np.int64),  # late-move reductions
        ("use_futility", np.int64),
        ("plain", np.int64),  # bare alpha-beta over all candidates, for comparisons
        ("width", np.int64),  # most moves tried at a node
        ("noise", np.int64),  # evaluations are off by as much, up or down
        ("age", np.int64),  # of entries in the transposition table
        # What the search keeps.
        ("nodes", np.int64),
        ("seldepth", np.int64),  # selective depth: the ply reached in this iteration
        ("moves", np.int64, (PLIES, CELLS)),
        ("move_counts", np.int64, PLIES),  # moves generated, tried or not
        ("scores", np.int64, (PLIES, CELLS)),
        ("tt_move", np.int64),  # the transposition table's for the node just entered, or -1
        ("static_evals", np.int64, PLIES),  # of the line being searched, where known
        ("killers", np.int64, (PLIES, 2)),
        ("countermoves", np.int64, (2, CELLS)),  # that answered a cell well
        ("history", np.int64, (2, CELLS)),
        ("pv", np.int64, (PLIES + 1, LINE)),
        ("pv_length", np.int64, PLIES + 1),
        ("root_score", np.int64),  # of pv[0] in the iteration that runs
        ("root_tried", np.int64),  # moves of it that are done
        # What the VCF search keeps and finds.
        ("vcf_line", np.int64, LINE),
        ("vcf_length", np.int64),
        ("vcf_nodes", np.int64),
        ("vcf_limit", np.int64),
        ("vcf_seen", np.uint64, SEEN),  # positions without a VCF, by the low bits of their keys
        # The result.
        ("best_score", np.int64),
        ("best_depth", np.int64),
        ("best_seldepth", np.int64),
        ("best_line", np.int64, LINE),
        ("best_length", np.int64),
    ],
    align=True,
)
STATE_TYPE = record_type(STATE)


@jit(int64(TABLES_TYPE, uint64, uint64))
def look_up(tables: np.record, word: int, shift: int) -> int:
    """Classify the empty cell that begins at bit `shift` of the word of its line."""
    bits = uint64(2 * tables.reach)
    mask = (uint64(1) << bits) - uint64(1)
    low = (word >> (shift - bits)) & mask
    high = (word >> (shift + uint64(2))) & mask
    return int64(tables.patterns[int64(low | (high << bits))])


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def window_pattern(state: np.record, tables: np.record, direction: int, cell: int) -> int:
    """Classify an empty cell in one direction: black's shape plus 16 times white's."""
    word = state.lines[direction, tables.line[direction, cell]]
    return look_up(tables, word, tables.shift[direction, cell])


@jit(void(STATE_TYPE, TABLES_TYPE, int64, int64))
def include(state: np.record, tables: np.record, cell: int, sign: int) -> None:
    """Count an empty cell by its codes (`sign` 1), or count it no more (-1)."""
    bit = 1 << tables.column[cell]
    row = tables.row[cell]
    for color in range(2):
        code = state.codes[color, cell]
        threat = int64(tables.threats[code])
        state.counts[color, threat] += sign
        state.masks[color, tables.kinds[threat], row] ^= bit


@jit(void(STATE_TYPE, TABLES_TYPE))
def _rebuild_lines(state: np.record, tables: np.record) -> None:
    """Set `lines`, `occupied`, `empties` and `hash` from the stones."""
    state.hash = uint64(0)
    state.empties = 0
    for row in range(SIDE + 2 * OCCUPIED_MARGIN):
        state.occupied[row] = 0
    for direction in range(4):
        for line in range(LINES):
            state.lines[direction, line] = ~uint64(0)
    for cell in range(tables.cells):
        stone = state.stones[cell]
        if stone == 0:
            state.empties += 1
        else:
            state.hash ^= tables.zobrist[stone - 1, cell]
            state.occupied[tables.row[cell] + OCCUPIED_MARGIN] |= 1 << tables.column[cell]
        bits = uint64(3 - stone)
        for direction in range(4):
            line = tables.line[direction, cell]
            state.lines[direction, line] ^= bits << tables.shift[direction, cell]


@jit(void(STATE_TYPE, TABLES_TYPE))
def rebuild(state: np.record, tables: np.record) -> None:
    """Compute everything about the position from its stones."""
    _rebuild_lines(state, tables)
    for color in range(2):
        for threat in range(THREATS):
            state.counts[color, threat] = 0
        for kind in range(KINDS):
            for row in range(SIDE):
                state.masks[color, kind, row] = 0
    for cell in range(tables.cells):
        for color in range(2):
            state.codes[color, cell] = 0
        if state.stones[cell] == 0:
            for direction in range(4):
                pattern = window_pattern(state, tables, direction, cell)
                state.codes[0, cell] |= (pattern & 15) << (4 * direction)
                state.codes[1, cell] |= (pattern >> 4) << (4 * direction)
            include(state, tables, cell, 1)


@jit(void(STATE_TYPE))
def reset_network(state: np.record) -> None:
    """Reset the network's accumulators to the board, which must be empty."""
    state.synced = 0
    state.synced_lines[:] = state.lines
    state.features[:] = 0
    state.pooled[:] = 0


@jit(void(STATE_TYPE, TABLES_TYPE))
def init(state: np.record, tables: np.record) -> None:
    """Empty the board, black to move."""
    state.side = 0
    state.made = 0
    state.log_ends[0] = 0
    for cell in range(CELLS):
        state.stones[cell] = 0
    rebuild(state, tables)
    reset_network(state)


@jit(void(STATE_TYPE, TABLES_TYPE, int64, int64, int64))
def _recode(state: np.record, tables: np.record, color: int, cell: int, code: int) -> None:
    """Give an empty cell another code, and count it so."""
    old = int64(tables.threats[state.codes[color, cell]])
    new = int64(tables.threats[code])
    state.codes[color, cell] = code
    if old == new:
        return
    state.counts[color, old] -= 1
    state.counts[color, new] += 1
    old_kind = tables.kinds[old]
    new_kind = tables.kinds[new]
    if old_kind != new_kind:
        bit = 1 << tables.column[cell]
        row = tables.row[cell]
        state.masks[color, old_kind, row] ^= bit
        state.masks[color, new_kind, row] ^= bit


@jit(void(STATE_TYPE, TABLES_TYPE, int64, int64, int64))
def _change(state: np.record, tables: np.record, cell: int, direction: int, pattern: int) -> None:
    """Give an empty cell another pattern in one direction, and log what it had."""
    end = state.log_ends[state.made + 1]
    black, white = state.codes[0, cell], state.codes[1, cell]
    state.log[end] = uint64(cell << 32 | white << 16 | black)
    state.log_ends[state.made + 1] = end + 1
    for color in range(2):
        old = state.codes[color, cell]
        shape = pattern >> (4 * color) & 15
        code = old & ~(15 << (4 * direction)) | shape << (4 * direction)
        if code != old:
            _recode(state, tables, color, cell, code)


@jit(void(STATE_TYPE, TABLES_TYPE, int64, int64))
def _spread(state: np.record, tables: np.record, direction: int, cell: int) -> None:
    """Reclassify the empty cells of one line that a stone just placed is near to."""
    word = state.lines[direction, tables.line[direction, cell]]
    before = tables.before[direction, cell]
    shift = tables.shift[direction, cell] - uint64(2 * before)
    near = cell - before * tables.step[direction]
    for _ in range(before + 1 + tables.after[direction, cell]):
        if (word >> shift) & uint64(3) == uint64(0):
            pattern = look_up(tables, word, shift)
            black = state.codes[0, near] >> (4 * direction) & 15
            white = state.codes[1, near] >> (4 * direction) & 15
            if pattern != black | white << 4:
                _change(state, tables, near, direction, pattern)
        shift += uint64(2)
        near += tables.step[direction]


@jit(void(STATE_TYPE, TABLES_TYPE, int64))
def _toggle(state: np.record, tables: np.record, cell: int) -> None:
    """Place or take a stone of the side to move in `hash`, `occupied` and `lines`."""
    side = state.side
    state.hash ^= tables.zobrist[side, cell]
    state.occupied[tables.row[cell] + OCCUPIED_MARGIN] ^= 1 << tables.column[cell]
    bits = uint64(side + 1)
    for direction in range(4):
        line = tables.line[direction, cell]
        state.lines[direction, line] ^= bits << tables.shift[direction, cell]


@jit(void(STATE_TYPE, TABLES_TYPE, int64))
def make(state: np.record, tables: np.record, cell: int) -> None:
    """Place a stone of the side to move on an empty cell."""
    side = state.side
    made = state.made
    state.played[made] = cell
    state.log_ends[made + 1] = state.log_ends[made]
    include(state, tables, cell, -1)
    _toggle(state, tables, cell)
    state.stones[cell] = side + 1
    state.empties -= 1
    for direction in range(4):
        _spread(state, tables, direction, cell)
    state.made = made + 1
    state.side = 1 - side


@jit(void(STATE_TYPE, TABLES_TYPE))
def undo(state: np.record, tables: np.record) -> None:
    """Take the last stone back."""
    made = state.made - 1
    state.made = made
    state.side = 1 - state.side
    cell = state.played[made]
    for at in range(state.log_ends[made + 1] - 1, state.log_ends[made] - 1, -1):
        entry = int64(state.log[at])
        _recode(state, tables, 0, entry >> 32, entry & 0xFFFF)
        _recode(state, tables, 1, entry >> 32, entry >> 16 & 0xFFFF)
    state.stones[cell] = 0
    state.empties += 1
    _toggle(state, tables, cell)
    include(state, tables, cell, 1)
