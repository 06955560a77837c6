"""The bridge: existing engines as bots, and bots as engines.

- `wrapped`, `settings`: an engine as a bot of the SDK, and how it is run
- `starter`: processes of the engine, and the protocol that is spoken with them
- `command`, `limits`: the engine's program, and what it may use
- `identity`, `probe`: what is found out by asking it
- `pool`: its processes, one for each game at once
- `session`: dialogues held with one of them
- `thoughts`: what they are asked, each question once

The protocols, without input or output:

- `dialogue`: what a protocol asks, and what answers it
- `gomocup`, `yixin`, `gtp`: the protocols
- `answers`: what the points that it names mean
- `rules`, `times`: what an engine is told of the rule and of the clock
- `messages`: analysis read from what it says

The other way round:

- `brain`, `brain_loop`: a bot as an engine
- `brain_board`, `brain_bot`: what it is told of a board, and what its bot is asked

Below them:

- `process`, `lines`: a process and its lines, bounded
- `launcher`: stands between the bridge and the engine, so that nothing is left behind
- `errors`: what can go wrong
"""
