"""The texts of errata, from whoever has them: reports themselves know no document."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

GROUP = "mqconform.errata"
"""The entry point of what returns the errata: of each the fields of an `Erratum`, ``readings`` too."""


@dataclass(frozen=True, slots=True)
class Erratum:
    """A place where documents contradict themselves or real bytes.

    ``says``: what contradicts what; ``readings``: a way to read it, and the verdict of a system that follows it;
    ``real``: what bytes of real systems show; ``choice``: what checks may expect, ``why`` for which reason;
    ``settled``: whether bytes of real systems settle it.
    """

    id: str
    says: str
    readings: tuple[tuple[str, str], ...]
    real: str
    choice: str
    why: str
    settled: bool


def known_errata() -> dict[str, Erratum]:
    """Return the errata by id, of the suites that are installed here; none where nothing says them."""
    return {each.id: each for entry in entry_points(group=GROUP) for each in map(_erratum_of, entry.load()())}


def _erratum_of(known: Any) -> Erratum:
    readings = tuple((each.says, each.verdict) for each in known.readings)
    return Erratum(known.id, known.says, readings, known.real, known.choice, known.why, known.settled)
