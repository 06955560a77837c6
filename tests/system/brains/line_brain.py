"""A small brain in Python that speaks the Gomocup protocol, or Yixin's extension of it.

python -m tests.system.brains.line_brain [yixin]
"""

import sys

from tests.system.brains.lines import OTHER, OWN, Player


class Gomocup:
    """Answers the commands of a manager."""

    name = "lines"

    def __init__(self, player: Player) -> None:
        self.player = player

    def run(self) -> None:
        """Answer until END or the end of the input."""
        for line in sys.stdin:
            word, _, rest = line.strip().lower().partition(" ")
            if word == "end":
                return
            handler = getattr(self, f"on_{word}", None)
            if handler is None:
                self.say("UNKNOWN")
            else:
                handler(rest)

    def say(self, text: str) -> None:
        """Write a line."""
        print(text, flush=True)

    def move(self) -> None:
        """Choose a cell."""
        x, y = self.player.choose()
        self.player.stones[x, y] = OWN
        self.say(f"{x},{y}")

    def on_about(self, _: str) -> None:
        """Name itself."""
        self.say(f'name="{self.name}", version="1", author="the tests", country="-"')

    def on_start(self, rest: str) -> None:
        """Set up a board."""
        self.player.set_up(int(rest))
        self.say("OK")

    def on_restart(self, _: str) -> None:
        """Clear it."""
        self.player.set_up(self.player.size)
        self.say("OK")

    def on_info(self, _: str) -> None:
        """Take note of nothing."""

    def on_begin(self, _: str) -> None:
        """Play the first stone."""
        self.move()

    def on_turn(self, rest: str) -> None:
        """Answer a stone."""
        x, y = map(int, rest.split(","))
        self.player.stones[x, y] = OTHER
        self.move()

    def on_board(self, _: str) -> None:
        """Play in a position."""
        self.read_board()
        self.move()

    def read_board(self) -> None:
        """Read a position up to DONE."""
        self.player.set_up(self.player.size)
        while (line := sys.stdin.readline().strip().lower()) not in {"", "done"}:
            x, y, side = map(int, line.split(","))
            self.player.stones[x, y] = side


class Yixin(Gomocup):
    """Knows two of Yixin's commands, too."""

    name = "Yixin of the tests"

    def on_yxboard(self, _: str) -> None:
        """Take note of a position."""
        self.read_board()

    def on_yxstop(self, _: str) -> None:
        """End a search, of which there is none."""


if __name__ == "__main__":
    (Yixin if "yixin" in sys.argv else Gomocup)(Player()).run()
