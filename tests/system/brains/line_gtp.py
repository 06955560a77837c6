"""A small engine in Python that speaks GTP: ``python -m tests.system.brains.line_gtp``."""

import sys

from tests.system.brains.lines import OTHER, OWN, Player

LETTERS = "ABCDEFGHJKLMNOPQRSTUVW"


class Gtp:
    """Answers the commands of a controller; whoever asks for a move has the engine's colour."""

    def __init__(self) -> None:
        self.player = Player()
        self.colors: dict[tuple[int, int], str] = {}

    def run(self) -> None:
        """Answer until quit or the end of the input."""
        for line in sys.stdin:
            command, *words = line.lower().split() or [""]
            handler = getattr(self, f"on_{command}", None)
            print("? unknown command" if handler is None else f"= {handler(*words)}", end="\n\n")
            sys.stdout.flush()
            if command == "quit":
                return

    def on_name(self) -> str:
        """Name itself."""
        return "lines"

    def on_version(self) -> str:
        """Say which version it is."""
        return "1"

    def on_quit(self) -> str:
        """Leave."""
        return ""

    def on_boardsize(self, size: str) -> str:
        """Set up a board."""
        self.player.set_up(int(size))
        return self.on_clear_board()

    def on_clear_board(self) -> str:
        """Clear it."""
        self.colors = {}
        return ""

    def on_play(self, color: str, vertex: str) -> str:
        """Put a stone on it."""
        column = LETTERS.lower().index(vertex[0])
        self.colors[column, self.player.size - int(vertex[1:])] = color[0]
        return ""

    def on_genmove(self, color: str) -> str:
        """Choose a vertex."""
        own = color[0]
        sides = {cell: OWN if other == own else OTHER for cell, other in self.colors.items()}
        self.player.stones = sides
        x, y = self.player.choose()
        self.colors[x, y] = own
        return f"{LETTERS[x]}{self.player.size - y}"


if __name__ == "__main__":
    Gtp().run()
