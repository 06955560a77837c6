"""What a fault keeps of a finished game that was voided."""

import json

from meijin.game import Ending, Party, Result
from meijin.store.void_evidence import VoidEvidence

EVIDENCE = VoidEvidence("the wrong engine", Result.WHITE_WINS, Ending.TIME, Party.BLACK, "late")


def test_evidence_comes_back_from_json() -> None:
    """In words that databases hold already."""
    text = json.dumps(EVIDENCE.to_json())
    assert json.loads(text) == {
        "reason": "the wrong engine",
        "result": "0-1",
        "ending": "time",
        "at_fault": "black",
        "detail": "late",
    }
    assert VoidEvidence.from_json(json.loads(text)) == EVIDENCE


def test_a_game_voided_while_it_ran_had_no_result() -> None:
    """Its fault tells where it stood."""
    assert VoidEvidence.from_json({"ply": 3, "detail": "the tournament was cancelled"}) is None
