"""Whole programs in a bucket of S3's kind, one object a digest."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from meijin.programs.depot.digest import CHUNK_BYTES, is_digest
from meijin.programs.errors import DepotError

if TYPE_CHECKING:
    from obstore.store import S3Store

SCHEME = "s3://"
_RETRY_TIMEOUT = timedelta(seconds=30)
_MAX_RETRIES = 4


class Bucket:
    """Keeps whole programs as objects that appear and vanish at once.

    The keys, the region and the endpoint are those of the usual variables: AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT, and AWS_ALLOW_HTTP for one without TLS.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._store = _open_store(url)

    def has(self, digest: str) -> bool:
        import obstore  # noqa: PLC0415 - of an extra

        with self._failures():
            try:
                obstore.head(self._store, digest)
            except FileNotFoundError:
                return False
            return True

    def take(self, digest: str, file: Path) -> None:
        """Upload a file, which is deleted once all of it is there."""
        import obstore  # noqa: PLC0415 - of an extra

        with self._failures():
            obstore.put(self._store, digest, file)
        file.unlink()

    def chunks(self, digest: str) -> Iterator[bytes]:
        """The bytes of a program.

        Raises:
            FileNotFoundError: there is none.
        """
        import obstore  # noqa: PLC0415 - of an extra

        with self._failures():
            for chunk in obstore.get(self._store, digest).stream(min_chunk_size=CHUNK_BYTES):
                yield bytes(chunk)

    def delete(self, digest: str) -> None:
        import obstore  # noqa: PLC0415 - of an extra

        with self._failures():
            try:
                obstore.delete(self._store, digest)
            except FileNotFoundError:
                return

    def change_times(self) -> Iterator[tuple[str, float]]:
        """Each digest, and when its bytes came, in seconds since the epoch."""
        import obstore  # noqa: PLC0415 - of an extra

        with self._failures():
            for found in obstore.list(self._store):
                for entry in found:
                    if is_digest(entry["path"]):
                        yield entry["path"], entry["last_modified"].timestamp()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Tell of a bucket that can't be reached or used in one line."""
        from obstore.exceptions import BaseError  # noqa: PLC0415 - of an extra

        try:
            yield
        except FileNotFoundError:
            raise
        except (BaseError, OSError) as error:
            why = " ".join(str(error).split("\n\nDebug source:", maxsplit=1)[0].split())[:300]
            text = f"the bucket {self._url} fails: {why}; see its name, region, endpoint and keys"
            raise DepotError(text) from error


def _open_store(url: str) -> "S3Store":
    name, _, prefix = url.removeprefix(SCHEME).partition("/")
    if not name:
        raise DepotError(f'"{url}" names no bucket; write s3://BUCKET or s3://BUCKET/FOLDER')
    try:
        from obstore.store import S3Store  # noqa: PLC0415 - of an extra
    except ModuleNotFoundError:
        text = f"{url} needs the library obstore; install meijin[s3], or name a folder"
        raise DepotError(text) from None
    retry = {"max_retries": _MAX_RETRIES, "retry_timeout": _RETRY_TIMEOUT}
    return S3Store(name, prefix=prefix.strip("/") or None, retry_config=retry)  # type: ignore[arg-type]
