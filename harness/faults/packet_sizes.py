"""A fault with which the receiver recognizes internal packets by their size alone. Spec: MS-MQQB 3.1.5.1.1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.primitives import filter_inputs, replace_byte
from harness.faults.registry import Install
from reference_qm.codec import BaseHeader
from reference_qm.surface.inputs import BytesReceived, Input

_FLAGS_OFFSET = 2
"""The offset, in a packet, of the low byte of BaseHeader.Flags."""
_INTERNAL_PACKET_FLAG = BaseHeader.flags(IN=1)


def identify_packets_by_size(size: int) -> Install:
    """Return an installer of a fault that treats every input of the given size (in bytes) as an internal packet, for
    any value of BaseHeader.Flags.IN.
    """

    def replace_input_of_size(event: Input) -> Iterable[Input]:
        if isinstance(event, BytesReceived) and len(event.data) == size:
            return [
                replace(event, data=replace_byte(_FLAGS_OFFSET, lambda old: old | _INTERNAL_PACKET_FLAG)(event.data))
            ]
        return [event]

    return filter_inputs(replace_input_of_size)
