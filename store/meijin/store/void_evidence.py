"""Evidence of voids: what finished games were before they were voided."""

from dataclasses import dataclass
from typing import Any, Self

from meijin.game import Ending, Party, Result


@dataclass(frozen=True, slots=True)
class VoidEvidence:
    """Why a finished game was voided, and how it had ended."""

    reason: str
    """One sentence for people."""
    result: Result
    ending: Ending
    at_fault: Party
    detail: str

    def to_json(self) -> dict[str, str]:
        """As its fault keeps it."""
        return {
            "reason": self.reason,
            "result": self.result.value,
            "ending": self.ending.value,
            "at_fault": self.at_fault.value,
            "detail": self.detail,
        }

    @classmethod
    def from_json(cls, evidence: dict[str, Any]) -> Self | None:
        """The inverse of `to_json`; ``None`` for a game that was voided while it ran.

        The evidence of that has no result: there was none.
        """
        if "result" not in evidence:
            return None
        return cls(
            evidence["reason"],
            Result(evidence["result"]),
            Ending(evidence["ending"]),
            Party(evidence["at_fault"]),
            evidence["detail"],
        )
