"""`meijin bot upload` and `meijin bot program`: programs that the arena runs.

- `upload`: a program handed over, and its admission followed
- `packing`: what is sent of a file or a folder
- `transfer`: its bytes sent, over as many calls as it takes
- `admission`: the findings of an admission, shown as they come
- `commands`: programs listed, shown and changed
- `tables`: programs on the screen
- `project`: the folder of a new bot, which uploads as it is
"""
