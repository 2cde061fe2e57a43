"""Loads the texts of errata through an entry point, because the package `reports` contains no facts about the
specifications.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

ERRATA_ENTRY_POINT_GROUP = "mqconform.errata"
"""The entry point whose function returns the errata. Each returned object has the attributes of an `Erratum`.
"""


@dataclass(frozen=True, slots=True)
class Erratum:
    """A place where the documents contradict themselves, or contradict the bytes of real systems.

    ``says``: the contradiction. ``readings``: each interpretation of the documents, with the verdict for a system that
    follows this interpretation. ``real``: the evidence found in packets from real systems. ``choice``: the values that
    checks may expect. ``why``: the reason for the choice. ``settled``: whether packets from real systems determine the
    choice.
    """

    id: str
    says: str
    readings: tuple[tuple[str, str], ...]
    real: str
    choice: str
    why: str
    settled: bool


def load_errata() -> dict[str, Erratum]:
    """Return the errata of the installed suites by their ids, or an empty mapping if no entry point is installed."""
    return {
        each.id: each
        for entry in entry_points(group=ERRATA_ENTRY_POINT_GROUP)
        for each in map(_build_erratum, entry.load()())
    }


def _build_erratum(known: Any) -> Erratum:
    readings = tuple((each.says, each.verdict) for each in known.possible_readings)
    return Erratum(known.id, known.says, readings, known.real, known.choice, known.why, known.settled)
