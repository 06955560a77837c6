"""`meijin tournament`: tournaments made, followed, shown, exported and stopped.

- `commands`: the commands
- `follow`, `live_line`: one that goes on, and the line at the foot of the screen
- `tables`: who scored what against whom, how the bots stand, and how far it is
- `bracket`: a bracket drawn in the terminal
- `sprt`: a test's options, and where it stands
- `archive`: one as a zip
"""
