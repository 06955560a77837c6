"""The judge of one game, with a clock that only the tests move."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.game.arbiter.match import Match
from tests.game.drawn_actions import any_action
from tests.server.scenarios import scenarios

from meijin.game import (
    OPENING_RULES,
    RENJU,
    TIC_TAC_TOE,
    Board,
    Clock,
    Color,
    Ending,
    OpeningRule,
    Outcome,
    Placement,
    Seat,
    TimeControl,
    Variant,
    encode_action,
)
from meijin.game.arbiter.arbiter import Arbiter
from meijin.game.arbiter.moment import NS_PER_SECOND

SMALL = Variant(width=5, height=5)
BLOCKED = [
    *(20, 0, 42, 41, 6, 26, 22, 1, 3, 39, 25, 18, 46, 33, 23, 13, 21, 29, 4, 10, 40, 27, 47, 5),
    *(16, 48, 12, 7, 15, 35, 45, 9, 36, 24, 44, 17, 38, 34, 2, 28, 11, 19, 8, 14, 31, 30, 37, 32),
]
"""A game of renju on 7x7 that leaves black one cell, which would make six in a row."""


def match_on(variant: Variant, control: str = "60+1") -> Match:
    """A match on a board that its terms have no words for."""
    match = Match()
    clock = Clock(TimeControl.parse(control))
    match.arbiter = Arbiter(Board(variant), clock, grace_ns=30 * NS_PER_SECOND)
    return match


RENJU_7 = Variant(RENJU, 7, 7)
LAST_MOVES = {
    "five in a row": (SMALL, (0, 5, 1, 6, 2, 7, 3, 8, 4), Outcome(Ending.FIVE, Color.BLACK)),
    "a full board": (TIC_TAC_TOE, (0, 1, 2, 4, 3, 5, 7, 6, 8), Outcome(Ending.DRAW)),
    "a line on a full board": (
        TIC_TAC_TOE,
        (0, 1, 2, 3, 4, 5, 7, 6, 8),
        Outcome(Ending.FIVE, Color.BLACK),
    ),
    "this many stones, though cells are free": (
        replace(TIC_TAC_TOE, draw_at=8),
        (0, 1, 2, 4, 3, 5, 7, 6),
        Outcome(Ending.DRAW),
    ),
    "no empty cell but fouls": (RENJU_7, BLOCKED, Outcome(Ending.DRAW)),
    "what is a foul for black alone": (RENJU_7, (42, 8, 43, 9, 45, 17, 46, 24, 48, 10), None),
}


@pytest.mark.parametrize(("variant", "cells", "end"), LAST_MOVES.values(), ids=LAST_MOVES)
def test_the_last_move_ends_the_game(
    variant: Variant, cells: Sequence[int], end: Outcome | None
) -> None:
    """On the board there is no fault and no evidence, and all moves have their times."""
    match = match_on(variant)
    match.do_turns(*map(str, cells))
    assert match.outcome == end
    match.do_proof()
    match.do_moves(*map(str, cells))


SCENARIOS = """\
black may resign at any time, which is nobody's fault
    60+1 | turn 12; resign A; ends resign nobody; wins white
white may, whose turn it is
    60+1 | turn 12; resign B; ends resign nobody; wins black
an illegal move forfeits, by the move and the position it was made in
    60+1 | turn 12; turn 12; ends illegal white c3 is occupied; moves 12;
        proof cell=12 ply=1 moves=[12]
a move off the board is illegal
    60+1 | turn 25; ends illegal black off the 5x5 board
a foul forfeits with an ending of its own
    60+1 renju 7x7 | turns 8 42 9 43 17 45 24 46 10; evidence cell=10;
        ends forbidden black d6 is forbidden to black by the renju rule: double-three;
        moves 8 42 9 43 17 45 24 46
a move for another ply does nothing
    60+1 | turn 12; ask; stale 12 ply=0; stale 12 ply=2; stale 12 ply=99; on; play 13
a move before its turn was requested does nothing
    60+1 | stale 12; turn 12; stale 13; moves 12
a move that was read before its turn was requested does nothing
    60+1 | wait 1; ask; stale 12 ago=.001; moves; play 12
a move for the opponent does nothing
    60+1 | ask; wrong 12; moves; play 12
a reported failure forfeits
    60+1 | turn 12; fail A boom; ends crash black boom; proof message='boom' ply=1
nothing changes a game that is over
    60+1 | turn 12; fail A boom; resign B; fail B late; void server late; leave A; wait 1000; look;
        stale 13; ends crash black boom; proof message='boom' ply=1
a void game counts for nothing
    60+1 | turn 12; void operator cancelled; ends void operator cancelled;
        proof ply=1 detail='cancelled'
