"""`meijin bot bench`: how fast the reference search is on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated

import typer

from meijin.bots import AlphaBetaBot
from meijin.bots.builtin.bench import DEPTH, POSITIONS, run_bench
from meijin.bots.sdk.hardware import found_hardware
from meijin.bots.sdk.speed import forget_speed, write_speed
from meijin.cli.connection import JsonOption
from meijin.cli.errors import CommandError
from meijin.cli.output import console, print_json
from meijin.wire.contract import MAX_NODES_PER_SECOND


def bench(
    seconds: Annotated[
        float, typer.Option(min=0.001, max=3600, help="How long to search, in processor time.")
    ] = 10,
    forget: Annotated[
        bool, typer.Option("--forget", help="Measure nothing, and tell servers nothing any more.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure the reference search; bots on this machine tell servers the result from then on."""
    if forget:
        _forget(as_json=as_json)
    else:
        _measure(timedelta(seconds=seconds), as_json=as_json)


@contextmanager
def _changing_settings() -> Iterator[None]:
    """Say what is wrong with the user's folder of settings."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"can't change {error.filename}: {error.strerror}") from None
    except RuntimeError as error:
        raise CommandError(f"{error}; set XDG_CONFIG_HOME to a folder") from None


def _forget(*, as_json: bool) -> None:
    with _changing_settings():
        was_there = forget_speed()
    if as_json:
        print_json({"forgotten": was_there})
    else:
        console.print("forgotten" if was_there else "there was nothing to forget")


def _measure(duration: timedelta, *, as_json: bool) -> None:
    AlphaBetaBot().prepare()
    found = run_bench(duration)
    rate = min(found.nodes_per_second, MAX_NODES_PER_SECOND)
    with _changing_settings():
        path = write_speed(rate)
    if as_json:
        measured = {
            "nodes_per_second": rate,
            "hardware": found_hardware(),
            "rounds": found.rounds,
            "nodes_per_round": found.nodes_per_round,
            "seconds": round(found.seconds, 3),
        }
        print_json(measured)
        return
    console.print(f"{rate:,} nodes/s on one thread of {found_hardware()}")
    console.print(
        f"{found.rounds} rounds of {found.nodes_per_round:,} nodes in {found.seconds:.1f} s of "
        f"processor time: {POSITIONS} positions, depth {DEPTH}",
        style="dim",
    )
    console.print(f"told to servers from now on; kept in {path}", style="dim")
