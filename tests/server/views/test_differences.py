"""Where two versions of a bot play otherwise."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.store.league import League

from meijin.game import GOMOKU, Result, decode_moves, encode_moves
from meijin.game.board.coordinates import parse_cell
from meijin.game.board.symmetry import symmetries
from meijin.server.views import differences
from meijin.server.views.differences import VersionComparison, VersionMove, compare_versions
from meijin.store import Database
from meijin.store.bots import list_versions
from meijin.store.errors import RowNotFoundError
from meijin.store.schema import GameId, Score

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW
TURNED = symmetries(GOMOKU)[5]
OPENING = ("h8", "i9", "j8")


def cells(*names: str) -> list[int]:
    return [parse_cell(name, GOMOKU) for name in names]


def turned(*names: str) -> list[int]:
    return [TURNED[cell] for cell in cells(*names)]


@pytest.fixture
def league(tmp_path: Path) -> Iterator[League]:
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        yield League(database, bots=2)


def compare(league: League, one: str = "1.0", other: str = "2.0") -> VersionComparison:
    name = f"{league.name}-bot-0"
    rows = league.database.read(list_versions, league.bots[0], limit=9)
    ids = {row.label: row.id for row in rows}
    asked = partial(compare_versions, version_id=ids[one], other_version_id=ids[other])
    return league.database.read(asked, name=name)


def play(league: League, line: Sequence[int], *results: Result) -> None:
    """Games of the first bot with white, on an opening of three stones."""
    league.finish(*((1, 0, result) for result in results), line=line, opening_plies=3)


def test_versions_that_prefer_other_moves(league: League) -> None:
    """In positions that both have met, whichever way they lay, with how each fared."""
    play(league, cells(*OPENING, "k9", "k8", "k7"), WHITE, DRAW)
    play(league, cells(*OPENING, "h7", "a1"), BLACK)
    league.renew(0, "2.0")
    play(league, turned(*OPENING, "g7", "a2"), BLACK, WHITE)
    found = compare(league)
    assert (found.one.label, found.other.label) == ("1.0", "2.0")
    assert (found.one_games, found.other_games) == (3, 2)
    assert (found.positions, found.differing) == (1, 1)
    (difference,) = found.differences
    assert difference.variant == GOMOKU
    assert list(decode_moves(difference.moves)) == turned(*OPENING)
    first, newest = GameId(league.ladder_id * 1_000_000 + 2), league.ladder_id * 1_000_000 + 5
    (k9, g7) = turned("k9", "g7")
    assert difference.one == VersionMove(k9, Score(1, 1, 0), 3, first)
    assert difference.other == VersionMove(g7, Score(1, 0, 1), 2, GameId(newest))


def test_versions_that_play_alike(league: League) -> None:
    """One of the moves that a version played most is the other's too: they don't differ."""
    play(league, cells(*OPENING, "k9"), WHITE)
    play(league, cells(*OPENING, "k7"), WHITE)
    league.renew(0, "2.0")
    play(league, turned(*OPENING, "k9"), WHITE)
    found = compare(league)
    assert (found.positions, found.differing, found.differences) == (1, 0, [])


def test_openings_and_the_opponents_moves_are_nobodys_choice(league: League) -> None:
    """What stood on the board before, and what the other side played."""
    play(league, cells(*OPENING, "k9", "a1", "c3"), WHITE)
    league.renew(0, "2.0")
    play(league, cells("h8", "i9", "g9", "k9", "a1", "c3"), WHITE)
    play(league, cells(*OPENING, "k9", "b1", "c3"), WHITE)
    found = compare(league)
    assert (found.positions, found.differing) == (1, 0)


def test_what_was_met_most_comes_first(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the version that met it less; then the position with the fewest stones; so many alone."""
    rare, often = cells("a1", "a2", "a3"), cells(*OPENING)
    for label, answer in (("1.0", "k9"), ("2.0", "k7")):
        league.renew(0, label)
        play(league, [*rare, *cells(answer)], WHITE)
        play(league, [*often, *cells(answer)], WHITE, WHITE)
    found = compare(league)
    assert [each.moves for each in found.differences] == [encode_moves(often), encode_moves(rare)]
    monkeypatch.setattr(differences, "MAX_DIFFERENCES", 1)
    found = compare(league)
    assert (found.differing, len(found.differences)) == (2, 1)


def test_what_is_not_there_is_named(league: League) -> None:
    (version_id,) = league.versions[1:]
    asked = partial(compare_versions, version_id=version_id, other_version_id=version_id)
    with pytest.raises(RowNotFoundError, match=f"no version {version_id}; list"):
        league.database.read(asked, name=f"{league.name}-bot-0")
