"""One game from its opening to its record, between players that a script has."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from meijin.bots.sdk.answer import RESIGN, Failure
from meijin.game import (
    SWAP2,
    Analysis,
    Choose,
    Color,
    Outcome,
    Placement,
    TimeControl,
    Variant,
    decode_moves,
    encode_moves,
)
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.v1.worker_service_pb2 import LeasedGame, PlayedGame
from meijin.wire.contract import MAX_EVIDENCE, MAX_TRACEBACK
from meijin.wire.values import time_control_to_proto, variant_to_proto
from meijin.worker.game_loop import GameLoop
from meijin.worker.players import GameStart, Player, Thought, Turn

MS = 1_000_000
SMALL = Variant(width=5, height=5)
LOST = Failure("lost the thread")


class Script(Player):
    """Answers from a list, each after some milliseconds by a clock of its own."""

    def __init__(self, answers: Sequence[Any], taken_ms: int = 3, score: int | None = None) -> None:
        self._answers = list(answers)
        self._taken_ns = taken_ms * MS
        self.analysis = None if score is None else Analysis(score, 4, 99, ())
        self.evidence: dict[str, object] = {"said": "x"}
        self.start: GameStart | None = None
        self.turns: list[tuple[int, int, Color]] = []
        self.outcome: Outcome | None = None

    def get_ready(self, game: GameStart) -> None:
        self.start = game

    def think(self, turn: Turn) -> Thought:
        self.turns.append((turn.own_ns // MS, turn.limit_ns // MS, turn.color))
        answer = self._answers.pop(0)
        answered_ns = 1000 * MS + self._taken_ns
        return Thought(
            1000 * MS, answered_ns, answer, self.analysis, self.evidence, words="plays 9,9"
        )

    def end(self, outcome: Outcome | None) -> None:
        self.outcome = outcome

    def close(self) -> None:
        pass


def leased(time: str = "1/move", opening: Sequence[int] = (), **more: Any) -> LeasedGame:
    control = time_control_to_proto(TimeControl.parse(time))
    variant = more.pop("variant", SMALL)
    return LeasedGame(
        pairing_id="7",
        black="ada",
        white="bob",
        variant=variant_to_proto(variant),
        black_time=control,
        white_time=control,
        opening=encode_moves(opening),
        margin_ms=50,
        **more,
    )


def play(game: LeasedGame, ada: Player, bob: Player) -> PlayedGame:
    return GameLoop(game, {"ada": ada, "bob": bob}).play()


def test_a_game_is_played_to_its_five() -> None:
    """The record has what was done after the opening, with its times; both hear of the end."""
    ada, bob = Script((1, 2, 3, 4), score=50), Script((6, 7, 8))
    record = play(leased(opening=(0, 5)), ada, bob)
    assert list(decode_moves(record.actions)) == [1, 6, 2, 7, 3, 8, 4]
    assert list(record.raw_ns) == list(record.charged_ns) == [3 * MS] * 7
    assert record.outcome == game_pb2.Outcome(
        ending=game_pb2.ENDING_FIVE, winner=game_pb2.COLOR_BLACK
    )
    assert {ply: said.score for ply, said in record.analyses.items()} == dict.fromkeys(
        (2, 4, 6, 8), 50
    )
    assert not record.evidence
    assert ada.start is not None
    assert (ada.start.opponent, ada.start.color, ada.start.opening) == (
        "bob",
        Color.BLACK,
        encode_moves((0, 5)),
    )
    assert str(ada.outcome) == str(bob.outcome) == "black wins by five"


def test_clocks_run_and_are_told() -> None:
    """A side's clock has what its moves have left it, and its increment."""
    ada = Script((0, 1, RESIGN), taken_ms=400)
    record = play(leased("1+0.1"), ada, Script((5, 6)))
    assert [own for own, _, _ in ada.turns] == [1000, 700, 400]
    assert [limit for _, limit, _ in ada.turns] == [1050, 750, 450]
    assert record.outcome.ending == game_pb2.ENDING_RESIGN
    assert record.outcome.winner == game_pb2.COLOR_WHITE


