"""`meijin class ladder`: the ladder of a class, under aliases for a projector."""

import hmac
import secrets
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Annotated

from meijin.cli.classes.roster import ClassArgument, get_class, names_of
from meijin.cli.command import Output
from meijin.cli.errors import CommandError
from meijin.cli.files import make_folder, read_private, write_private
from meijin.cli.ladder.standings import ladder_table, whole_table
from meijin.cli.options import LadderOption
from meijin.cli.output import console
from meijin.local.connection import Connection
from meijin.v1 import ladder_service_pb2 as pb

COLOURS = (
    "amber azure black blue bronze brown copper coral crimson cyan golden green grey indigo ivory "
    "jade lilac lime olive orange pink purple red rose ruby silver teal violet white yellow"
)
ANIMALS = (
    "badger bear beaver bison camel cat cobra crane crow deer dolphin dove duck eagle falcon ferret "
    "fox frog gecko goat goose hare hawk hedgehog heron horse ibis jackal koala lemur lion lizard "
    "lynx mole moose mouse newt orca otter owl panda pike puma raven robin salmon seal shark sloth "
    "squid stork swan tiger toad trout turtle walrus whale wolf yak"
)
ALIASES = tuple(" ".join(each) for each in product(COLOURS.split(), ANIMALS.split()))


def aliases(secret: str, handles: Iterable[str]) -> dict[str, str]:
    """An alias for each bot, which only who knows the secret can tell back.

    Those of earlier bots stay the same when later ones are added.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for handle in handles:
        digest = hmac.new(secret.encode(), handle.encode(), sha256).digest()
        place = int.from_bytes(digest[:8])
        while (alias := ALIASES[place % len(ALIASES)]) in taken:
            place += 1
        taken.add(alias)
        found[handle] = alias
    return found


def ladder(
    connection: Connection,
    name: ClassArgument,
    ladder_name: LadderOption = "",
    anonymous: Annotated[bool, "Aliases in place of names, and no versions."] = False,
    secret: Annotated[
        Path | None,
        "The file that the aliases hang on; CLASS/aliases.secret else, made when missing.",
    ] = None,
) -> Output:
    """Show where the bots of a class stand on a ladder, by their students' names or by aliases."""
    students = get_class(connection, name).students
    table = whole_table(connection, ladder_name)
    if anonymous:
        names = aliases(_secret(name, secret), [each.handle for each in students])
    else:
        names = names_of(students)
    shown = of_class(table, names, is_anonymous=anonymous)
    if not shown.standings:
        raise CommandError(f"no bot of {name} has rated games on {table.ladder.name}")
    return Output(shown, [ladder_table(shown, console.width)])


def of_class(
    table: pb.GetStandingsResponse, names: Mapping[str, str], *, is_anonymous: bool
) -> pb.GetStandingsResponse:
    """The lines of some bots, ranked among themselves and called by other names.

    Where they are to be anonymous, what tells them apart otherwise is left out.
    """
    shown = pb.GetStandingsResponse(ladder=table.ladder)
    for row in table.standings:
        if row.bot not in names:
            continue
        line = shown.standings.add()
        line.CopyFrom(row)
        line.rank = len(shown.standings)
        line.bot = names[row.bot]
        line.ClearField("superiority")  # over the next of the whole ladder
        if is_anonymous:
            line.version = line.hardware = line.version_id = line.digest = ""
            line.nodes_per_second = 0
            line.ClearField("configuration")
    return shown


def _secret(name: str, path: Path | None) -> str:
    """What the aliases hang on; made where there is none yet."""
    file = path or Path(name) / "aliases.secret"
    if kept := read_private(file):
        return kept
    make_folder(file.parent)
    made = secrets.token_hex(16)
    write_private(file, f"{made}\n", is_new=False)
    return made
