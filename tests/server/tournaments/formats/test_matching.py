"""Maximum matchings, against trying out all."""

from __future__ import annotations

from functools import cache
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from meijin.server.tournaments.formats.matching import Matching

graphs = st.integers(1, 9).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.sets(
            st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(
                lambda edge: edge[0] < edge[1]
            )
        ),
    )
)


def best(vertices: frozenset[int], edges: frozenset[tuple[int, int]]) -> int:
    """The size of a maximum matching, by trying out all."""

    @cache
    def largest(left: frozenset[int]) -> int:
        if not left:
            return 0
        one = min(left)
        sizes = [1 + largest(left - {one, other}) for other in left if (one, other) in edges]
        return max([largest(left - {one}), *sizes])

    return largest(vertices)


@settings(max_examples=300)
@given(graphs, st.randoms(use_true_random=False))
def test_it_is_a_maximum_matching(case: tuple[int, set[tuple[int, int]]], rng: Random) -> None:
    """Of the whole graph, and of what is left when an edge or a vertex is taken out."""
    size, drawn = case
    edges = frozenset(drawn)
    graph = [
        [other for other in range(size) if (min(one, other), max(one, other)) in edges]
        for one in range(size)
    ]
    left = frozenset(range(size))
    matching = Matching(graph, left)
    while left:
        assert matching.size == best(left, edges)
        inside = sorted(edge for edge in edges if left.issuperset(edge))
        if inside and rng.random() < 0.5:
            gone = rng.choice(inside)
            matching = matching.without(*gone)
            left -= set(gone)
        else:
            vertex = rng.choice(sorted(left))
            matching = matching.without(vertex)
            left -= {vertex}
