"""Incoming sequences as the management of the SUT lists them, for the checks of MS-MQQB 3.1.5.8.6."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from suites.messages import Sequence
from suites.mqqb.steps.ordering import Receiver


def get_incoming_transfer_of_sequence(receiver: Receiver, sequence: Sequence | None = None) -> dict[str, Any]:
    """Return the entry of get_transfers for the given sequence, or by default for the current sequence of the receiver
    object.
    """
    queue = receiver.sut.queue("transactional")
    ordinal = (sequence or receiver.sequence).identifier.Ordinal
    for one in receiver.sut.control.call("get_transfers", queue=queue)["transfers"]:
        if one["SequenceIdentifier"]["Ordinal"] == ordinal:
            return dict(one)
    raise ConformanceFailure("the SUT lists no sequence of the peer")
