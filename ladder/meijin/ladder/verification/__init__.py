"""Verification of a ladder: what is published, computed anew from the games and compared.

- `verify`: a run, with all that was kept beside it
- `log`: its games, each against its own moves, and the tallies of its days
- `figures`: what the run published, figure by figure
- `history`: everybody's rating by days, and how true those were
- `heads`: the chain of the games, against heads that somebody has kept
"""
