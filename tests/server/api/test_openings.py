"""Explored positions, held against all games looked at one by one."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, update
from tests.ladder.counted import count_openings
from tests.query_plans import plans
from tests.server_in_test import FIVE, SMALL, ServerInTest, play_to_five
from tests.store.league import League
from tests.store.made_up import publish, run_of

from meijin.game import GOMOKU, Ending, Result, Variant, decode_moves, encode_moves
from meijin.game.board.symmetry import symmetries
from meijin.ladder.statistics.elo import wilson_interval
from meijin.server.api.answers.openings import explore, games_of
from meijin.store import Database
from meijin.store.ladders.openings import DEPTH
from meijin.store.schema import Game, StrengthBand, Tournament
from meijin.v1 import game_pb2
from meijin.v1 import opening_service_pb2 as pb
from meijin.wire.values import variant_to_proto

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW
VARIANTS = tuple(
    map(Variant.parse, ("freestyle 7x7", "renju 15x15 swap2", "freestyle 9x6", "caro 5x8"))
)
Line = tuple[Sequence[int], Result]
SMALL_BOARD = variant_to_proto(SMALL)


@pytest.fixture
def league(tmp_path: Path) -> Iterator[League]:
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        yield League(database)


def play(league: League, games: Sequence[Line], variant: Variant = GOMOKU) -> None:
    change = update(Tournament).values(variant=variant)
    league.database.write(partial(Connection.execute, statement=change))
    for place, (line, result) in enumerate(games):
        league.finish((place % 2, 2 + place // 2 % 2, result), line=line)
    agreed = update(Game).values(ending=Ending.ADJUDICATION)
    league.database.write(partial(Connection.execute, statement=agreed))
    count_openings(league.database)


def look(
    league: League,
    moves: Sequence[int],
    variant: Variant = GOMOKU,
    strength: StrengthBand | None = None,
) -> pb.ExploreResponse:
    return league.database.read(partial(explore, variant=variant, moves=moves, strength=strength))


def some_games(variant: Variant, games: int) -> list[Line]:
    """Lines that often meet: in other orders, and as mirror images."""
    rng = random.Random(variant.cells)
    cells = rng.sample(range(variant.cells), 5)
    lines = []
    for _ in range(games):
        length = rng.randrange(DEPTH + 4)
        start = rng.sample(cells, min(length, rng.randrange(1, 6)))
        left = [cell for cell in range(variant.cells) if cell not in cells]
        line = start + rng.sample(left, length - len(start))
        image = rng.choice(symmetries(variant))
        lines.append(([image[cell] for cell in line], rng.choice((BLACK, WHITE, DRAW))))
    # A line that is there twice would repeat, were its players the same.
    return list({tuple(line): (line, result) for line, result in lines}.values())


def stones(moves: Sequence[int]) -> tuple[frozenset[int], frozenset[int]]:
    return frozenset(moves[::2]), frozenset(moves[1::2])


def looked_at(
    games: Sequence[Line], moves: Sequence[int], variant: Variant
) -> dict[tuple[int, ...], list[Result]]:
    """The results after each set of cells that symmetry makes one move; after none the ends."""
    found: dict[tuple[int, ...], list[Result]] = defaultdict(list)
    for line, result in games:
        if len(line) < len(moves):
            continue
        cells: set[int] = set()
        is_here = False
        for image in symmetries(variant):
            if stones([image[cell] for cell in line[: len(moves)]]) == stones(moves):
                is_here = True
                cells |= {image[cell] for cell in line[len(moves) :][:1]}
        if is_here:
            found[tuple(sorted(cells))].append(result)
    return found


def results_of(results: Sequence[Result]) -> pb.OpeningResults:
    wins, draws, losses = (results.count(each) for each in (BLACK, DRAW, WHITE))
    message = pb.OpeningResults(black_wins=wins, draws=draws, white_wins=losses)
    if results:
        points = wins + draws / 2
        message.black_score = points / len(results)
        message.black_score_low, message.black_score_high = wilson_interval(points, len(results))
    return message


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_positions_are_what_the_games_say(league: League, variant: Variant) -> None:
    """Of every game, at every ply, from any side: moves, their results and their mirror images."""
    games = some_games(variant, 50)
    play(league, games, variant)
    rng = random.Random(1)
    asked = [rng.choice(games)[0][: rng.randrange(DEPTH + 1)] for _ in range(40)]
    for moves in ([], *asked):
        expected = looked_at(games, moves, variant)
        ended = expected.pop((), [])
        found = look(league, moves, variant)
        assert found.ended == results_of(ended)
        assert found.results == results_of([*ended, *chain(*expected.values())])
        assert {
            tuple(sorted((each.cell, *decode_moves(each.same_cells)))): each.results
            for each in found.continuations
        } == {cells: results_of(results) for cells, results in expected.items()}
        counts = [games_of(each.results) for each in found.continuations]
        assert counts == sorted(counts, reverse=True)
        assert found.counted_games == len(games)


def test_variants_are_apart(league: League) -> None:
    """The same stones under another rule, or another opening rule, are none of this one's."""
    play(league, [([112, 113], BLACK)])
    for text in ("standard 15x15", "freestyle 15x15 swap2", "freestyle 15x15 draw at 200"):
        found = look(league, [], Variant.parse(text))
        assert found == pb.ExploreResponse(
            results=pb.OpeningResults(),
            ended=pb.OpeningResults(),
            counted_games=1,
            depth=DEPTH,
            variants=found.variants,
            variant=found.variant,
        )