a game is adjudicated once
    60+1 | turn 0; adjudicate white; adjudicate black; resign B; ends adjudication nobody;
        wins white; stale 1

waiting for the request costs nothing, and a move earns the increment
    60+1 | wait 500; turn 12 10; wait 500; turn 13 2.5; left 51 58.5; raw 10 2.5; charged 10 2.5
a clock runs down while its side thinks, and stands while the server does or the bot is away
    60+1 | shown 60 60; ask; wait 7 stalled=2; shown 55 60; wait 100; shown 0 60; leave A;
        wait 100; shown 0 60
a clock is exact to the microsecond of an increment
    1.5+0.000001 | turn 12 1; left .500001 1.5
each side has its own clock, and what of its lag and absence is forgiven
    600+5:1 | ask 600; wait 30; play 0; ask 1; wait .4; play 1; ask 575; turn 2 9 lag=.5;
        turn 3 .5 lag=.5; left 571.5 .35; turn 4; ask; leave B; wait 1.2; look; back B;
        credited-absence 0 1; turn 5 .5; ends time white
a move may take all that is on the clock
    60 | turn 12 60; on; left 0 60
a nanosecond more is too late
    60 | ask; wait 60; look; on; tick; play 12; ends time black
a late move forfeits, with all that this was decided by
    600,5/move | ask; wait 6; play 12; left 0 600; moves;
        ends time black 6.000 s for a move that had 5.000 s;
        proof ply=0 cell=12 raw_us=6000000 stall_us=0 lag_us=0 lag_credit_us=0
        lag_bound_us=500000 charged_us=6000000 budget_us=5000000 used_us=0 margin_us=0
        thinking_us=None ping_us=0
a move that does not come forfeits
    60 | ask; wait 61; look; left 0 60; ends time black 61.000 s for a move that had 60.000 s;
        evidence cell=None raw=61 charged=61 ping=0
without an answer its way may take half a second
    60 | ask; wait 60.5; look; on; tick; look; ends time black
a cap limits every move, however much is on the clock
    60,5/move | turn 12 5; turn 13 1; left 55 59; turn 14 5.001; ends time black
the server's stalls are nobody's time
    60 | wait 7 stalled=7; turn 12 10 stalled=4; left 54 60; turn 13 10; left 54 50; raw 10 10;
        charged 6 10
nobody's clock gains by a stall
    60 | turn 12 1 stalled=3; left 60 60; charged 0
lag is credited up to half a second a move
    60 | turn 12 10 lag=.2; turn 13 10 lag=7; left 50.2 50.5
lag is credited up to the time taken
    60 | turn 12 .1 lag=.4; left 60 60; charged 0
lag is credited up to a share of the time control, and not the other's
    4 22x22 | rally 12 .3 .3 lag=.3; left 3.8 2.2; credited-lag 1.6 0
the way is what the bot did not think
    60 | turn 12 10 lag=.01 thinking=9.8; turn 13 10 lag=.2 thinking=12; left 50.2 50.2
what was used before an absence is no way
    60 | ask; wait 5; leave A; back A; turn 12 2 thinking=1.9; left 53.1 60
each side is told what its last answer was charged
    60+1 | charge A; turn 12 3 lag=.25; charge A 3 .25 2.75; charge B; turn 13 2 stalled=.5;
        charge B 2 0 1.5; turn 14 1; charge A 1 0 1
times are kept to the nanosecond, in eight bytes each as soon as one needs them
    600+1 | turn 0 1; turn 3 4; width 4; turn 6 5; width 8; turn 9 1; turn 12 400; turn 15 2;
        raw 1 4 5 1 400 2; charged 1 4 5 1 400 2

a move may overstep its time by the margin, and is charged what the clock has
    60+1 margin=.05 | turn 12 60.05; on; left 1 60; charged 60; credited-margin .05 0
a late answer is charged less the margin
    1/move margin=.5 | turn 12 1.25; charge A 1.25 0 1
beyond the margin the flag falls
    5/move margin=.05 | ask; wait 5.05; tick; play 12; ends time black; evidence margin=.05
beyond the margin the flag falls without an answer
    5/move margin=.05 | ask; wait 5.55; look; on; tick; look; ends time black; evidence margin=.05
the margins of a game come to an end: ten whole ones, and no more
    1/move margin=.05 22x22 | rally 20 1.05; on; rally 1 1.001; ends time black

a late move is held until a ping is answered, and judged once
    5/move | ask; wait 5.2; held 12; up; shown 0 5; on; moves; stale 13; ping .01;
        ends time black; evidence cell=12 ping=.01 lag_credit=.01
