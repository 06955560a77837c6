"""Any bot of OpenSpiel in the arena: ``meijin bot run openspiel_bot.py --option bot=mcts``.

OpenSpiel's game ``mnk`` is freestyle on a board of any size with any number of stones in a row, and
its actions are numbered as Meijin's cells are, so a game is carried over move by move.
"""

import importlib
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pyspiel

from meijin.bots import Bot, Capabilities, Position, run
from meijin.game import Outcome, Variant


class Table:
    """One game: OpenSpiel's state, and the bot that plays it."""

    def __init__(self, bot: Any, state: Any) -> None:
        self.bot = bot
        self.state = state
        restart_at = getattr(bot, "restart_at", None)
        if restart_at is not None:
            restart_at(state)

    def follows(self, moves: list[int]) -> bool:
        """Whether the game can go on to a position from where this table stands."""
        history = self.state.history()
        return bool(history == moves[: len(history)])

    def catch_up(self, moves: list[int]) -> None:
        """Play what has been played since, and tell the bot."""
        inform = getattr(self.bot, "inform_action", None)
        for cell in moves[len(self.state.history()) :]:
            if inform is not None:
                inform(self.state, self.state.current_player(), cell)
            self.state.apply_action(cell)

    def step(self) -> int:
        """Have the bot act."""
        action = int(self.bot.step(self.state))
        if action not in self.state.legal_actions():
            raise ValueError(f"the bot of OpenSpiel plays {action}, which is no legal action")
        self.state.apply_action(action)
        return action


class OpenSpielBot(Bot):
    """Plays as a bot of OpenSpiel does.

    `bot` is ``mcts``, a name that OpenSpiel has registered, such as ``uniform_random``, or
    ``module:function`` for one of your own: a function of the game and the player (0 for black)
    that returns whatever has OpenSpiel's ``step(state)``.
    """

    name = "openspiel"
    capabilities = Capabilities(
        min_size=3, max_size=22, max_games=16, min_move_time=timedelta(seconds=1), any_line=True
    )

    def __init__(self, bot: str = "mcts", simulations: int = 100, seed: int = 1) -> None:
        self._bot = bot
        self._simulations = simulations
        self._seed = seed
        self._make = self._factory()
        self._tables: dict[str, Table] = {}

    @property
    def configuration(self) -> Mapping[str, str]:
        """Which bot it is, and how hard it thinks."""
        own = {"simulations": str(self._simulations), "seed": str(self._seed)}
        return {"bot": self._bot, **(own if self._bot == "mcts" else {})}

    def choose(self, position: Position) -> int:
        """Carry the opponent's move over, and the bot's back."""
        moves = list(position.board.moves)
        table = self._tables.get(position.game_id)
        if table is None or not table.follows(moves):  # new, or an answer was lost on its way
            table = self._open(position.variant, moves)
            self._tables[position.game_id] = table
        table.catch_up(moves)
        return table.step()

    def game_ended(self, game_id: str, outcome: Outcome | None) -> None:
        """Clear the table."""
        del outcome
        self._tables.pop(game_id, None)

    def _open(self, variant: Variant, moves: list[int]) -> Table:
        size = {"m": variant.width, "n": variant.height, "k": variant.line}
        game = pyspiel.load_game("mnk", size)
        state = game.new_initial_state()
        for cell in moves:
            state.apply_action(cell)
        return Table(self._make(game, state.current_player()), state)

    def _factory(self) -> Callable[[Any, int], Any]:
        if self._bot == "mcts":
            return self._mcts
        module, _, function = self._bot.partition(":")
        if function:
            factory: Callable[[Any, int], Any] = getattr(importlib.import_module(module), function)
            return factory
        if self._bot in pyspiel.registered_bots():
            return lambda game, player: pyspiel.load_bot(self._bot, game, player)
        known = ", ".join(["mcts", *pyspiel.registered_bots()])
        raise ValueError(f'no bot "{self._bot}"; there is {known}, or module:function')

    def _mcts(self, game: Any, player: int) -> Any:
        del player  # it plays whoever is to move
        evaluator = pyspiel.RandomRolloutEvaluator(1, self._seed)
        memory_mb, solve, verbose = 64, True, False
        return pyspiel.MCTSBot(
            game, evaluator, 2.0, self._simulations, memory_mb, solve, self._seed, verbose
        )


if __name__ == "__main__":
    run(OpenSpielBot())
