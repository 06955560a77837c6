"""A tournament as a zip: its games, its table, and a manifest with the checksum of each file."""

import json
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import version
from operator import attrgetter
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from meijin.game.records.file import FileFormat, write_game
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.enums import word_of
from meijin.wire.records import record_from_proto
from meijin.wire.text import to_csv
from meijin.wire.values import time_control_from_proto, variant_from_proto

LEVEL = 6
"""Of the compression; told, so that the bytes do not hang on a default."""
CELLS = ("bot", "opponent", "wins", "draws", "losses")
STANDINGS = ("rank", "bot", "points", "games", "wins", "draws", "losses")
"""Columns of the tables, by the fields of the contract."""


def write_archive(
    file: IO[bytes], found: pb.GetTournamentResponse, games: Iterable[game_pb2.Game]
) -> int:
    """Write a tournament with its ended games, and tell how many.

    One game is in memory at a time. A tournament that goes on no more gives the same bytes every
    time, with one version of zlib: no file has a date, and games come in the order of the server.
    """
    checksums: dict[str, str] = {}
    count = 0
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=LEVEL) as archive:

        def add(name: str, text: str) -> None:
            checksums[name] = sha256(text.encode()).hexdigest()
            archive.writestr(_undated(name), text.encode())

        for count, game in enumerate(games, start=1):  # noqa: B007 - told at the end
            record = record_from_proto(game)
            for form in (FileFormat.SGF, FileFormat.JSON):
                add(f"games/{game.game_id}.{form.value}", write_game(record, form))
        cells = sorted(found.crosstable, key=lambda cell: (cell.bot, cell.opponent))
        add("crosstable.csv", _csv(CELLS, cells))
        add("standings.csv", _csv(STANDINGS, found.standings))
        manifest = _manifest(found.tournament, count) | {"files": checksums}
        add("manifest.json", json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return count


def _undated(name: str) -> ZipInfo:
    info = ZipInfo(name)
    info.compress_type = ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    info.create_system = 3  # Unix, wherever it is written
    return info


def _manifest(tournament: pb.Tournament, games: int) -> dict[str, Any]:
    settings = tournament.settings
    return {
        "format": "meijin-tournament",
        "version": 1,
        "software": f"meijin {version('meijin')}",
        "tournament_id": tournament.tournament_id,
        "name": settings.name,
        "state": word_of(pb.TournamentState, tournament.state),
        "variant": str(variant_from_proto(settings.variant)),
        "time_control": str(time_control_from_proto(settings.time_control)),
        "seed": settings.seed,
        "rounds": settings.rounds,
        "bots": list(settings.bots),
        "games": games,
    }


def _csv(columns: Iterable[str], rows: Iterable[object]) -> str:
    return to_csv([columns, *map(attrgetter(*columns), rows)])
