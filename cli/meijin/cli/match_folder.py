"""The folder of a local match: one that is given, or one whose logs are kept if need be."""

import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from meijin.cli.errors import unusable_file


class MatchFolder:
    """Where a local match has its database and its logs.

    Without one that is given it is a new one, of which nothing stays but the logs, and these
    where something has gone wrong.

    Raises:
        CommandError: it can't be made.
    """

    def __init__(self, given: Path | None) -> None:
        self._given = given
        self._keeps_logs = False
        try:
            self.path = given or Path(tempfile.mkdtemp(prefix="meijin-"))
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unusable_file(error) from None

    @property
    def is_given(self) -> bool:
        """Whether all of it stays."""
        return self._given is not None

    @property
    def has_logs_to_keep(self) -> bool:
        """Whether something has gone wrong."""
        return self._keeps_logs

    def keep_logs(self) -> Path:
        """Have the logs stay, and return where they are."""
        self._keeps_logs = True
        return self.path

    def __enter__(self) -> Self:
        """Use it until the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove what is not to stay."""
        if self.is_given:
            return
        if not self._keeps_logs:
            shutil.rmtree(self.path, ignore_errors=True)
            return
        for path in self.path.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif path.suffix != ".log":
                path.unlink(missing_ok=True)
