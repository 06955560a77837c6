"""A bracket drawn in the terminal, from the meetings whose winners go to others."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby

from meijin.v1 import tournament_service_pb2 as pb

LEAST_WIDTH = 10
"""Characters that a name with its points needs, to be told from others."""
UNKNOWN = "?"
CONNECTOR = 2
"""Characters between two rounds."""


def bracket_lines(meetings: Sequence[pb.Meeting], width: int) -> list[str]:
    """Every round beside the one before; one below the other where it is too narrow for that."""
    rounds = meetings[-1].round
    names = [name for meeting in meetings for name in (meeting.first, meeting.second)]
    column = (width + CONNECTOR) // (rounds + 1) - CONNECTOR
    if column < LEAST_WIDTH:
        return _listed(meetings)
    column = min(column, max(map(len, names)) + len(" 00.5"))
    grid = _Grid()
    for _, together in groupby(meetings, key=lambda meeting: meeting.round):
        for place, meeting in enumerate(together):
            _draw(grid, meeting, place, column)
    winner = _cut(meetings[-1].winner or UNKNOWN, column)
    grid.write(_row(rounds + 1, 0), rounds * (column + CONNECTOR), winner)
    return grid.lines()


def _row(round_: int, slot: int) -> int:
    """The line of a bot: half-way between the two that it came from."""
    return (slot << round_) + (1 << (round_ - 1)) - 1


def _draw(grid: "_Grid", meeting: pb.Meeting, place: int, column: int) -> None:
    left = (meeting.round - 1) * (column + CONNECTOR)
    top, bottom = (_row(meeting.round, slot) for slot in (2 * place, 2 * place + 1))
    for row, text in ((top, _text(meeting, column)), (bottom, _text(meeting, column, second=True))):
        grid.write(row, left, text + " " + "─" * (column - len(text)))
    bar = left + column + 1
    for row in range(top + 1, bottom):
        grid.write(row, bar, "│")
    grid.write((top + bottom) // 2, bar, "├")
    grid.write(top, bar, "┐")
    grid.write(bottom, bar, "┘")


def _text(meeting: pb.Meeting, width: int, *, second: bool = False) -> str:
    if meeting.bye:
        return "bye" if second else _cut(meeting.first, width)
    name = meeting.second if second else meeting.first
    if not (meeting.first and meeting.second):
        return _cut(name or UNKNOWN, width)
    points = f" {meeting.second_points if second else meeting.first_points:g}"
    return _cut(name, width - len(points)) + points


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"


def _listed(meetings: Sequence[pb.Meeting]) -> list[str]:
    lines = []
    for round_, together in groupby(meetings, key=lambda meeting: meeting.round):
        lines.append(f"round {round_}")
        for meeting in together:
            points = f"{meeting.first_points:g} : {meeting.second_points:g}"
            second = "bye" if meeting.bye else meeting.second or UNKNOWN
            score = "" if meeting.bye else f"  {points}"
            goes_on = f"  {meeting.winner} goes on" if meeting.winner else ""
            lines.append(f"  {meeting.first or UNKNOWN} - {second}{score}{goes_on}")
    return lines


class _Grid:
    """Lines of text that are written anywhere."""

    def __init__(self) -> None:
        self._rows: defaultdict[int, str] = defaultdict(str)

    def write(self, row: int, column: int, text: str) -> None:
        line = self._rows[row].ljust(column)
        self._rows[row] = line[:column] + text + line[column + len(text) :]

    def lines(self) -> list[str]:
        return [self._rows[row].rstrip() for row in range(max(self._rows) + 1)]