a move that could still be answered in time is not swept away
    5/move | ask; wait 5.4; look lag=.5; on; wait .2; look lag=.5; ends time black
a fresh round trip saves a held move
    5/move | turn 12 5.2 lag=.01 ping=.2; on; down; charged 5
a ping that is not answered has a second of the server's own time
    5/move | ask; wait 6; flag; wait 1; quiet; on; wait 3 stalled=3; quiet; on; tick; quiet;
        ends time black; evidence ping=None
a stall that is found since lowers the flag, and the next one needs a ping of its own
    5/move | ask; wait 6; flag; unseen 2; ping; on; down; wait 2; flag; ping; ends time black
leaving while the flag is up saves nothing
    5/move | ask; wait 6; held 12; leave A; down; ping; on; back A; ask 0; play 12; ends time black
a flag that is up falls for no later turn
    5/move | ask; wait 6; flag; unseen 2; play 12; ask; wait 4; ping; on
no flag falls before our own threads have carried a probe, though the ping is answered
    1/move | ask; wait 2; carry; flag; wait .1; ping .01; quiet; up; carry; quiet;
        ends time black; evidence ping=.01
no patience ends while our own threads stand still
    1/move | ask; wait 2; carry; flag; wait 60; quiet; on; carry; quiet; ends time black
a held move that proves to be in time waits for no probe
    1/move | ask; carry; wait 1.1; held 12; ping .2; on; moves 12

absence beyond the grace forfeits
    60+1 | turn 12; leave A; wait 30; look; on; wait 1; look; ends disconnect black away for 31.0 s;
        proof ply=1 away_us=31000000 grace_left_us=30000000 away_on_turn_us=0
        free_left_us=10000000
leaving to think loses
    0.5+0.05 margin=.05 | ask; leave A; watch 5; evidence away_on_turn=.5 budget=.5;
        ends disconnect black away for 1.1 s on its turn: 0.600 s are on its clock
the grace is for all absences together
    60+1 | leave B; wait 12; look; back B; wait 500; look; leave B; wait 12; look; back B;
        here B; wait 500; look; leave B; wait 6; look; on; wait .001; look;
        ends disconnect white
leaving twice is one absence
    60+1 | leave B; wait 20; leave B; wait 20; look; ends disconnect white
each side has a grace of its own
    60+1 | leave A; wait 29; look; back A; leave B; wait 29; look; back B; on
the clock of an absent bot stands
    10/move | ask; wait 6; leave A; wait 25; look; on; back A; wait 100; look; turn 12 3; raw 9;
        on
leaving on the own turn is free for a while, and runs on the clock then
    0.5+0.05 | ask; leave A; wait .5; look; back A; ask .5; leave A; wait .2; look; back A;
        ask .3; on; credited-absence .5 0
leaving again before the turn was asked anew counts
    0.5 | ask; leave A; wait .5; back A; leave A; wait .5; back A; on; ask 0
nobody thinks about a turn that it has not seen
    0.5 | leave B; turn 12; wait 20; look; on; back B; ask .5; credited-absence 0 0
nobody's clock runs while both are away
    3 | ask; leave A; wait 1; leave B; wait 20; look; back B; wait 1; look; back A; on;
        credited-absence 2 0; ask 3
an outage gives an absence from a turn back
    3 | ask; leave A; wait 3.4; look; excuse; wait 20; look; back A; on; ask 3; credited-absence 0 0
a stall is no absence from a turn
    1 | ask; leave A; wait 100 stalled=99; look; on; back A; ask 1
time used before an absence counts
    10/move | ask; wait 6; leave A; back A; ask 4; wait 5; look; ends time black;
        evidence raw=11
a stall before an absence is not used time
    10/move | ask; wait 6 stalled=5; leave A; back A; turn 12 8; on; raw 9
the opponent's clock runs on
    10/move | ask; leave B; wait 11; look; ends time black
a turn is asked anew on the next stream, and only then answered
    60+1 | ask; leave A; back A; stale 12
an absence since a restart is the server's
    60+1 | leave A excused; leave B excused; wait 10; back B; wait 21; look;
        ends void server black did not return after an outage; evidence away=31
an excused absence takes nothing from the grace
    60+1 | leave A excused; wait 29; back A; leave A; wait 30; look; on; wait .001; look;
        ends disconnect black
an outage excuses absences, and makes nobody absent
    60+1 | leave A; wait 29; excuse; here B; wait 29; look; on; wait 2; look; ends void server
a stall is no absence
    60+1 | leave A; wait 60 stalled=31; look; on; wait 2; look; ends disconnect black;
        evidence away=31
an absence ends when the bot came, not when it was let in
    60+1 | leave A; wait 29; back A ago=29; leave A; wait 40; back A ago=20; leave A; wait 10;
        look; on; wait .001; look; ends disconnect black
