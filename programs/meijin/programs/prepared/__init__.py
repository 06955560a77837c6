"""Prepared programs: unpacked, with their libraries, and with the command that starts them.

- `prepared`: a program made ready in a fresh folder, all of it or nothing
- `unpacking`: an archive written to a folder, with counted bytes and plain modes
- `wheelhouse`: the libraries that the operator lets programs have
- `commands`: what starts a program, as it is seen inside the sandbox
"""

from meijin.programs.prepared.prepared import Prepared, discard_partials, prepare
from meijin.programs.prepared.wheelhouse import Wheelhouse

__all__ = ["Prepared", "Wheelhouse", "discard_partials", "prepare"]
