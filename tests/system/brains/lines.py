"""A player of few lines: it lengthens its own rows, stops the other's, and never breaks a rule."""

Point = tuple[int, int]
STEPS = ((1, 0), (0, 1), (1, 1), (1, -1))
OWN, OTHER = 1, 2
REACH = 5


class Player:
    """A board, and the choice of a cell on it."""

    def __init__(self) -> None:
        self.set_up(15)

    def set_up(self, size: int) -> None:
        """Clear a square board."""
        self.size = size
        self.stones: dict[Point, int] = {}

    def choose(self) -> Point:
        """The empty cell of the highest value; black takes a risky one only where there is no other."""
        cells = [(x, y) for y in range(self.size) for x in range(self.size)]
        empty = [cell for cell in cells if cell not in self.stones]
        sides = list(self.stones.values())
        if sides.count(OWN) == sides.count(OTHER):
            empty = [cell for cell in empty if not self.is_risky(cell)] or empty
        return max(empty, key=self.value)

    def value(self, cell: Point) -> int:
        """What a stone there makes and stops."""
        middle = sum(abs(2 * place + 1 - self.size) for place in cell)
        rows = [(self.row(cell, step, OWN), self.row(cell, step, OTHER)) for step in STEPS]
        gains = sum(10**6 if own >= 5 else 9 * own**3 for own, _ in rows)
        return (
            100 * (gains + sum(10**5 if other >= 5 else 5 * other**3 for _, other in rows)) - middle
        )

    def is_risky(self, cell: Point) -> bool:
        """Whether renju may forbid it: three stones near each other in two directions, or five."""
        near = [1 + self.near(cell, step) for step in STEPS]
        makes_five = any(self.row(cell, step, OWN) == 5 for step in STEPS)
        return not makes_five and (max(near) >= 5 or sum(count >= 3 for count in near) >= 2)

    def row(self, cell: Point, step: Point, side: int) -> int:
        """The length of the row that a stone there would make."""
        (x, y), (dx, dy) = cell, step
        length = 1
        for sign in (1, -1):
            n = 1
            while self.stones.get((x + sign * n * dx, y + sign * n * dy)) == side:
                n += 1
            length += n - 1
        return length

    def near(self, cell: Point, step: Point) -> int:
        """How many own stones stand in a row with a cell, and no other stone between."""
        (x, y), (dx, dy) = cell, step
        found = 0
        for sign in (1, -1):
            for n in range(1, REACH + 1):
                side = self.stones.get((x + sign * n * dx, y + sign * n * dy))
                if side == OTHER:
                    break
                found += side == OWN
        return found
