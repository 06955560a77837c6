"""The bridge: existing engines as bots, and bots as engines.

- `wrapped`, `settings`: an engine as a bot of the SDK, how it is run, and what it is told of the clock
- `probe`: what is found out by asking it, the protocol first
- `known`: what is known of engines by their names, a table that users add to
- `pool`: its processes, one for each game at once
- `session`: dialogues held with one of them
- `process`, `launcher`: a process and its lines, bounded; and what stands between the bridge and it,
  so that nothing is left behind

The protocols, without input or output:

- `dialogue`: what a protocol asks, what answers it, and what can go wrong
- `gomocup`, `gtp`: the protocols, Yixin's extension with the first
- `answers`: what the points that an engine names mean, and analysis read from what it says

The other way round:

- `brain`, `brain_board`: a bot as an engine, and what it is told of a board
"""
