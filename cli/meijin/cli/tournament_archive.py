"""A tournament as a zip: its games, its table, and a manifest with the checksum of each file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from meijin.game.records.file import FileFormat, write_game
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import record_from_proto, time_control_from_proto, variant_from_proto

FORMAT = "meijin-tournament"
VERSION = 1
MANIFEST = "manifest.json"
LEVEL = 6
"""Of the compression; told, so that the bytes do not hang on a default."""
_STATES = {
    pb.TOURNAMENT_STATE_RUNNING: "running",
    pb.TOURNAMENT_STATE_FINISHED: "finished",
    pb.TOURNAMENT_STATE_CANCELLED: "cancelled",
}


def write_archive(
    file: IO[bytes], found: pb.GetTournamentResponse, games: Iterable[game_pb2.Game]
) -> int:
    """Write a tournament with its ended games, and tell how many.

    One game is in memory at a time. A tournament that goes on no more gives the same bytes every
    time, with one version of zlib: no file has a date, and games come in the order of the server.
    """
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        files = _Files(archive)
        count = 0
        for game in games:
            count += 1
            record = record_from_proto(game)
            for form in (FileFormat.SGF, FileFormat.JSON):
                files.add(f"games/{game.game_id}.{form.value}", write_game(record, form))
        files.add("crosstable.csv", _csv(_crosstable(found)))
        files.add("standings.csv", _csv(_standings(found)))
        manifest = _manifest(found.tournament, count) | {"files": files.checksums}
        files.add(MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return count


@dataclass(slots=True)
class _Files:
    """The files of an archive."""

    archive: ZipFile
    checksums: dict[str, str] = field(default_factory=dict)
    """SHA-256 in hexadecimal, by name."""

    def add(self, name: str, text: str) -> None:
        """Write a file, of no date and with the usual permissions."""
        data = text.encode()
        self.checksums[name] = sha256(data).hexdigest()
        info = ZipInfo(name)
        info.compress_type = ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        info.create_system = 3  # Unix, wherever it is written
        self.archive.writestr(info, data)


def _manifest(tournament: pb.Tournament, games: int) -> dict[str, Any]:
    settings = tournament.settings
    return {
        "format": FORMAT,
        "version": VERSION,
        "software": f"meijin {version('meijin')}",
        "tournament_id": tournament.tournament_id,
        "name": settings.name,
        "state": _STATES.get(tournament.state, "unknown"),
        "variant": str(variant_from_proto(settings.variant)),
        "time_control": str(time_control_from_proto(settings.time_control)),
        "seed": settings.seed,
        "rounds": settings.rounds,
        "bots": list(settings.bots),
        "games": games,
    }


def _crosstable(found: pb.GetTournamentResponse) -> Iterator[tuple[object, ...]]:
    """Who scored what against whom; the results are the bot's."""
    yield "bot", "opponent", "wins", "draws", "losses"
    for cell in sorted(found.crosstable, key=lambda cell: (cell.bot, cell.opponent)):
        yield cell.bot, cell.opponent, cell.wins, cell.draws, cell.losses


def _standings(found: pb.GetTournamentResponse) -> Iterator[tuple[object, ...]]:
    """How the bots stand, where the format ranks them."""
    yield "rank", "bot", "points", "games", "wins", "draws", "losses"
    for row in found.standings:
        yield row.rank, row.bot, row.points, row.games, row.wins, row.draws, row.losses


def _csv(rows: Iterable[tuple[object, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
