"""Read and write the results of a pair of systems (``pair.json`` in the folder of the pair)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.pair.outcomes import ScenarioOutcome, ScenarioResult
from harness.pair.running import DirectionResult
from harness.pair.scenarios import SCENARIOS
from harness.sut.sut_file import SutFile

PAIR_RESULTS_FILE_NAME = "pair.json"
SCHEMA_VERSION = 1
UNKNOWN_SYSTEM_NAME = "unknown"
"""The text for a vendor or version that is missing in a SUT file."""


@dataclass(frozen=True, slots=True)
class PairResults:
    """The results of a pair of systems. They consist of the names of both systems, by role, and of the results of
    the scenarios.
    """

    systems: dict[str, str]
    cells: tuple[DirectionResult, ...]


def write_pair_results(
    out: Path, files: Mapping[str, SutFile], cells: Iterable[DirectionResult], started: datetime
) -> None:
    """Write the results of a pair of systems to its folder. ``started``: the time (UTC) at which the test of the pair
    started.
    """
    results = {
        "schema": SCHEMA_VERSION,
        "started": f"{started:%Y-%m-%dT%H:%M:%SZ}",
        "letters": {one.name: one.letter for one in SCENARIOS},
        "systems": {role: asdict(file.sut) for role, file in files.items()},
        "cells": [asdict(one) for one in cells],
    }
    (out / PAIR_RESULTS_FILE_NAME).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def read_pair_results(folder: Path) -> PairResults:
    """Read the results of a pair of systems from its folder; raise UsageError if the folder does not contain such
    results.
    """
    path = folder / PAIR_RESULTS_FILE_NAME
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
        if tree["schema"] != SCHEMA_VERSION:
            raise UsageError(f"{path} has schema {tree['schema']!r}; this version reads {SCHEMA_VERSION}")
        systems = {str(role): _get_name_of_system(one) for role, one in tree["systems"].items()}
        cells = tuple(_read_cell_of_grid(cell, systems) for cell in tree["cells"])
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}; --grid takes the folders that `mqconform pair --out` wrote"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not a result of `mqconform pair`: {type(error).__name__}: {error}") from error
    return PairResults(systems, cells)


def _get_name_of_system(system: Mapping[str, Any]) -> str:
    return " ".join(
        str(system[key]) for key in ("vendor", "name", "version") if system[key] not in ("", UNKNOWN_SYSTEM_NAME)
    )


def _read_cell_of_grid(cell: Mapping[str, Any], systems: Mapping[str, str]) -> DirectionResult:
    origin, target = str(cell["origin"]), str(cell["target"])
    broken = {str(role): [str(rule) for rule in rules] for role, rules in cell["broken"].items()}
    for role in (origin, target, *broken):
        if role not in systems:
            raise ValueError(f"{role!r} is not the role of a system of this pair")
    outcome = ScenarioOutcome(ScenarioResult(cell["outcome"]["result"]), str(cell["outcome"]["why"]))
    return DirectionResult(str(cell["scenario"]), origin, target, outcome, str(cell["capture"]), broken)