def test_games_by_strength(league: League) -> None:
    """A filter takes those of a band; what bands there are is told in any case."""
    play(league, [([112, 113], BLACK)])
    publish(league, run_of(league, 1, elo=1502.0))
    play(league, [([112, 114], WHITE), ([112, 115], DRAW)])
    bands = [
        pb.StrengthResults(strength=pb.STRENGTH_BAND_UNRATED, results=results_of([BLACK])),
        pb.StrengthResults(strength=pb.STRENGTH_BAND_FROM_1400, results=results_of([DRAW, WHITE])),
    ]
    assert list(look(league, [112]).strengths) == bands
    for band, told in zip((StrengthBand.UNRATED, StrengthBand.FROM_1400), bands, strict=True):
        found = look(league, [112], strength=band)
        assert (found.results, list(found.strengths)) == (told.results, bands)
        games = sum(games_of(each.results) for each in found.continuations)
        assert games == games_of(told.results)
        assert len(found.games) == len(found.continuations)


def test_the_last_games_are_shown(league: League) -> None:
    """Of each move and band, the newest first, at most ten; none that was voided."""
    play(league, [([1, 17, cell], BLACK) for cell in range(100, 114)])
    shown = look(league, [1, 17]).games
    numbers = [int(game.game_id) - league.ladder_id * 1_000_000 for game in shown]
    assert numbers == sorted(numbers, reverse=True)
    assert (len(shown), numbers[0]) == (10, 14)
    league.void(14)
    assert list(look(league, [1, 17]).games) == list(shown[1:])


def test_a_position_is_found_by_its_key(league: League) -> None:
    """No game is looked through, however many there are."""
    play(league, [([112, 113], BLACK)])
    with plans(league.database) as found:
        look(league, [112])
    assert len(found) > 1
    assert not [plan for plan in found if "SCAN" in plan and "opening_cursor" not in plan]


# -- over the contract ------------------------------------------------------------


async def look_up(server: ServerInTest, moves: Sequence[int] = (), **more: Any) -> Any:
    """What was played after some moves on the small board."""
    fields = {"variant": SMALL_BOARD, "moves": encode_moves(moves), **more}
    return await server.ask("OpeningService/Explore", **fields)


async def test_a_position_of_games(server: ServerInTest) -> None:
    """Nothing before the worker has counted; then what is left of what was asked for."""
    players = await server.pair(rounds=1)
    await play_to_five(players)
    before = await look_up(server)
    assert (before.counted_games, len(before.continuations)) == (0, 0)
    assert not before.results.HasField("black_score")
    await asyncio.to_thread(count_openings, server.database)
    found = await look_up(server, FIVE[:2])
    (continuation,), (game,) = found.continuations, found.games
    assert (found.results.black_wins, continuation.cell) == (1, FIVE[2])
    assert (game.game_id, game.state) == (continuation.game_id, game_pb2.GAME_STATE_FINISHED)
    assert [(each.variant, each.games) for each in found.variants] == [(SMALL_BOARD, 1)]
    other = await look_up(server, FIVE[:2], strength=pb.STRENGTH_BAND_FROM_1800)
    assert not other.continuations
