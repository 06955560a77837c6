"""Make the balanced openings that ship with `meijin.game`.

    python scripts/openings.py --openings 1000 --processes 2 --seed 1

Random stones are placed in the middle 7x7 of 15x15; no two openings are the same up to the
board's symmetries, nor the same as one of the forty chosen by hand. A search then judges who is
ahead, by so many positions rather than by time, so that a seed gives the same openings on every
machine. Most are one-sided: a short search leaves those out first.

--openings N    how many to make
--processes N   how many searches run at once; the openings do not depend on it
--seed N        for the stones
--output PATH   the module to write, that of `meijin.game` unless told otherwise
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random

from meijin.bots.core.engine import Engine, imbalance
from meijin.game import GOMOKU, Opening, openings_for
from meijin.game.board.symmetry import position_key
from meijin.game.openings.balanced import ALPHABET, BOOK_SIDE

MODULE = Path(__file__).parents[1] / "game" / "meijin" / "game" / "openings" / "generated.py"

STONES = (4, 5, 6, 7)
CHUNK = 16
"""Openings that are handed to a process at once."""
LINE = 16
"""Openings of a line of the module."""


def drawn_openings(seed: int) -> Iterator[Opening]:
    """Random openings, each once up to symmetry, forever."""
    rng = Random(seed)
    known = {position_key(opening, GOMOKU) for opening in openings_for(GOMOKU)}
    edge = (GOMOKU.width - BOOK_SIDE) // 2
    middle = range(BOOK_SIDE)
    cells = [(edge + row) * GOMOKU.width + edge + column for row in middle for column in middle]
    while True:
        opening = tuple(rng.sample(cells, rng.choice(STONES)))
        key = position_key(opening, GOMOKU)
        if key not in known:
            known.add(key)
            yield opening


def is_balanced(opening: Opening) -> bool:
    """Whether no look finds one side far ahead."""
    return imbalance(opening, GOMOKU) is None


def make_openings(count: int, seed: int, processes: int) -> list[Opening]:
    """The first N balanced ones of those drawn."""
    drawn = drawn_openings(seed)
    made: list[Opening] = []
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        judge = partial(pool.map, is_balanced, chunksize=CHUNK)
        while len(made) < count:
            batch = list(islice(drawn, CHUNK * CHUNK))
            made += [o for o, passes in zip(batch, judge(batch), strict=True) if passes]
            print(f"{len(made)} openings", flush=True)
    return made[:count]


def written(opening: Opening) -> str:
    """An opening as the module holds it, a letter a stone."""
    edge = (GOMOKU.width - BOOK_SIDE) // 2
    places = [(cell // GOMOKU.width - edge, cell % GOMOKU.width - edge) for cell in opening]
    return "".join(ALPHABET[BOOK_SIDE * row + column] for row, column in places)


def module_text(openings: list[Opening], seed: int) -> str:
    """The module."""
    words = [written(opening) for opening in openings]
    lines = [" ".join(words[at : at + LINE]) for at in range(0, len(words), LINE)]
    body = "\n".join(lines)
    return (
        f'"""Generated balanced openings: {len(words)}, by ``scripts/openings.py --seed {seed}``; '
        'not edited."""\n\n'
        f'GENERATED = """\n{body}\n"""\n'
        '"""A word an opening, a letter a stone; see `balanced`."""\n'
    )


def main() -> None:
    """Make the openings, and write them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--openings", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=MODULE)
    options = parser.parse_args()
    Engine(GOMOKU).warm_up()  # or every process would compile
    openings = make_openings(options.openings, options.seed, options.processes)
    options.output.write_text(module_text(openings, options.seed))
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
