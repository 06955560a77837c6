"""The figures of a run as they are kept: plain values, whichever release computed them."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

from sqlalchemy import JSON, Connection, select, type_coerce

from meijin.store.schema import Posterior, RatingLine, RatingRun


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run publishes."""

    parameters: dict[str, Any]
    """As JSON has them; so the diagnosis."""
    ratings: list[dict[str, Any]]
    """Lines by the columns of their table, but for the run's id; best first."""
    diagnosis: dict[str, Any] | None
    covariance: tuple[bytes, bytes] | None
    """The versions and the matrix, see `Posterior`; ``None`` where it is not kept."""

    @classmethod
    def of(cls, run: Any) -> Self:  # noqa: ANN401 - a `NewRun`, of this release or an earlier one
        """Those of a run that is computed, as they will be kept."""
        matrix = run.covariances
        return cls(
            parameters=_as_json(run.parameters),
            ratings=[_without_run(asdict(line)) for line in run.ratings],
            diagnosis=_as_json(run.diagnosis),
            covariance=matrix and (matrix.version_ids, matrix.matrix),
        )


def kept_figures(connection: Connection, run: RatingRun) -> Figures:
    """Those of a published run."""
    columns = (RatingRun.parameters, RatingRun.diagnosis)
    texts = select(*(type_coerce(each, JSON) for each in columns)).where(RatingRun.id == run.id)
    parameters, diagnosis = connection.execute(texts).one()
    lines = select(RatingLine.__table__).where(RatingLine.run_id == run.id)
    ratings = connection.execute(lines.order_by(RatingLine.rank, RatingLine.version_id)).mappings()
    matrix = select(Posterior.version_ids, Posterior.matrix).where(Posterior.run_id == run.id)
    covariance = connection.execute(matrix).one_or_none()
    return Figures(
        parameters=parameters,
        ratings=[_without_run(dict(line)) for line in ratings],
        diagnosis=diagnosis,
        covariance=covariance and (bytes(covariance[0]), bytes(covariance[1])),
    )


def _without_run(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != "run_id"}


def _as_json(record: Any) -> Any:  # noqa: ANN401 - any dataclass
    return json.loads(json.dumps(asdict(record)))
