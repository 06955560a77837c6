"""Records of random games, for properties that every format has."""

import random
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from hypothesis import strategies as st
from tests.game.drawn_actions import any_action

from meijin.game import (
    GOMOKU,
    STANDARD,
    SWAP2,
    TIC_TAC_TOE,
    YAMAGUCHI,
    Analysis,
    Board,
    Choose,
    Color,
    Decision,
    Ending,
    GameEngine,
    GamePosition,
    GameRecord,
    OpeningRule,
    Outcome,
    Party,
    TimeControl,
    Variant,
)


def any_outcomes() -> st.SearchStrategy[Outcome]:
    valid = []
    for winner in (None, *Color):
        for ending in Ending:
            for party in Party:
                try:
                    valid.append(Outcome(ending, winner, party))
                except ValueError:
                    continue
    return st.builds(replace, st.sampled_from(valid), detail=st.text())


durations = st.timedeltas(timedelta(microseconds=1), timedelta(days=7))
time_controls = st.one_of(
    st.builds(
        TimeControl,
        durations,
        st.just(timedelta(0)) | durations,
        st.none() | durations,
        st.booleans(),
    ),
    st.builds(TimeControl, per_move=durations),
)
instants = st.datetimes(
    datetime(1900, 1, 2),  # noqa: DTZ001 - hypothesis adds the time zone
    datetime(2200, 1, 1),  # noqa: DTZ001
    timezones=st.builds(
        timezone,
        st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(
            lambda offset: timedelta(minutes=offset // timedelta(minutes=1))
        ),
    ),
)


def random_moves(variant: Variant, rng: random.Random) -> tuple[int, ...]:
    board = Board(variant)
    for cell in rng.sample(range(variant.cells), rng.randrange(variant.cells)):
        if board.is_over:
            break
        board.play(cell)
    return tuple(board.moves)


names = st.text(max_size=20)
counts = st.integers(0, 2**63 - 1)
engines = st.builds(GameEngine, names, st.lists(names, max_size=3).map(tuple), names)


@st.composite
def records(draw: st.DrawFn) -> GameRecord:
    variants = (
        GOMOKU,
        TIC_TAC_TOE,
        Variant(STANDARD, 22, 22),
        Variant(STANDARD, 5, 9, 6, draw_at=30),
    )
    variant = draw(st.sampled_from(variants))
    rng = random.Random(draw(st.integers()))
    moves = random_moves(variant, rng)
    return GameRecord(
        variant=variant,
        black=draw(names),
        white=draw(names),
        moves=moves,
        times=random_times(moves, rng) if draw(st.booleans()) else (),
        raw_times=random_times(moves, rng) if draw(st.booleans()) else (),
        analysis=random_analysis(moves, rng) if draw(st.booleans()) else (),
        opening_plies=rng.randrange(len(moves) + 1),
        time_control=draw(st.none() | time_controls),
        outcome=draw(st.none() | any_outcomes()),
        start_time=draw(st.none() | instants),
        end_time=draw(st.none() | instants),
        event=draw(names),
        game_id=draw(names),
        black_version=draw(names),
        white_version=draw(names),
        white_time_control=draw(st.none() | time_controls),
        black_engine=draw(engines),
        white_engine=draw(engines),
        pair=draw(counts),
        round=draw(counts),
        seed=draw(counts),
        release=draw(names),
    )


@st.composite
def swapped_records(draw: st.DrawFn) -> GameRecord:
    """The same with decisions of an opening, which not every format can say."""
    record = draw(records().filter(lambda record: record.variant.line > 3))
    rule = draw(st.sampled_from((SWAP2, YAMAGUCHI)))
    if rule == YAMAGUCHI or draw(st.booleans()):
        return draw(opened_records(rule))
    plies = [ply for ply in (3, 5) if ply <= len(record.moves)]
    sides = st.sampled_from(tuple(Color)).map(Choose)
    choice = st.builds(Decision, st.sampled_from(plies), sides) if plies else st.nothing()
    variant = replace(record.variant, opening_rule=rule)
    return replace(record, variant=variant, decisions=draw(st.just(()) | st.tuples(choice)))


@st.composite
def opened_records(draw: st.DrawFn, rule: OpeningRule) -> GameRecord:
    """An opening, from its first action to any other."""
    rng = random.Random(draw(st.integers()))
    variant = Variant(opening_rule=rule)
    position = GamePosition(Board(variant))
    for _ in range(draw(st.integers(0, 9))):
        position.act(any_action(position, rng))
    moves, decisions = tuple(position.board.moves), tuple(position.decisions)
    return GameRecord(variant, "a", "b", moves, decisions=decisions)


def random_times(moves: tuple[int, ...], rng: random.Random) -> tuple[timedelta, ...]:
    return tuple(timedelta(microseconds=rng.randrange(10 ** rng.randrange(1, 12))) for _ in moves)


def random_analysis(moves: tuple[int, ...], rng: random.Random) -> tuple[Analysis | None, ...]:
    return tuple(
        Analysis(
            rng.choice((None, rng.randrange(-(2**31), 2**31))),
            rng.choice((None, rng.randrange(99))),
            rng.choice((None, rng.randrange(2**63))),
            moves[:2],
        )
        if rng.random() < 0.5
        else None
        for _ in moves
    )
