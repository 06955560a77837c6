"""Ladders as they are stored.

- `ladders`: found, listed, anchored, and marked when they have changed
- `games`: the games that count, those that repeat them, and the log of both in order
- `sequencer`: takes ended games into a ladder's log, which is what counts
- `runs`: rating runs, published, read and exported
- `figures`: what a run publishes, as plain values
- `versions`: what versions came from, and what published runs rate them
- `results`: what two versions scored against each other, and a bot altogether
- `days`: the games of each day counted, and everybody's rating at its end
- `heads`: what binds all games of a ladder, to be published
- `openings`: what was played in each position of the first moves, counted
- `planning`: what the games of a continuous ladder are planned from
"""
