"""The random bot: any legal cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from meijin.bots.sdk.bot import Bot, drawn_stones, options_given
from meijin.bots.sdk.position import Position
from meijin.game import OPENING_RULES, RULES, Color, Offer
from meijin.game.position import distinct_cells
from meijin.wire.capabilities import Capabilities

_ATTEMPTS = 8


class RandomBot(Bot):
    """Takes any legal cell, each as likely as the others.

    It answers all its games at once and on the event loop, since it needs no time for them.
    """

    name = "random"
    search_threads = 1
    capabilities = Capabilities(
        rules=tuple(RULES.values()),
        min_size=3,
        max_size=22,
        max_games=64,
        any_line=True,
        opening_rules=tuple(OPENING_RULES.values()),
        evaluates=True,
    )

    def __init__(self, seed: int | None = None) -> None:
        self._seed = seed
        self._rng = Random(seed)  # noqa: S311 - no secret hangs on it

    @property
    def configuration(self) -> Mapping[str, str]:
        return options_given(seed=self._seed)

    def choose(self, position: Position) -> int:
        """Draw a cell; most draws hit an empty one, which is cheaper than listing them."""
        board = position.board
        cells = board.variant.cells
        for _ in range(_ATTEMPTS):
            cell = int(self._rng.random() * cells)
            if board.is_legal(cell):
                return cell
        return self._rng.choice(board.legal_cells())

    def place_opening(self, position: Position, stones: int) -> Sequence[int]:
        return drawn_stones(position, stones, self._rng)

    def choose_side(self, position: Position, stones: int) -> Color | Sequence[int] | Offer:
        """Draw a side; or further stones, or an offer, where there is that choice."""
        offers = 0 if position.task is None else position.task.offers
        if (stones or offers) and self._rng.random() < 1 / 3:
            if stones:
                return self.place_opening(position, stones)
            return Offer(tuple(self.offer_cells(position, offers)))
        return self._rng.choice(tuple(Color))

    def declare_offers(self, position: Position, most: int) -> int:  # noqa: ARG002 - any will do
        return self._rng.randint(1, most)

    def offer_cells(self, position: Position, count: int) -> Sequence[int]:
        cells = position.legal_cells()
        self._rng.shuffle(cells)
        return distinct_cells(position.board, cells)[:count]

    def take_offered(self, position: Position, cells: Sequence[int]) -> int:  # noqa: ARG002 - any will do
        return self._rng.choice(cells)

    async def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:
        return [self.choose(position) for position in positions]
