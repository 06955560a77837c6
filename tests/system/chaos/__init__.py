"""Chaos: a tournament of real processes under random faults, and what must hold after it.

- `plan`: which faults there are, and which of them a seed gives
- `proxy`: a TCP proxy between a bot and the server, whose connections are cut, delayed and held
- `stepped_clock`: a wall clock that is stepped, for a server and its children
- `arena`: the processes, and how each fault is injected into them
- `audit`: what must hold afterwards
- `campaign`: one tournament under the faults of one plan
- `__main__`: campaigns for as long as the command line says
"""
