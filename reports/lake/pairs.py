"""Reads the results of ``mqconform pair``. Each scenario and direction becomes a row of the table `exchanges`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports.lake.manifest import ReadableFileSystem
from reports.records import Record
from reports.rollup_error import RollupError
from reports.text import build_system_key, format_system_label, one_line
from reports.vocabulary import SCENARIO_RESULTS

if TYPE_CHECKING:
    from reports.lake.files import FileAccess

PAIR_RESULT_FILE_NAME = "pair.json"


@dataclass(frozen=True, slots=True)
class PairSource:
    """The results of a pair of systems to ingest: the folder, the rows of the results, and the SHA-256 of pair.json,
    which identifies the results.
    """

    folder: str
    digest: str
    rows: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _SystemOfPair:
    key: str
    name: str


def is_pair_folder(files: FileAccess, folder: str) -> bool:
    """Return whether a folder contains the results of a pair."""
    status = files.status(f"{folder}/{PAIR_RESULT_FILE_NAME}")
    return status is not None and not status.is_folder


def read_pair(files: ReadableFileSystem, folder: str) -> PairSource:
    """Read the results of an exchange between two systems (command `pair`). Raise `RollupError` for invalid results."""
    uri = f"{folder}/{PAIR_RESULT_FILE_NAME}"
    text, where = files.read_text(uri), one_line(uri.removeprefix("file://"))
    try:
        record = Record(json.loads(text), where)
    except (ValueError, RecursionError) as error:
        raise RollupError(f"{where} cannot be read as JSON: {one_line(str(error))}") from error
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    letters = record.get_record("letters") if record.has_value("letters") else Record({}, where)
    of_systems = record.get_record("systems")
    systems = {role: _read_system(of_systems.get_record(role)) for role in of_systems.values}
    started = record.get_time("started") if record.has_value("started") else None
    found = [
        {"started": started, "position": position} | _read_exchange_row(each, systems, letters)
        for position, each in enumerate(record.get_records("cells"))
    ]
    return PairSource(folder, digest, found)


def _read_system(record: Record) -> _SystemOfPair:
    name, version, profile = record.get_text("name"), record.get_text("version", ""), record.get_text("profile", "")
    return _SystemOfPair(build_system_key(name, version, profile), format_system_label(name, version, profile))


def _read_exchange_row(record: Record, systems: dict[str, _SystemOfPair], letters: Record) -> dict[str, Any]:
    scenario, outcome, broken = record.get_text("scenario"), record.get_record("outcome"), record.get_record("broken")
    if (result := outcome.get_text("result")) not in SCENARIO_RESULTS:
        raise RollupError(f"{outcome.where}: unknown result {one_line(result, 60)}")

    def find_system(role: str) -> _SystemOfPair:
        if role not in systems:
            raise RollupError(f"{record.where}: {one_line(role, 60)} is not a system of the pair")
        return systems[role]

    origin, target = find_system(record.get_text("origin")), find_system(record.get_text("target"))
    rules: dict[str, list[str]] = {}
    for role in broken.values:
        rules.setdefault(find_system(role).key, []).extend(broken.get_texts(role))
    return {
        "scenario": scenario,
        "letter": letters.get_text(scenario, ""),
        "origin": origin.key,
        "origin_name": origin.name,
        "target": target.key,
        "target_name": target.name,
        "result": result,
        "why": outcome.get_text("why", ""),
        "capture": record.get_text("capture", ""),
        "broken": {key: sorted(set(some)) for key, some in rules.items() if some},
    }
