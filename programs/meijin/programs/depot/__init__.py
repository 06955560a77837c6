"""The depot: bytes of programs by their SHA-256, in a folder or in a bucket.

- `depot`: what is there, read, copied, deleted and swept, and where uploads begin
- `incoming`: an upload that is under way, and goes on where it was cut
- `folder`: whole programs in a folder
- `bucket`: whole programs in a bucket of S3's kind
- `digest`: the names that programs are kept under
"""

from meijin.programs.depot.depot import DEFAULT_PLACE, Depot, Swept, open_depot
from meijin.programs.depot.incoming import Incoming

__all__ = ["DEFAULT_PLACE", "Depot", "Incoming", "Swept", "open_depot"]
