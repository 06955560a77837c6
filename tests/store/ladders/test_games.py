"""Games of ladders: those that count, and repeats."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection
from tests.store.league import League
from tests.store.stored import stored

from meijin.game import Ending, Party, Result
from meijin.ladder.tally import Tally
from meijin.store.ladders import games
from meijin.store.ladders.games import fingerprint, logged_games
from meijin.store.ladders.sequencer import sequence
from meijin.store.schema import BotVersionId, Game

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW
LINE = (112, 113, 97)


def repeats(league: League) -> list[int]:
    """The numbers of the games that are marked as repeats."""
    marked = Game.is_repeat.is_(True) & (Game.ladder_id == league.ladder_id)
    return stored(league.database, Game.end_sequence, where=marked)


def test_an_equal_game_is_rated_once(any_league: League) -> None:
    """In one commit or in several; of what is voided the first repeat takes the place."""
    any_league.finish((0, 1, BLACK), (0, 1, BLACK), line=LINE)
    any_league.finish((0, 1, BLACK), (0, 1, BLACK), line=LINE)
    for voided, left in ((None, [2, 3, 4]), (3, [2, 4]), (1, [4]), (2, [])):
        if voided is not None:
            any_league.void(voided)
        assert repeats(any_league) == left
        assert any_league.snapshot().tally.games == 1


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
def test_another_game_is_rated_too(any_league: League, game: Any, changes: dict[str, Any]) -> None:
    """Other colours, other players, other moves, or another length of the opening."""
    any_league.finish((0, 1, BLACK), line=LINE)
    any_league.finish(game, **({"line": LINE} | changes))
    assert repeats(any_league) == []
    assert any_league.snapshot().tally.games == 2


def test_other_players_and_ladders_have_their_own_games(any_league: League) -> None:
    """The same players may play the same moves on each; a new version is a new player."""
    other = League(any_league.database, name="standard-15x15", bots=2)
    other.versions[:2] = any_league.versions[:2]
    any_league.finish((0, 1, BLACK), line=LINE)
    other.finish((0, 1, BLACK), line=LINE)
    any_league.renew(0, "2.0")
    any_league.finish((0, 1, BLACK), line=LINE)
    assert repeats(any_league) == repeats(other) == []


def test_equal_fingerprints_are_no_equal_games(any_league: League) -> None:
    """Two games whose hashes collide are compared move by move."""
    any_league.finish((0, 1, BLACK), (0, 1, BLACK))
    any_league.change_game(1, fingerprint=7)
    any_league.change_game(2, fingerprint=7)
    any_league.finish((0, 2, BLACK), (0, 2, BLACK), line=LINE)
    any_league.void(1)
    assert repeats(any_league) == [4]


@pytest.mark.parametrize(
    "end",
    [
        {"ending": Ending.RESIGN},
        {"ending": Ending.TIME, "at_fault": Party.WHITE},
        {"ending": Ending.ADJUDICATION, "result": WHITE},
    ],
)
def test_another_end_makes_another_game(any_league: League, end: dict[str, Any]) -> None:
    """A forfeit or a resignation on the same board is not what another bot's five is."""
    any_league.are_games_sequenced = False
    any_league.finish((0, 1, BLACK), (0, 1, BLACK), (0, 1, BLACK), line=LINE)
    any_league.change_game(2, **end)
    sequence(any_league.database, any_league.ladder_id)
    assert repeats(any_league) == [3]
    any_league.void(1)
    assert repeats(any_league) == []
    assert any_league.snapshot().tally.games == 2


@pytest.mark.parametrize("plies", [0, 3])
def test_a_game_without_a_move_repeats_none(any_league: League, plies: int) -> None:
    """A bot that breaks off before anything was played loses each game that it breaks off.

    Forfeits at the same move are told apart by who is at fault.
    """
    pair = [(0, 1, BLACK), (0, 1, BLACK)]
    any_league.finish(*pair, line=LINE[:plies], opening_plies=plies, forfeit=True)
    assert repeats(any_league) == []
    assert any_league.snapshot().tally.games == 2
    any_league.finish(*pair, (0, 1, WHITE), line=LINE, opening_plies=2, forfeit=True)
    assert repeats(any_league) == [4]


@pytest.mark.parametrize("voided", [[], [1], [1, 5], [2]])
def test_the_log_knows_the_same_games(any_league: League, voided: list[int]) -> None:
    """Read game by game, it leaves out what is marked, as it is now and as it was."""
    for line, plies in ((LINE, 0), (LINE[:1], 1)):
        any_league.finish((0, 1, BLACK), line=line, opening_plies=plies)
        for result in (BLACK, BLACK, WHITE):
            any_league.finish((0, 1, result), line=line, opening_plies=plies, forfeit=True)
    before = any_league.snapshot()
    assert (before.tally.games, before.tally.repeats) == (7, 1)
    for number in voided:
        any_league.void(number)
    for snapshot in (before, any_league.snapshot()):
        cutoff, count = snapshot.tally.cutoff, snapshot.ladder.voided

        def read(connection: Connection, *, cutoff: int = cutoff, voided: int = count) -> Tally:
            ladder_id = any_league.ladder_id
            return Tally.of(logged_games(connection, ladder_id, cutoff=cutoff, voided=voided))

        tally = any_league.database.read(read)
        assert (tally.chain, tally.games) == (snapshot.tally.chain, snapshot.tally.games)


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


def test_games_among_some_are_counted(any_league: League) -> None:
    """Those against anybody else are not; nobody has none."""
    any_league.finish((1, 0, BLACK), (0, 1, WHITE), (0, 2, BLACK), (2, 1, DRAW), (3, 0, WHITE))
    a, b, c = any_league.versions[:3]

    def among(*versions: BotVersionId) -> list[Any]:
        read = any_league.database.read
        return list(read(games.pair_counts_of, any_league.ladder_id, versions, versions))

    assert among(b, a) == [(a, b, 0, 0, 1), (b, a, 1, 0, 0)]
    assert among(c, b) == [(c, b, 0, 1, 0)]
    assert among() == []


def test_results_since_a_run_come_in_order(any_league: League) -> None:
    """Those that ended after its cut-off, the oldest first, and repeats left out."""
    any_league.finish((0, 1, BLACK), line=(7,))
    any_league.finish((1, 2, DRAW), (0, 1, BLACK), line=(7,))
    any_league.finish((2, 0, WHITE), (0, 2, BLACK))
    a, b, c = any_league.versions[:3]

    def since(cutoff: int, limit: int) -> list[Any]:
        read = any_league.database.read
        return list(read(games.results_since, any_league.ladder_id, cutoff, limit=limit))

    assert since(1, 9) == [(b, c, 0.5), (c, a, 0.0), (a, c, 1.0)]
    assert since(2, 1) == [(c, a, 0.0)]
    assert since(5, 9) == []
