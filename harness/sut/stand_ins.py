"""Define the needs of checks that a SUT can meet in two ways: with a facility of its control channel, or with a key
of its SUT file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.sut.sut_file import GREATEST_QUOTA_TO_FILL_KB, SutFile


@dataclass(frozen=True, slots=True)
class NeedMetByFacilityOrSutFile:
    """A need of a check that a SUT can meet in either of two ways: by the facility ``facility`` of its control channel,
    or by the key ``key`` of its SUT file.
    """

    facility: str
    key: str
    is_met_by_file: Callable[[SutFile], bool]


def _has_queues(file: SutFile) -> bool:
    """Return whether the SUT file lists queues that a check can empty by remote reading. By emptying a queue, the
    check also detects whether the queue is missing.
    """
    return bool(file.more_queues) and file.capabilities.get("qm2qm", False)


ALTERNATIVE_NEED_BY_NAME: Mapping[str, NeedMetByFacilityOrSutFile] = MappingProxyType(
    {
        "queues": NeedMetByFacilityOrSutFile("queue_control", "[[more_queues]]", _has_queues),
        "timers": NeedMetByFacilityOrSutFile("set_timers", "[timers]", lambda file: file.timers.any),
        "operating_system": NeedMetByFacilityOrSutFile(
            "inspect",
            "provisioned.operating_system_type",
            lambda file: bool(file.provisioned.operating_system_type),
        ),
        "insecure_nacks": NeedMetByFacilityOrSutFile(
            "configure", "provisioned.send_insecure_nacks = true", lambda file: file.provisioned.send_insecure_nacks
        ),
        "rejected_40_bit_keys": NeedMetByFacilityOrSutFile(
            "configure",
            "provisioned.reject_enhanced_rc2_using_40_bit_keys = true",
            lambda file: file.provisioned.reject_enhanced_rc2_using_40_bit_keys,
        ),
        "queue_manager_quota": NeedMetByFacilityOrSutFile(
            "configure",
            f"a provisioned.quota_kb of at most {GREATEST_QUOTA_TO_FILL_KB:,}",
            lambda file: 0 < file.provisioned.quota_kb <= GREATEST_QUOTA_TO_FILL_KB,
        ),
    }
)
"""The needs that a SUT can meet either with a facility or in its SUT file. They are: queues with given properties;
timers with known durations; a known type of operating system; SendInsecureNacks with the value TRUE, and
RejectEnhancedRC2Using40BitKeys with the value TRUE (MS-MQQB 3.1.1.3); a QueueManagerQuota that messages can exceed.
"""


def add_needs_met_by_facilities(have: Collection[str]) -> frozenset[str]:
    """Return the given capabilities and facilities, together with the needs of checks that these facilities meet."""
    return frozenset(have) | {need for need, one in ALTERNATIVE_NEED_BY_NAME.items() if one.facility in have}


def list_needs_met_by_file(file: SutFile) -> frozenset[str]:
    """Return the needs of checks that a SUT meets with its SUT file alone."""
    return frozenset(need for need, one in ALTERNATIVE_NEED_BY_NAME.items() if one.is_met_by_file(file))


def describe_unmet_need(need: str) -> str:
    """Return a text that names what a SUT lacks for a need: the facility and, as an alternative, the key of the SUT
    file.
    """
    if (one := ALTERNATIVE_NEED_BY_NAME.get(need)) is None:
        return need
    return f"{one.facility} (or {one.key} in the SUT file)"
