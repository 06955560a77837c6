"""Balanced openings for Gomoku, written as words: a letter a stone, black first.

A letter names a cell of the square in the middle of a board; of an even side, the middle is the
cell right of the centre or below it.
"""

import string

from meijin.game.rules.variant import Variant

Opening = tuple[int, ...]
"""The cells in the order played, black first."""

BOOK_SIDE = 7
"""The side of the square in the middle of the board."""

ALPHABET = string.ascii_uppercase + string.ascii_lowercase
"""The letters of its `BOOK_SIDE` squared cells, row by row from the top left."""

BALANCED = """
waYNT PXpB UiaWklw ILhKFJ CmRFoXq eLbvB pMFfX pfBE Eitks rXMgSC nhIfSl eDEjQdF cUdCYmG bIEDF OnXRa
skaedvf iJTEnL RhWVp gYbhBAC VQwa UrWe DqGYTZv iXHpn qgWdh knUY UNODRAc PSDfm SLdGboJ IfjrtTZ tONedK
KPlZFBQ LnegM baCJS PNwY ONVog sLEWOc CXgm vuVHifS IQlBd QSnaLY
"""
"""A much stronger engine calls each of the forty even on 15x15 under the freestyle rule, given
0.25 s. Random openings are one-sided (9 % of them pass), which hides differences in strength."""


def opening_of(word: str, variant: Variant) -> Opening:
    """The opening that is written as a word."""
    top, left = variant.height // 2 - BOOK_SIDE // 2, variant.width // 2 - BOOK_SIDE // 2
    places = (divmod(ALPHABET.index(letter), BOOK_SIDE) for letter in word)
    return tuple((top + row) * variant.width + left + column for row, column in places)
