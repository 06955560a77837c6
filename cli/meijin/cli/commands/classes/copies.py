"""`meijin class copies`: pairs of bots that play alike far more than their strength explains."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from meijin.cli.classroom.choices import ChoiceTable, Spot
from meijin.cli.classroom.student_report import student_report
from meijin.cli.commands.classes.rosters import ClassArgument, get_class
from meijin.cli.connection import Connection, JsonOption, with_server
from meijin.cli.output import console, print_json, table
from meijin.game import cell_name
from meijin.ladder.statistics.diagnosis.copied_play import (
    FEWEST_BOTS,
    Signal,
    agreement,
    evidence,
    signals,
)
from meijin.v1 import class_service_pb2 as pb

RISK = 0.01
PLACES = 5
"""Positions that are told of each pair."""
MOST_GAMES = 2000
"""Of each bot; the newest."""


@dataclass(frozen=True, slots=True)
class Coincidence:
    """A position in which two bots play alike, and others mostly otherwise."""

    first: Spot
    second: Spot
    expected: float
    """How often others would play so too."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A pair that stands out, by the students' names."""

    first: str
    second: str
    signal: Signal
    coincidences: Sequence[Coincidence]


@with_server
def copies(
    connection: Connection,
    name: ClassArgument,
    risk: Annotated[
        float,
        typer.Option(
            min=1e-9, max=0.5, help="The chance to name anybody in a class where nobody has copied."
        ),
    ] = RISK,
    as_json: JsonOption = False,
) -> None:
    """Show pairs of bots that play the same moves where others differ: a signal, and no proof.

    The more games from the same openings, the more it can tell; `meijin class grade` has
    everybody begin from the same ones.
    """
    choices = ChoiceTable()
    students = get_class(connection, name).students
    for number, student in enumerate(students):
        report = student_report(connection, name, student, MOST_GAMES)
        choices.add(number, report.games)
    found = agreement(choices.choices(), len(students))
    compared = int(found.compared.sum())
    named = [_copy(each, students, choices) for each in signals(found, risk)]
    if as_json:
        print_json(
            {"class": name, "compared": compared, "pairs": [_object(each) for each in named]}
        )
        return
    pairs = len(students) * (len(students) - 1) // 2
    console.print(
        f"{name}: {compared} of {pairs} pairs have met enough positions where {FEWEST_BOTS} bots "
        f"or more were; {len(named)} stand out",
        soft_wrap=True,
    )
    for each in named:
        _print(each)


def _copy(signal: Signal, students: Sequence[pb.Student], choices: ChoiceTable) -> Copy:
    places = evidence(choices.choices(), signal.first, signal.second)[:PLACES]
    return Copy(
        students[signal.first].display_name,
        students[signal.second].display_name,
        signal,
        [
            Coincidence(first, second, place.expected)
            for place in places
            for first, second in _spots(choices, signal, place.position)
        ],
    )


def _spots(choices: ChoiceTable, signal: Signal, position: int) -> Iterable[tuple[Spot, Spot]]:
    """Where both have played the same in a position."""
    same = choices.moves_of(signal.first, position) & choices.moves_of(signal.second, position)
    for move in sorted(same):
        yield (
            choices.spots[position, signal.first, move],
            choices.spots[position, signal.second, move],
        )


def _print(copy: Copy) -> None:
    signal = copy.signal
    console.print(
        f"{copy.first} and {copy.second}: the same move in {signal.observed:.0f} of "
        f"{signal.positions} positions, {signal.expected:.0f} expected; p = {signal.p_value:.1e}",
        soft_wrap=True,
    )
    made = table("", ("game", "ply", "move", "game", "ply", "move", "others play so"))
    for each in copy.coincidences:
        made.add_row(*_cells(each.first), *_cells(each.second), f"{each.expected:.0%}")
    console.print(made)


def _cells(spot: Spot) -> tuple[str, str, str]:
    return spot.game_id, str(spot.ply), cell_name(spot.cell, spot.variant)


def _object(copy: Copy) -> dict[str, object]:
    """A pair as JSON has it."""
    numbers = asdict(copy.signal)
    del numbers["first"], numbers["second"]
    return {
        "first": copy.first,
        "second": copy.second,
        **numbers,
        "positions_told": [
            {
                "first_game": each.first.game_id,
                "second_game": each.second.game_id,
                "ply": each.first.ply,
                "first_move": cell_name(each.first.cell, each.first.variant),
                "second_move": cell_name(each.second.cell, each.second.variant),
                "expected": each.expected,
            }
            for each in copy.coincidences
        ],
    }
