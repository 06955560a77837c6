"""`meijin class copies`: pairs of bots that play alike far more than their strength explains."""

from collections import Counter
from typing import Annotated

from meijin.cli.classes.report import student_report
from meijin.cli.classes.roster import ClassArgument, get_class
from meijin.cli.command import Output, option
from meijin.cli.errors import needed_parts
from meijin.local.connection import Connection

RISK = 0.01
MOST_GAMES = 2000
"""Of each bot; the newest."""


def copies(
    connection: Connection,
    name: ClassArgument,
    risk: Annotated[
        float, option("The chance to name anybody in a class where nobody has copied.", 1e-9, 0.5)
    ] = RISK,
) -> Output:
    """Show pairs of bots that play the same moves where others differ: a signal, and no proof.

    "Alike" are bots as one school or one public source makes them, "copied" those that have
    more in common. The more games from the same openings, the more it can tell; `meijin class grade` has
    everybody begin from the same ones.
    """
    with needed_parts():
        from meijin.cli.classes.choices import find_copies  # noqa: PLC0415 - it needs numpy
        from meijin.ladder.statistics.diagnosis.copied_play import (  # noqa: PLC0415 - so too
            FEWEST_BOTS,
            Likeness,
        )

    students = get_class(connection, name).students
    games = [student_report(connection, name, each, MOST_GAMES).games for each in students]
    compared, found = find_copies(students, games, risk)
    pairs = len(students) * (len(students) - 1) // 2
    words = Counter(each.signal.likeness for each in found)
    said = (
        f"{name}: {compared} of {pairs} pairs have met enough positions where {FEWEST_BOTS} bots "
        f"or more were; copied: {words[Likeness.COPIED]}, alike: {words[Likeness.ALIKE]}"
    )
    value = {"class": name, "compared": compared, "pairs": [each.as_json() for each in found]}
    return Output(value, [said, *(line for each in found for line in each.lines())])
