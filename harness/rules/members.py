"""Load the member protocols of MS-MQSO for which these suites have no rules. For each of these protocols,
suites/members.toml lists the parts that the suites and the reference exercise, and the parts that they omit.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.paths import SUITES
from harness.rules.errata import read_toml

MEMBER_PROTOCOLS_FILE_NAME = "members.toml"
_MEMBER_KEYS = ("title", "exercised", "reference", "left_out")


@dataclass(frozen=True, slots=True)
class MemberProtocol:
    """A member protocol. It has a title, the parts that the suites and the reference contain, and the omitted parts
    with the reason.
    """

    name: str
    title: str
    exercised: str
    reference: str
    left_out: str


def load_members(suites: Path = SUITES) -> tuple[MemberProtocol, ...]:
    """Read suites/members.toml; raise UsageError, which names the key, if a value is missing."""
    path = suites / MEMBER_PROTOCOLS_FILE_NAME
    members = []
    for name, table in read_toml(path).items():
        for key in _MEMBER_KEYS:
            if not isinstance(table, dict) or not isinstance(table.get(key), str) or not table[key].strip():
                raise UsageError(f"{path}: {key} of [{name}] is missing or is not a string")
        for key in table:
            if key not in _MEMBER_KEYS:
                raise UsageError(f"{path}: [{name}] has the unknown key {key}; known: {', '.join(_MEMBER_KEYS)}")
        members.append(MemberProtocol(name, **table))
    return tuple(members)