two absent bots are the network's
    60+1 | leave A; wait 29; leave B; wait 2; look; ends void network both bots were away;
        evidence away=31
two absent bots are the network's, whoever left first
    60+1 | leave B; wait 29; leave A; wait 2; look; ends void network both bots were away

the second player chooses white, and is to move
    60+1 swap2 9x9 | turn 0,7,14; turn white; mover B; turn 40; mover A
the first player chooses after two more
    60+1 swap2 9x9 | turn 0,7,14; turn 20,21; mover A choose-a-side; turn white; mover A
too few stones of an opening are illegal
    60+1 swap2 9x9 | turn 0,1; ends illegal black the task is to place 3 stones; evidence moves=[]
an occupied cell of a placement is illegal
    60+1 swap2 9x9 | turn 5,6,5; ends illegal black; moves
a choice before the stones and one after the choice have no effect, and the turn goes on
    60+1 swap2 9x9 | unasked white; turn 0,7,14; turn white; unasked white; unasked 30,31; on;
        turn 40
an action of an opening by the other player is refused
    60+1 swap2 9x9 | ask; wrong 0,7,14; wrong 3; turn 0,7,14; ask; wrong black
each action takes its time and has one increment, whatever the number of its stones
    60+1 swap2 9x9 | turn 0,7,14 10; left 51 60; turn black 20; left 51 41; turn 40 5; left 47 41;
        chosen 20 20; charged 10 0 0 5
an opening is charged to who acted, whatever colour that seat then has
    60+1 swap2 9x9 | turn 0,7,14 3; turn white 2; turn 40 1; charge A 3 0 3; charge B 1 0 1
a flag falls before the opening; the first player counts as black until a side is chosen
    60+1 swap2 9x9 | ask; wait 120; look; ends time black
a flag falls after the choice
    60+1 swap2 9x9 | turn 0,7,14; turn black; ask; wait 120; look; ends time white
a late choice is held, and takes its place once the way is known
    60+1 swap2 9x9 | turn 0,7,14; ask; wait 60.1; held black; ping .2; on; down; mover A;
        moves 0 7 14
the fault is that of the colour after a swap
    60+1 swap1 9x9 | turn 40; turn black; fail B boom; ends crash black boom
"""
"""What each is to show; and indented, the terms of a `Match` and its steps."""


@pytest.mark.parametrize(("_", "steps"), scenarios(SCENARIOS), ids=dict(scenarios(SCENARIOS)))
def test_the_arbiter_judges_each_scenario(_: str, steps: str) -> None:
    """Each as its name says; `Match` has the words."""
    terms, _, steps = steps.partition(" | ")
    Match(terms).carry_out(steps)


def test_a_flag_is_not_held_up_by_one_stream_after_the_other() -> None:
    """A bot that replaces its stream whenever a ping is under way loses all the same."""
    match = Match("5/move")
    match.carry_out("ask; wait 5.6")
    for _ in range(30):
        match.do_wait("0.04")
        match.glance()
        match.carry_out("leave A; back A; ask")
    match.carry_out("ends time black; evidence ping=None")


@given(st.sampled_from([*OPENING_RULES.values()]), st.randoms(use_true_random=False))
def test_what_is_stored_leads_to_the_same_game(rule: OpeningRule, rng: random.Random) -> None:
    """Its position, its clocks, and what each side was charged last, under any opening rule."""
    terms = f"60+1 {rule.name} 9x9"
    match, stored = Match(terms), []
    arbiter = match.arbiter
    while arbiter.board.ply < 8 and arbiter.outcome is None:
        action = any_action(arbiter.position, rng)
        match.do_ask()
        match.do_wait(str(rng.random()))
        match.answer(action, lag=rng.choice((0, 0.1)))
        codes = encode_action(action)
        first = arbiter.decision_ns[-1:]
        if isinstance(action, int | Placement):
            first = [(arbiter.raw_ns[-len(codes)], arbiter.charged_ns[-len(codes)])]
        times = [*first, *[(0, 0)] * (len(codes) - 1)]
        stored += [(code, *time) for code, time in zip(codes, times, strict=True)]
        again = Match(terms)
        for move in stored:
            again.arbiter.replay(*move)
        assert _state(again) == _state(match)


def _state(match: Match) -> list[object]:
    arbiter = match.arbiter
    seats = [(match.left(seat), arbiter.credits[seat].charge) for seat in Seat]
    times = [arbiter.raw_ns, arbiter.charged_ns, arbiter.decision_ns]
    return [arbiter.board, arbiter.position.turns, arbiter.turns, arbiter.task, times, seats]
