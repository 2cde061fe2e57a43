"""Needs of checks that a SUT can meet in two ways: by a facility of its control channel, or by its SUT file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.sut.sut_file import SutFile


@dataclass(frozen=True, slots=True)
class StandIn:
    """A need that ``facility`` meets, or else ``key`` of the SUT file."""

    facility: str
    key: str
    is_in: Callable[[SutFile], bool]


def _has_queues(file: SutFile) -> bool:
    """Return whether there are queues that a check can empty, and so find missing ones."""
    return bool(file.more_queues) and file.capabilities.get("qm2qm", False)


STAND_INS: Mapping[str, StandIn] = MappingProxyType(
    {
        "queues": StandIn("queue_control", "[[more_queues]]", _has_queues),
        "timers": StandIn("set_timers", "[timers]", lambda file: file.timers.any),
        "operating_system": StandIn(
            "inspect",
            "provisioned.operating_system_type",
            lambda file: bool(file.provisioned.operating_system_type),
        ),
        "signing_keys": StandIn(
            "queue_control",
            "provisioned.public_signing_keys_base64",
            lambda file: bool(file.provisioned.public_signing_keys_base64),
        ),
        "insecure_nacks": StandIn(
            "configure", "provisioned.send_insecure_nacks = true", lambda file: file.provisioned.send_insecure_nacks
        ),
    }
)
"""By need: a queue with some properties; timers whose duration is known; the type of its operating system; the public
keys that its signatures are verified with (which ``identity`` shows); SendInsecureNacks is TRUE (MS-MQQB 3.1.1.3).
"""


def needs_met(have: Collection[str]) -> frozenset[str]:
    """Return the needs that capabilities and facilities meet, with the needs that they stand in for."""
    return frozenset(have) | {need for need, one in STAND_INS.items() if one.facility in have}


def needs_in_file(file: SutFile) -> frozenset[str]:
    """Return the needs of checks that a SUT file alone satisfies."""
    return frozenset(need for need, one in STAND_INS.items() if one.is_in(file))


def describe_lack(need: str) -> str:
    """Return what a SUT would have to offer to meet a need that is no capability."""
    if (one := STAND_INS.get(need)) is None:
        return need
    return f"{one.facility} (or {one.key} in the SUT file)"
