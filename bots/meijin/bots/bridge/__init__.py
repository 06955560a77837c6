"""The bridge: existing engines as bots, and bots as engines.

- `wrapped`: an engine as a bot of the SDK
- `command`, `limits`: the engine's program, and what it may use
- `probe`: what is found out by asking it
- `pool`: its processes, one for each game at once
- `session`: dialogues held with one of them

The protocols, without input or output:

- `dialogue`: what a protocol asks, and what answers it
- `gomocup`, `yixin`, `gtp`: the protocols
- `rules`, `times`: what an engine is told of the rule and of the clock
- `messages`: analysis read from what it says

The other way round:

- `brain`, `brain_loop`: a bot as an engine

Below them:

- `process`, `lines`: a process and its lines, bounded
- `launcher`: stands between the bridge and the engine, so that nothing is left behind
- `errors`: what can go wrong
"""
