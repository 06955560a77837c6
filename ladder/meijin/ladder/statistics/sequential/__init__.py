"""Tests of two players that stop as soon as they know.

- `sprt`: the sequential test of a match, and what is estimated of a match without one
- `units`: the effective counts of results that go together by their openings
- `stopped`: what is estimated once a test has stopped
"""
