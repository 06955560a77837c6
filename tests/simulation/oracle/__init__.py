"""The oracle: what was committed, told and done, and whether all of it may be.

What it promises, a module each:

- `results`: one result a game; every planned game is played and counted exactly once
- `moves`: no acknowledged move is lost or doubled
- `clocks`: no clock is charged for an outage, for lag or for a standstill
- `forfeits`: a forfeit names a bot's own fault
- `facts`: what was told was committed

What it compares with:

- `books`: what is known of every game and turn
- `deeds`: what the bots have sent
- `presence`: who is away through no fault of the server, and what outages lasted
- `oracle`: reads the disk, hears the streams, and asks the others
- `violation`: what is raised
"""
