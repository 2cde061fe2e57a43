"""Compare the suites with the recorded proof, and find the rules whose proof may no longer hold.

A rule is affected if a file changed in one of these folders: the folders of its row, its checks and its faults, and the
folder ``steps`` of its document. The checks of affected rules run on all readings of errata. An erratum is affected if
the file that contains a variant of one of its readings changed. Every check runs on the readings of affected errata.

This module does not determine the effects of a change to the core or the harness. ``mqconform prove`` without
``--changed`` finds these effects. CI runs both commands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from harness.faults.registry import load_faults
from harness.paths import SUITES
from harness.proof.inventory import RuleInventory
from harness.rules.proof_record import RecordedProof


def compute_folder_digests(root: Path = SUITES) -> dict[str, str]:
    """Return a digest of every folder of the suites, by the path of the folder below the suites."""
    files_of = {
        folder: sorted(path for path in folder.iterdir() if path.suffix in (".py", ".toml"))
        for folder in {path.parent for path in root.glob("*/*/*") if path.suffix in (".py", ".toml")}
    }
    return {path.relative_to(root).as_posix(): _digest_files(files) for path, files in sorted(files_of.items())}


def _digest_files(files: Iterable[Path]) -> str:
    whole = b"\0".join(path.name.encode() + b"\0" + path.read_bytes() for path in files)
    return hashlib.sha256(whole).hexdigest()[:16]


def list_rules_to_prove(inventory: RuleInventory, recorded: RecordedProof, digests: dict[str, str]) -> list[str]:
    """Return the rules that have checks and whose proof a change of the code may affect."""
    changed = _find_changed_folders(recorded, digests)
    return [
        rule
        for rule in inventory.checked_rules()
        if rule not in recorded.proven or changed & set(_list_folders(inventory, rule))
    ]


def list_errata_to_run(inventory: RuleInventory, recorded: RecordedProof, digests: dict[str, str]) -> list[str]:
    """Return the errata for which the code of a variant has changed."""
    changed, errata, touched = _find_changed_folders(recorded, digests), inventory.catalogue.errata, set()
    for fault in load_faults().values():
        path = PurePosixPath(str(fault.file)).relative_to("suites")
        if fault.reading is not None and path.parent.as_posix() in changed:
            touched.add(fault.reading.partition(".")[0])
    return [name for name in errata if name in touched]


def _find_changed_folders(recorded: RecordedProof, digests: dict[str, str]) -> set[str]:
    return {folder for folder, digest in digests.items() if recorded.folders.get(folder) != digest}


def _list_folders(inventory: RuleInventory, rule: str) -> Iterable[str]:
    row = PurePosixPath(inventory.catalogue[rule].folder)
    yield row.relative_to("suites").as_posix()
    yield f"{row.parent.name}/steps"
    for check in inventory.checks_by_rule.get(rule, ()):
        folder = PurePosixPath(check.partition("::")[0]).parent
        yield folder.relative_to("suites").as_posix()
        yield f"{folder.parent.name}/steps"
    for fault in inventory.faults.get(rule, ()):
        yield PurePosixPath(inventory.fault_records_by_name[fault].file).parent.relative_to("suites").as_posix()
