"""Find the folders that contain a rule's row (its entry in rules.toml), checks and faults. These are all in the folder
of the rule's section, unless a check judges several sections.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.proof.inventory import RuleInventory


@dataclass(frozen=True, slots=True)
class FoldersOfRule:
    """The folders in which a rule has its row, its checks and its faults.

    ``folders_of_checks_and_faults``: the folders that the key ``checked_in`` of the rule's section lists.
    """

    folder_of_row: str
    folders_of_checks_and_faults: frozenset[str]
    checks: frozenset[str]
    faults: frozenset[str]

    def are_in_one_folder(self) -> bool:
        """Return whether the folder with the rule's row (its entry in rules.toml) also contains a check and a fault of
        the rule.
        """
        return self.folder_of_row in self.checks & self.faults

    def are_in_listed_folders(self) -> bool:
        """Return whether a check and a fault of the rule are in the folder of the rule's row, or in folders that
        the section names (checked_in).
        """
        homes = self.folders_of_checks_and_faults | {self.folder_of_row}
        return not homes.isdisjoint(self.checks) and not homes.isdisjoint(self.faults)


def find_folders_of_rule(inventory: RuleInventory, rule: str) -> FoldersOfRule:
    """Return the folders of a rule's row (its entry in rules.toml), checks and faults."""
    row = inventory.catalogue[rule].folder
    faults = [inventory.fault_records_by_name[name].file for name in inventory.faults.get(rule, ())]
    named = inventory.catalogue.checked_in.get(row, ())
    return FoldersOfRule(row, frozenset(named), _list_folders(inventory.checks(rule)), _list_folders(faults))


def _list_folders(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(str(PurePosixPath(path.partition("::")[0]).parent) for path in paths)
