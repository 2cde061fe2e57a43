"""Read and write the record of the last proof (suites/proof.json), which contains the checked rules and the faults
that their checks found.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import HarnessError
from harness.paths import SUITES

PROOF_FILE = "proof.json"
_SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class RecordedProof:
    """The record that ``mqconform prove --record`` writes. ``proven``: by rule, the faults that the checks of the
    rule found.

    ``folders``: a digest of each folder of the suites at the time of the proof.
    """

    checked: frozenset[str] = frozenset()
    proven: Mapping[str, list[str]] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)


def load_proof(root: Path = SUITES) -> RecordedProof:
    """Return the recorded proof of a suites folder, or an empty record if the file is missing."""
    path = root / PROOF_FILE
    if not path.is_file():
        return RecordedProof()
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
        return RecordedProof(frozenset(tree["checked"]), tree["proven"], tree.get("folders", {}))
    except (ValueError, KeyError) as error:
        raise HarnessError(f"{path} is broken ({error!r}); `mqconform prove --record` replaces it") from error


def write_proof(
    checked: Iterable[str], killed: Mapping[str, Iterable[str]], folders: Mapping[str, str], root: Path = SUITES
) -> None:
    """Write the record of the proof."""
    proven = {rule: sorted(killed[rule]) for rule in sorted(killed)}
    tree = {"schema": _SCHEMA_VERSION, "checked": sorted(checked), "proven": proven, "folders": dict(folders)}
    (root / PROOF_FILE).write_text(json.dumps(tree, indent=1) + "\n", encoding="utf-8")
