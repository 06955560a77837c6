"""Draws: what bots, their links and tournaments are like in a world."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.simulation.bot import Temper
from tests.simulation.network import Link

from meijin.game import SWAP, SWAP1, SWAP2, TimeControl, Variant
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.values import time_control_to_proto, variant_to_proto

MS = 1_000_000
FORMATS = pb.TournamentFormat
VARIANTS = [
    Variant(width=3, height=3, line=3),
    Variant(width=4, height=4, line=3),
    Variant(width=4, height=3, line=4),
    Variant(width=5, height=5),
    Variant(width=4, height=4, line=4, opening_rule=SWAP1),
    Variant(width=5, height=5, line=4, opening_rule=SWAP),
    Variant(width=5, height=5, opening_rule=SWAP2),
]
FREE_VARIANTS = VARIANTS[:4]
"""Those without an opening rule."""
CONTROLS = ["0.4+0.05", "1+0.1", "0.3/move", "1+0.1,0.4/move"]


def draw_link(rng: Random) -> Link:
    latency_ns = rng.choice([0, MS // 10, MS, MS, 30 * MS])
    return Link(latency_ns, rng.choice([0, MS // 10, 5 * MS]))


def draw_temper(rng: Random) -> Temper:
    rare = 0.02
    often = rng.random() < 0.3
    return Temper(
        think_ms=rng.choice([1, 3, 10]),
        slow=rng.choice([0, 0, 0.05]),
        late=rare if rng.random() < 0.2 else 0,
        illegal=rare if rng.random() < 0.3 else 0,
        fail=rare if rng.random() < 0.2 else 0,
        resign=rare if rng.random() < 0.3 else 0,
        double=0.2 if often else 0,
        stale=0.1 if often else 0,
        mute=rng.choice([0, 0, 0.5]),
        goodbye=0.005 if rng.random() < 0.2 else 0,
        max_games=rng.choice([1, 4, 8, 16]),
    )


def draw_tournament(
    rng: Random, names: list[str], variants: Sequence[Variant]
) -> pb.TournamentSettings:
    message = pb.TournamentSettings(
        name="simulated",
        variant=variant_to_proto(rng.choice(variants)),
        time_control=time_control_to_proto(TimeControl.parse(rng.choice(CONTROLS))),
        seed=rng.randrange(1000),
        max_games=rng.choice([0, 0, 0, 3]),
        unrated=rng.random() < 0.3,
    )
    forms = ["ROUND_ROBIN", "GAUNTLET", "SPRT"] + ["SWISS", "KNOCKOUT"] * (len(names) > 2)
    form = rng.choice(forms)
    message.format = FORMATS.Value(f"TOURNAMENT_FORMAT_{form}")
    bots = list(names)
    if form == "SPRT":
        bots = names[:2]
        message.sprt.most_games = 2 * rng.randint(4, 16)
        message.sprt.elo1 = 5
    elif form == "SWISS":
        message.rounds = rng.randint(2, 3)
        message.swiss.seeding = pb.SEEDING_GIVEN
    elif form == "KNOCKOUT":
        message.knockout.seeding = pb.SEEDING_GIVEN
        message.knockout.pairs = rng.randint(1, 2)
    else:
        message.rounds = rng.randint(1, 6)
    message.bots.extend(bots)
    return message
