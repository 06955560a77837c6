"""`meijin ladder verify` and `head`: what is published against the games, and against yesterday."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meijin.cli.command import Output, option
from meijin.cli.errors import CommandError
from meijin.cli.options import MAX_INT64, LadderArgument
from meijin.cli.server.database import ServerDatabase, server_database
from meijin.local.connection import Connection
from meijin.v1 import ladder_service_pb2 as pb

if TYPE_CHECKING:
    from meijin.ladder.verification.heads import CheckedHead


def verify(
    name: LadderArgument = "",
    run: Annotated[
        int | None, option("A run by its number; else the newest.", 1, MAX_INT64)
    ] = None,
    replay: Annotated[bool, "Play the moves of every game again, by its rule."] = False,
    heads: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="HEAD",
            help="Instead: whether games up to a head are the same. Its text, or a file of some.",
        ),
    ] = "",
    *,
    server: ServerDatabase,
) -> Output:
    """Compute a run again from the log of games, and compare it to the last byte.

    Reads the database itself, beside a running server or without one, and trusts the games
    alone. Names the first game, day, line and figure that differ, and then ends with 1.
    """
    if heads:
        if name or run is not None or replay:
            raise CommandError("--from goes without a ladder's name, --run and --replay")
        return _verify_heads(server, heads)
    with server_database(server) as url:
        from meijin.ladder.verification.verify import verify_named  # noqa: PLC0415 - not in the bare install

        found = verify_named(url, name, run, is_replayed=replay)
    value = {
        "ladder": found.ladder,
        "run": str(found.run.id),
        "games": found.run.games,
        "checksum": found.run.checksum,
        "voided_since": found.voided_since,
        "differences": list(found.differences),
    }
    said = f"as the games say, byte for byte ({found.run.checksum})"
    if found.differences:
        said = "NOT what the games say"
    lines = [f"{found.ladder}, run {found.run.id} of {found.run.games} games: {said}"]
    lines += found.differences
    if found.voided_since:
        lines.append(f"it stands for its time: games voided since: {found.voided_since}")
    return Output(value, lines, typer.Exit(1) if found.differences else None)


def _verify_heads(server: ServerDatabase, text: str) -> Output:
    with server_database(server) as url:
        from meijin.ladder.verification.heads import check_heads, heads_in  # noqa: PLC0415 - likewise

        path = Path(text)
        try:
            heads = heads_in(path.read_text() if path.is_file() else text)
        except ValueError as error:
            raise CommandError(str(error)) from error
        if not heads:
            raise CommandError(f"{text} is no head, and no file that holds one")
        found = check_heads(url, heads)
    value = [
        {
            **asdict(each.head),
            "day": str(each.head.day),
            "is_kept": each.is_kept,
            "voids": each.voids,
        }
        for each in found
    ]
    groups = groupby(found, key=lambda each: each.head.ladder)
    lines = [line for _, group in groups for line in head_lines(list(group))]
    is_rewritten = not all(each.is_kept for each in found)
    return Output({"heads": value}, lines, typer.Exit(1) if is_rewritten else None)


def head_lines(found: Sequence["CheckedHead"]) -> Iterator[str]:
    """What heads of a ladder say, oldest first: until when it is as it was, and where it is not."""
    ladder, kept, other = found[0].head.ladder, "", None
    for each in found:
        if not each.is_kept:
            other = each
            break
        kept = f"the {each.head.games} games up to {each.head.day} are those of its head"
    if other is None:
        yield f"{ladder}: {kept}"
    else:
        yield (
            f"{ladder}: REWRITTEN: of its head of {other.head.day} the games are others: "
            f"kept {other.head.games} and {other.head.chain}, "
            f"computed {other.games} and {other.chain}"
        )
        yield kept or "no earlier head says since when"
    voids = dict.fromkeys(void for each in found for void in each.voids)
    if voids:
        yield f"voided since by an operator: {'; '.join(voids)}"


def head(connection: Connection, name: LadderArgument = "") -> Output:
    """Print a line that binds all games so far: `verify --from` finds those rewritten since."""
    request = pb.GetStandingsRequest(ladder=name, page_size=1)
    found = connection.ask(connection.ladders.GetStandings, request)
    if not found.head:
        raise CommandError(f"{found.ladder.name} has no head before its next run; play rated games")
    return Output({"head": found.head}, [found.head])
