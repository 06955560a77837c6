"""Games that are the same as an earlier one, on SQLite and PostgreSQL."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, select

from meijin.game import Ending, Party, Result
from meijin.ladder.tally import Tally
from meijin.store.ladders.log import FinishedGame, logged_games
from meijin.store.ladders.repeats import fingerprint
from meijin.store.ladders.sequencer import sequence
from meijin.store.schema import BotVersionId, Game

if TYPE_CHECKING:
    from tests.store.league import League

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW
LINE = (112, 113, 97)


def repeats(league: "League") -> list[int]:
    """The numbers of the games that are marked as repeats."""
    query = select(Game.end_sequence).where(
        Game.is_repeat.is_(True), Game.ladder_id == league.ladder_id
    )
    return league.database.read(
        lambda connection: [number or 0 for number in connection.scalars(query)]
    )


def test_an_equal_game_is_rated_once(any_league: "League") -> None:
    """In one commit or in several; its players, colours, opening and moves are what counts."""
    any_league.finish((0, 1, BLACK), (0, 1, BLACK), line=LINE)
    any_league.finish((0, 1, BLACK), line=LINE)
    assert sorted(repeats(any_league)) == [2, 3]
    assert any_league.snapshot().games == 1


@pytest.mark.parametrize(
    ("game", "changes"),
    [
        ((1, 0, BLACK), {}),
        ((0, 2, BLACK), {}),
        ((0, 1, BLACK), {"line": (*LINE, 98)}),
        ((0, 1, BLACK), {"line": LINE[:2]}),
        ((0, 1, BLACK), {"opening_plies": 1}),
    ],
)
def test_another_game_is_rated_too(
    any_league: "League", game: Any, changes: dict[str, Any]
) -> None:
    """Other colours, other players, other moves, or another length of the opening."""
    any_league.finish((0, 1, BLACK), line=LINE)
    any_league.finish(game, **({"line": LINE} | changes))
    assert repeats(any_league) == []
    assert any_league.snapshot().games == 2


def test_another_version_plays_another_game(any_league: "League") -> None:
    """A new version is a new player, though its bot is the same."""
    any_league.finish((0, 1, BLACK), line=LINE)
    any_league.renew(0, "2.0")
    any_league.finish((0, 1, BLACK), line=LINE)
    assert repeats(any_league) == []


def test_other_ladders_have_their_own_games(
    any_league: "League", make_league: "type[League]"
) -> None:
    """The same players may play the same moves once on each."""
    other = make_league(any_league.database, name="standard-15x15", bots=2)
    other.versions[:2] = any_league.versions[:2]
    any_league.finish((0, 1, BLACK), line=LINE)
    other.finish((0, 1, BLACK), line=LINE)
    assert repeats(any_league) == repeats(other) == []


def test_equal_fingerprints_are_no_equal_games(any_league: "League") -> None:
    """Two games whose hashes collide are compared move by move."""
    any_league.finish((0, 1, BLACK), (0, 1, BLACK))
    any_league.change_game(1, fingerprint=7)
    any_league.change_game(2, fingerprint=7)
    any_league.finish((0, 2, BLACK), (0, 2, BLACK), line=LINE)
    any_league.void(1)
    assert repeats(any_league) == [4]


def test_the_first_repeat_takes_a_voided_games_place(any_league: "League") -> None:
    """And of what is voided then, the next."""
    any_league.finish(*[(0, 1, BLACK)] * 3, line=LINE)
    any_league.void(1)
    assert repeats(any_league) == [3]
    any_league.void(2)
    assert repeats(any_league) == []
    assert any_league.snapshot().games == 1


def test_voiding_a_repeat_leaves_the_first(any_league: "League") -> None:
    """Nobody takes its place, since it had none."""
    any_league.finish(*[(0, 1, BLACK)] * 3, line=LINE)
    any_league.void(2)
    assert repeats(any_league) == [3]
    assert any_league.snapshot().games == 1


@pytest.mark.parametrize(
    "end",
    [
        {"ending": Ending.RESIGN},
        {"ending": Ending.TIME, "at_fault": Party.WHITE},
        {"ending": Ending.ADJUDICATION, "result": WHITE},
    ],
)
def test_another_end_makes_another_game(any_league: "League", end: dict[str, Any]) -> None:
    """A forfeit or a resignation on the same board is not what another bot's five is."""
    any_league.are_games_sequenced = False
    any_league.finish((0, 1, BLACK), (0, 1, BLACK), (0, 1, BLACK), line=LINE)
    any_league.change_game(2, **end)
    sequence(any_league.database, any_league.ladder_id)
    assert repeats(any_league) == [3]
    any_league.void(1)
    assert repeats(any_league) == []
    assert any_league.snapshot().games == 2


def test_forfeits_at_the_same_move_are_told_apart(any_league: "League") -> None:
    """By who is at fault: both are rated, and each of them once."""
    for result in (BLACK, WHITE, BLACK):
        any_league.finish((0, 1, result), line=LINE, forfeit=True)
    assert repeats(any_league) == [3]


@pytest.mark.parametrize("plies", [0, 3])
def test_a_game_without_a_move_repeats_none(any_league: "League", plies: int) -> None:
    """A bot that breaks off before anything was played loses each game that it breaks off."""
    games = [(0, 1, BLACK), (0, 1, BLACK)]
    any_league.finish(*games, line=LINE[:plies], opening_plies=plies, forfeit=True)
    assert repeats(any_league) == []
    assert any_league.snapshot().games == 2
    any_league.finish(*games, line=LINE, opening_plies=2, forfeit=True)
    assert repeats(any_league) == [4]


def _tally(connection: Connection, read: Callable[[Connection], Iterator[FinishedGame]]) -> Tally:
    return Tally.of(read(connection))


@pytest.mark.parametrize("voided", [[], [1], [1, 5], [2]])
def test_the_log_knows_the_same_games(any_league: "League", voided: list[int]) -> None:
    """Read game by game, it leaves out what is marked, as it is now and as it was."""
    for line, plies in ((LINE, 0), (LINE[:1], 1)):
        any_league.finish((0, 1, BLACK), line=line, opening_plies=plies)
        for result in (BLACK, BLACK, WHITE):
            any_league.finish((0, 1, result), line=line, opening_plies=plies, forfeit=True)
    before = any_league.snapshot()
    assert (before.games, before.repeats) == (7, 1)
    for number in voided:
        any_league.void(number)
    for snapshot in (before, any_league.snapshot()):
        read = partial(logged_games, ladder_id=any_league.ladder_id)
        read = partial(read, cutoff=snapshot.cutoff, voided=snapshot.voided)
        tally = any_league.database.read(partial(_tally, read=read))
        assert (tally.chain, tally.games) == (snapshot.chain, snapshot.games)


@given(
    black=st.integers(1, 2**40),
    white=st.integers(1, 2**40),
    plies=st.integers(0, 484),
    moves=st.binary(max_size=40),
)
def test_a_fingerprint_fits_a_column(black: int, white: int, plies: int, moves: bytes) -> None:
    """It is a signed number of 64 bits, and the same for the same game."""
    players = BotVersionId(black), BotVersionId(white)
    value = fingerprint(*players, plies, moves)
    assert -(2**63) <= value < 2**63
    assert value == fingerprint(*players, plies, bytes(moves))
    assert value != fingerprint(*players, plies + 1, moves)


def test_a_fingerprint_never_changes() -> None:
    """It is kept in databases: another hash would let every old game be played again."""
    assert fingerprint(BotVersionId(1), BotVersionId(2), 3, b"\x70\x00") == 434943161807187923
