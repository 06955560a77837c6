"""Maximum matchings in a graph, by augmenting paths through blossoms (Edmonds 1965)."""

from collections.abc import Iterable, Sequence
from typing import Self

NOBODY = -1

Graph = Sequence[Sequence[int]]
"""Of each vertex, numbered from 0 on, its neighbours; symmetrical."""


class Matching:
    """As many disjoint edges as there can be between some vertices of a graph.

    Args:
        vertices: The others are as if they were not there.
    """

    def __init__(self, graph: Graph, vertices: Iterable[int]) -> None:
        self._graph = graph
        self._is_in = bytearray(len(graph))
        self._mates = [NOBODY] * len(graph)
        self.size = 0
        """How many edges."""
        mine = list(vertices)
        for vertex in mine:
            self._is_in[vertex] = True
        for vertex in mine:
            if self._mates[vertex] == NOBODY:
                self.size += self._augment(vertex)

    def without(self, *vertices: int) -> Self:
        """A maximum matching of all vertices but for one, or for two that are neighbours.

        Without two it has one edge less exactly if theirs is in some maximum matching.
        """
        rest = object.__new__(type(self))
        rest._graph = self._graph
        rest._is_in = self._is_in[:]
        rest._mates = self._mates[:]
        rest.size = self.size
        alone = []
        for vertex in vertices:
            rest._is_in[vertex] = False
            mate = rest._mates[vertex]
            if mate != NOBODY:
                rest._mates[vertex] = rest._mates[mate] = NOBODY
                rest.size -= 1
                alone.append(mate)
        for vertex in alone:
            if rest._is_in[vertex] and rest._mates[vertex] == NOBODY:
                rest.size += rest._augment(vertex)
        return rest

    def _augment(self, root: int) -> bool:
        """Match one more vertex from `root` on, which has no mate, if that can be."""
        for other in self._graph[root]:
            if self._is_in[other] and self._mates[other] == NOBODY:
                self._mates[root], self._mates[other] = other, root
                return True
        search = _Search(self._graph, self._is_in, self._mates, root)
        end = search.run()
        while end != NOBODY:
            before = search.parents[end]
            following = self._mates[before]
            self._mates[end], self._mates[before] = before, end
            end = following
        return self._mates[root] != NOBODY


class _Search:
    """A breadth-first search for an augmenting path, which shrinks the blossoms it meets."""

    def __init__(self, graph: Graph, is_in: bytearray, mates: list[int], root: int) -> None:
        self._graph = graph
        self._is_in = is_in
        self._mates = mates
        self._root = root
        self.parents = [NOBODY] * len(graph)
        """The vertex before each that an odd number of edges leads to."""
        self._bases = list(range(len(graph)))
        """Of the blossom that a vertex is in; itself outside of any."""
        self._is_even = bytearray(len(graph))
        self._is_even[root] = True
        self._queue = [root]

    def run(self) -> int:
        """The far end of a path, or `NOBODY`."""
        mates, parents = self._mates, self.parents
        for vertex in self._queue:
            for other in self._graph[vertex]:
                if not self._is_in[other] or self._bases[vertex] == self._bases[other]:
                    continue
                mate = mates[other]
                if other == self._root or (mate != NOBODY and parents[mate] != NOBODY):
                    self._shrink(vertex, other)
                elif parents[other] == NOBODY:
                    parents[other] = vertex
                    if mate == NOBODY:
                        return other
                    self._is_even[mate] = True
                    self._queue.append(mate)
        return NOBODY

    def _shrink(self, one: int, other: int) -> None:
        """Have the vertices of a cycle of odd length be one: all of them are even now."""
        base = self._common_base(one, other)
        inside = {*self._mark(one, base, other), *self._mark(other, base, one)}
        for vertex, its_base in enumerate(self._bases):
            if its_base in inside:
                self._bases[vertex] = base
                if not self._is_even[vertex]:
                    self._is_even[vertex] = True
                    self._queue.append(vertex)

    def _common_base(self, one: int, other: int) -> int:
        seen = set()
        vertex = self._bases[one]
        while True:
            seen.add(vertex)
            if self._mates[vertex] == NOBODY:
                break
            vertex = self._bases[self.parents[self._mates[vertex]]]
        vertex = self._bases[other]
        while vertex not in seen:
            vertex = self._bases[self.parents[self._mates[vertex]]]
        return vertex

    def _mark(self, vertex: int, base: int, child: int) -> set[int]:
        """The bases on the way down to `base`, each of which can be reached from both sides."""
        inside = set()
        while self._bases[vertex] != base:
            mate = self._mates[vertex]
            inside |= {self._bases[vertex], self._bases[mate]}
            self.parents[vertex] = child
            child, vertex = mate, self.parents[mate]
        return inside
