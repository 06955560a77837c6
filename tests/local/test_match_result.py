"""Results of matches: what a report says, and tables of the games."""

import sys
from dataclasses import fields, replace
from types import ModuleType
from typing import Any

import pytest
from tests.cli.made_games import WON

from meijin.game import GameEngine
from meijin.local import ArenaError, MatchResult, TestDecision
from meijin.local.match_result import result_of
from meijin.local.match_settings import MatchOptions, MatchSettings
from meijin.v1 import tournament_service_pb2 as pb

REPORT = pb.MatchReport(
    black=pb.ColorScore(wins=3, draws=1, losses=1),
    white=pb.ColorScore(wins=1, losses=4),
    pairs=[1, 0, 2, 1, 1],
    estimate=pb.SprtEstimate(
        elo=-34.9, elo_margin=200, elo_low=-250, elo_high=150, normalised_margin=190, los=0.36
    ),
    plies=420,
)
SETTINGS = pb.TournamentSettings(bots=["ada", "bob"])


def result(**fields: Any) -> MatchResult:
    response = pb.GetTournamentResponse(
        tournament=pb.Tournament(settings=SETTINGS, **fields),
        match_report=REPORT,
        faults=[pb.FaultCount(bot="ada"), pb.FaultCount(bot="bob", faults=2)],
    )
    return result_of(response, [WON])


def test_a_report_is_read() -> None:
    found = result()
    assert (found.wins, found.draws, found.losses, found.score) == (4, 1, 5, 0.45)
    assert (found.elo, found.los, found.pairs) == (-34.9, 0.36, (1, 0, 2, 1, 1))
    assert (found.faults, found.decision, found.verdict) == ((0, 2), None, "")
    assert str(found).splitlines() == [
        "ada against bob: 4.5 of 10 (45.0%), +4 =1 -5, black 3-1-1, white 1-0-4",
        "Elo -34.9 ± 200.0, nElo +0.0 ± 190.0, LOS 36.0%, pairs 1-0-2-1-1",
        "plies 42.0 a game, - and - a move, - in 0.0 s; faults 0 and 2",
    ]


def test_a_test_is_decided() -> None:
    standing = pb.SprtStanding(decision=pb.SPRT_DECISION_ELO0, llr=-3, lower=-2.94, upper=2.94)
    found = result(sprt=standing, verdict="H0 accepted")
    assert found.decision is TestDecision.ELO0
    assert str(found).splitlines()[3:] == ["LLR -3.00 (-2.94, 2.94)", "H0 accepted"]


def test_who_has_won_all_games_has_a_bound() -> None:
    """And no estimate; who hasn't has no bound."""
    assert result().elo_bound is None
    won = pb.MatchReport(black=pb.ColorScore(wins=20), elo_bound=317.2)
    response = pb.GetTournamentResponse(
        tournament=pb.Tournament(settings=SETTINGS), match_report=won
    )
    found = result_of(response, [])
    assert (found.elo, found.los, found.elo_bound) == (None, None, 317.2)
    assert "Elo above +317 (95%)" in str(found)


@pytest.mark.parametrize(("games", "rounds", "most"), [(None, 10, 0), (4, 4, 4)])
def test_a_test_goes_on_until_it_is_decided(games: int | None, rounds: int, most: int) -> None:
    """Without a number of games; 0 leaves the bound to the server."""
    plain = MatchSettings(games).tournament()
    test = MatchSettings(games, sprt=(0, 5)).tournament()
    assert (plain.rounds, test.rounds, test.sprt.most_games) == (rounds, 0, most)


def test_the_result_says_what_played() -> None:
    """Each in its place, whichever colour it had in the first game."""
    engine = GameEngine("ab12", ("depth=4", "nodes=3000"), "EPYC, 2 cores", 2, 2**40)
    found = result()
    assert found.engines == (engine, GameEngine())
    assert replace(found, first=WON.white).engines == (GameEngine(), engine)
    assert replace(found, _messages=()).engines is None


def test_games_are_records() -> None:
    found = result()
    (game,) = found.games
    assert (game.game_id, len(game.moves)) == (WON.game_id, len(WON.moves))
    assert found.games is found.games


class Frame:
    """What stands for a library's data frame."""

    def __init__(self, columns: dict[str, list[object]]) -> None:
        self.columns = columns


def typed(values: list[object], dtype: str) -> list[object]:
    return [dtype, *values]


def library(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in ("pandas", "polars"):
        module = None
        if name in names:
            module = ModuleType(name)
            module.__dict__.update(DataFrame=type(name, (Frame,), {}), array=typed)
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize(
    ("installed", "used"), [(("pandas", "polars"), "pandas"), (("polars",), "polars")]
)
def test_frames_are_of_what_is_installed(
    monkeypatch: pytest.MonkeyPatch, installed: tuple[str, ...], used: str
) -> None:
    library(monkeypatch, *installed)
    games, moves = result().to_frame(), result().to_frame(rows="moves")
    assert type(games).__name__ == used
    assert games.columns["black"] == [WON.black]
    assert games.columns["plies"] == [len(WON.moves)]
    assert moves.columns["ply"] == list(range(len(WON.moves)))
    missing = ["Int64"] if used == "pandas" else []
    assert moves.columns["score"][: len(missing) + 1] == [*missing, None]


def test_a_frame_needs_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    library(monkeypatch)
    with pytest.raises(ArenaError, match="needs pandas or polars; run: pip install pandas"):
        result().to_frame()


def test_options_are_the_settings() -> None:
    assert set(MatchOptions.__annotations__) == {field.name for field in fields(MatchSettings)}