@pytest.mark.parametrize(
    ("answer", "taken_ms", "ending", "evidence"),
    [
        (None, 1051, game_pb2.ENDING_TIME, {"cell": None, "budget_us": 1_000_000}),
        (9, 1051, game_pb2.ENDING_TIME, {"cell": 9}),
        (0, 10, game_pb2.ENDING_ILLEGAL, {"cell": 0}),
        (25, 10, game_pb2.ENDING_ILLEGAL, {"cell": 25}),
        (LOST, 10, game_pb2.ENDING_CRASH, {"message": LOST.message, "said": "x"}),
    ],
    ids=["silent", "late", "occupied", "off the board", "failed"],
)
def test_a_forfeit_has_its_cause(
    answer: Any, taken_ms: int, ending: int, evidence: dict[str, object]
) -> None:
    """It is the side's that was to act, and no move of it is in the record."""
    record = play(leased(), Script((0,)), Script((answer,), taken_ms=taken_ms))
    assert record.outcome.ending == ending
    assert record.outcome.at_fault == game_pb2.PARTY_WHITE
    assert evidence.items() <= json.loads(record.evidence).items()
    assert list(decode_moves(record.actions)) == [0]
    has_words = answer is None or ending == game_pb2.ENDING_ILLEGAL
    assert record.outcome.detail.endswith("; plays 9,9") is has_words


def test_a_move_within_the_margin_counts() -> None:
    """The clock is charged no more than it had."""
    record = play(leased(), Script((0, RESIGN), taken_ms=1040), Script((5,)))
    assert record.raw_ns[0] == 1040 * MS
    assert record.charged_ns[0] == 1000 * MS
    assert record.outcome.ending == game_pb2.ENDING_RESIGN


def test_an_opening_is_placed_and_chosen() -> None:
    """The stones share one time; who has chosen white moves on with it."""
    variant = Variant(opening_rule=SWAP2)
    ada = Script((Placement((112, 113, 97)), RESIGN))
    bob = Script((Choose(Color.WHITE), 98))
    record = play(leased(variant=variant), ada, bob)
    assert list(decode_moves(record.actions)) == [112, 113, 97, 0xFFFF, 98]
    assert list(record.raw_ns) == [3 * MS, 0, 0, 3 * MS, 3 * MS]
    assert record.outcome.winner == game_pb2.COLOR_WHITE


def test_agreed_scores_end_a_game() -> None:
    rules = tournament_pb.Adjudication(resign=tournament_pb.ResignRule(score=900, moves=2))
    record = play(
        leased(adjudication=rules), Script((0, 1, 2), score=-950), Script((5, 6, 7), score=980)
    )
    assert record.outcome.ending == game_pb2.ENDING_ADJUDICATION
    assert record.outcome.winner == game_pb2.COLOR_WHITE


@pytest.mark.parametrize(
    ("analysis", "ending"),
    [
        (Analysis(score=0), game_pb2.ENDING_ADJUDICATION),
        (Analysis(depth=3), game_pb2.ENDING_FIVE),
    ],
    ids=["level", "unknown"],
)
def test_an_unknown_score_is_not_level(analysis: Analysis, ending: int) -> None:
    """Who has told a depth alone has not told 0."""
    rules = tournament_pb.Adjudication(draw=tournament_pb.DrawRule(score=0, moves=2, from_ply=0))
    ada, bob = Script((0, 1, 2, 3, 4), score=0), Script((5, 6, 7, 8))
    bob.analysis = analysis
    assert play(leased(adjudication=rules), ada, bob).outcome.ending == ending


def test_evidence_is_json() -> None:
    record = play(leased(), Script((0, LOST)), Script((5,)))
    assert json.loads(record.evidence) == {"message": LOST.message, "ply": 2, "said": "x"}
    started, ended = record.start_time.ToDatetime(), record.end_time.ToDatetime()
    assert timedelta(0) <= ended - started


def test_any_words_are_evidence() -> None:
    """The longest that are kept fit, in whatever script; halves of characters are escaped."""
    ada = Script((LOST,))
    ada.evidence = {"traceback": "\U0001f004" * MAX_TRACEBACK, "half": "\ud800"}
    evidence = play(leased(), ada, Script(())).evidence
    assert len(evidence) < MAX_EVIDENCE
    assert json.loads(evidence) == {"message": LOST.message, "ply": 0} | ada.evidence
