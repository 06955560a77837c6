"""`meijin bot bench`: how fast the reference search is on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated

from meijin.bots import AlphaBetaBot
from meijin.bots.builtin.bench import DEPTH, POSITIONS, run_bench
from meijin.bots.sdk.hardware import forget_speed, found_hardware, write_speed
from meijin.cli.command import Output, option
from meijin.cli.errors import CommandError
from meijin.cli.output import Styled
from meijin.wire.contract import MAX_NODES_PER_SECOND


def bench(
    seconds: Annotated[float, option("How long to search, in processor time.", 0.001, 3600)] = 10,
    forget: Annotated[bool, "Measure nothing, and tell servers nothing any more."] = False,
) -> Output:
    """Measure the reference search; bots on this machine tell servers the result from then on."""
    if forget:
        with _changing_settings():
            was_there = forget_speed()
        said = "forgotten" if was_there else "there was nothing to forget"
        return Output({"forgotten": was_there}, [said])
    AlphaBetaBot().prepare()
    found = run_bench(timedelta(seconds=seconds))
    rate, hardware = min(found.nodes_per_second, MAX_NODES_PER_SECOND), found_hardware()
    with _changing_settings():
        path = write_speed(rate)
    measured = {
        "nodes_per_second": rate,
        "hardware": hardware,
        "rounds": found.rounds,
        "nodes_per_round": found.nodes_per_round,
        "seconds": round(found.seconds, 3),
    }
    how = (
        f"{found.rounds} rounds of {found.nodes_per_round:,} nodes in {found.seconds:.1f} s of "
        f"processor time: {POSITIONS} positions, depth {DEPTH}"
    )
    kept = f"told to servers from now on; kept in {path}"
    said = f"{rate:,} nodes/s on one thread of {hardware}"
    return Output(measured, [said, Styled(how), Styled(kept)])


@contextmanager
def _changing_settings() -> Iterator[None]:
    """Say what is wrong with the user's folder of settings."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"can't change {error.filename}: {error.strerror}") from None
    except RuntimeError as error:
        raise CommandError(f"{error}; set XDG_CONFIG_HOME to a folder") from None
