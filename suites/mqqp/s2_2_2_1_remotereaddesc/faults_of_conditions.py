"""Faults that break the rule MQQP-2.2.2.1-08 only under certain conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState

_SECONDS_PER_HOUR = 3_600
_SECONDS_FROM_1970_TO_1980 = 315_532_800


def _shift_arrival_times(shift_s: int, when: Callable[[MessagePosition], bool]) -> Install:
    """Build a fault that adds seconds to dwArriveTime of some messages."""

    class ArrivalTimeShifter(RemoteReads):
        def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
            described = super().describe_remote_message(position)
            shift = shift_s if when(position) else 0
            return {**described, "dwArriveTime": described["dwArriveTime"] + shift & 0xFFFFFFFF}

    return replace_part(ArrivalTimeShifter)


for _name, _says, _shift_s, _when in (
    (
        "server-arrive-time-of-transactional-message-since-1980",
        "In an answer with a transactional message, dwArriveTime is the number of seconds since 1980.",
        -_SECONDS_FROM_1970_TO_1980,
        lambda position: position.MessageReference.TransactionIdentifier is not None,
    ),
    (
        "server-arrive-time-of-peek-in-local-time",
        "In an answer to a peek, dwArriveTime is an hour ahead of UTC.",
        _SECONDS_PER_HOUR,
        lambda position: position.State is MessagePositionState.AVAILABLE,
    ),
    (
        "server-arrive-time-of-recoverable-message-in-local-time",
        "In an answer with a recoverable message, dwArriveTime is an hour behind UTC.",
        -_SECONDS_PER_HOUR,
        lambda position: position.MessageReference.DeliveryGuarantee.value == "Recoverable",
    ),
):
    add(_name, "MQQP-2.2.2.1-08", _says, _shift_arrival_times(_shift_s, _when), blind=True)
