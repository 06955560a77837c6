"""The `meijin` command.

- `main`: its parts put together, and its errors in one line
- `lazy_group`, `importing`: a command is imported when it is called, without garbage collection
- `commands`: a module for each group of commands
- `connection`, `demo_folder`: a server to talk to, and the folder of a demo's own
- `site`: the pages that a server has for browsers
- `completion`: names that a shell completes
- `profile`: which server the commands talk to, as it is kept
- `private_files`: files that their owner alone may read
- `options`, `sprt`, `bot_options`: what tournaments, tests and bots are asked for with
- `match_options`, `sides`: what matches of two are asked for with besides
- `local_match`, `match_folder`, `attendance`: a match's own server and bots, or those it waits for
- `played_match`, `match_summary`, `first_faults`, `game_lines`: what is told of a match
- `live_line`: how far it is, at the foot of the screen
- `follow`, `output`, `ladder_views`, `diagnosis_views`, `bracket`, `plots`: what is shown
- `ladder_exports`: ladders for other tools
- `game_view`, `stepping`, `keys`: a game on the screen, and keys to step through it
- `bot_lists`, `bot_details`: tables of bots, and of one bot
- `listing`: lists of a server as long as they are wanted
- `game_selection`: games of a server
- `tournament_archive`: a tournament as a zip
- `opening_files`: openings as files
- `record_files`: games as files
- `classroom`: what `meijin class` is made of, a package
- `replaying`: a turn of a game, given to a bot
- `doctor`: what `meijin bot doctor` looks at, a package
- `errors`, `explanations`: what ends a command with one line
"""

import os

# Read when grpc is first imported; else its C core tells of every stream that a server ends.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
