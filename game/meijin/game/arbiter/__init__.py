"""The arbiter: the judge of one game, without input or output.

- `moment`: an instant, and how long whoever judges stood still himself until then
- `allowance`: what lag, a margin and absences may take off a side's time at most
- `presence`: who is away, and what that costs
- `flag`: the flag of the side to move, which waits for a ping's answer before it falls, and the
  evidence of it
- `turns`: moves, clocks, forfeits on time
- `arbiter`: and absences, resignations, failures, void games
"""
