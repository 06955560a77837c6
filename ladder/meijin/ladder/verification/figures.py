"""What a run published against what its algorithm computes: the first figure that differs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from sqlalchemy import Connection

from meijin.store.ladders.figures import Figures
from meijin.store.ladders.runs import rated_versions
from meijin.store.schema import BotVersionId

DIGITS = 4
"""Decimals that a number is told with, as far as it has no more."""


class VersionNames(dict[int, str]):
    """What versions are called, by their ids, so that no two are called the same."""

    @classmethod
    def of(cls, connection: Connection, versions: Collection[BotVersionId]) -> Self:
        names, taken = cls(), set[str]()
        for key, each in sorted(rated_versions(connection, versions).items()):
            name = f"{each.bot} {each.version}".strip()
            names[key] = f"version {key}" if each.is_hidden or name in taken else name
            taken.add(name)
        return names

    def __missing__(self, key: int) -> str:
        return f"version {key}"


def differing_figures(kept: Figures, made: Figures, names: Mapping[int, str]) -> Iterator[str]:
    """The first difference of each part of a run, a sentence each.

    Args:
        names: What the versions are called.
    """
    yield from first_difference("parameters", kept.parameters, made.parameters)
    yield from _first_line(kept.ratings, made.ratings, names)
    yield from first_difference("diagnosis", kept.diagnosis, made.diagnosis)
    yield from _covariance(kept.covariance, made.covariance, names)


def first_difference(path: str, kept: Any, made: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Where two values of JSON differ first, and what both are there; nothing if they don't."""
    if kept == made:
        return
    pairs: Iterator[tuple[str, Any, Any]] = iter(())
    if isinstance(kept, dict) and isinstance(made, dict):
        pairs = ((f"{path} {name}", kept.get(name), made.get(name)) for name in {**made, **kept})
    elif isinstance(kept, list) and isinstance(made, list) and len(kept) == len(made):
        places = enumerate(zip(kept, made, strict=True))
        pairs = ((f"{path}[{place}]", *both) for place, both in places)
    for each in pairs:
        for found in first_difference(*each):
            yield found
            return
    yield f"{path} kept {told(kept)}, computed {told(made)}"


def told(value: object) -> str:
    """A value as it is told: numbers that look alike with all of their digits."""
    is_short = isinstance(value, float) and round(value, DIGITS) == value
    return f"{value:.{DIGITS}f}" if is_short else str(value)


def _first_line(
    kept: Sequence[Mapping[str, Any]], made: Sequence[Mapping[str, Any]], names: Mapping[int, str]
) -> Iterator[str]:
    """The first line that differs: of those that are computed, and then of those that are kept."""
    stored = {line["version_id"]: line for line in kept}
    computed = {line["version_id"]: line for line in made}
    unknown = {name for name in (*kept, {})[0] if all(line[name] is None for line in kept)}
    for version in {**computed, **stored}:
        line = f"line of {names[version]}: "
        if version not in stored or version not in computed:
            yield line + ("not kept" if version not in stored else "kept, and not computed")
            return
        pair = (_known(each[version], unknown) for each in (stored, computed))
        for found in _first_column(*pair):
            yield line + found
            return


def _known(line: Mapping[str, Any], unknown: set[str]) -> dict[str, Any]:
    """A line without the columns that the release which kept it did not know: all are empty."""
    return {name: value for name, value in line.items() if name not in unknown}


def _first_column(kept: Mapping[str, Any], made: Mapping[str, Any]) -> Iterator[str]:
    """An algorithm that does not know a column leaves it empty, or false."""
    for name in {**kept, **made}:
        stored, computed = kept.get(name), made.get(name)
        if stored != computed and (name in made or stored):
            yield f"{name} kept {told(stored)}, computed {told(computed)}"


def _covariance(
    kept: tuple[bytes, bytes] | None, made: tuple[bytes, bytes] | None, names: Mapping[int, str]
) -> Iterator[str]:
    if kept == made:
        return
    if kept is None or made is None:
        yield f"covariance: {'not kept' if made else 'kept, and not computed'}"
        return
    versions = np.frombuffer(made[0], "<i8").tolist()
    sizes = [tuple(map(len, each)) for each in (kept, made)]
    if kept[0] != made[0] or sizes[0] != sizes[1]:
        yield f"covariance: its versions kept {np.frombuffer(kept[0], '<i8').tolist()}, computed {versions}"
        return
    stored, computed = (np.frombuffer(each[1], "<f4") for each in (kept, made))
    place = int(np.flatnonzero(stored.view("<i4") != computed.view("<i4"))[0])
    pair = " and ".join(names[versions[each]] for each in divmod(place, len(versions)))
    yield f"covariance of {pair}: kept {stored[place]}, computed {computed[place]}"
