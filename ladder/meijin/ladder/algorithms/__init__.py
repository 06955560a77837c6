"""Rating algorithms of earlier releases, frozen: their runs are verified by the code that made them.

- `registry`: all that are known, by the names that runs have of them
- `rao_kupper_2`: `rao-kupper-2`

Beside each module a zip holds its source, which needs numpy alone. `scripts/freeze.py` makes it
again from the revision that the module names, byte for byte.
"""

from pathlib import Path

__path__ += [str(each) for each in sorted(Path(__file__).parent.glob("*.zip"))]
