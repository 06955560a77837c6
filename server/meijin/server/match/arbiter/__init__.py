"""The arbiter: the judge of one game, without input or output.

- `rolling`: what has come in the last minutes
- `stalls`: the server's time, and how long the server itself stood still
- `allowance`: what lag, a margin and absences may take off a side's time at most
- `timing`: the time of a move whose flag is about to fall, and the evidence of it
- `presence`: who is away, and what that costs
- `flag`: the flag of the side to move, which waits for a ping's answer before it falls
- `arbiter`: moves, clocks, forfeits
"""
