"""Faults that break rules of MS-MQQB 3.1.5.1.1 Packet Identification, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PT_CONNECTION_PARAMETERS, Packet
from reference_qm.core.transfer.identifying import Identifying

_BASE_FLAGS_OFFSET = 2
_INTERNAL_FLAGS_OFFSET = 18
_IN_FLAG_MASK = 0x08
_PACKET_TYPE_MASK = 0x0F


@fault("receiver-parameters-packet-identified-by-two-bits-of-pt", breaks="MQQB-3.1.5.1.1-02", blind=True)
class ReceiverParametersPacketIdentifiedByTwoBitsOfPt(Identifying):
    """The receiver identifies an internal packet whose PT is 7, 11 or 15 as a ConnectionParameters packet, because it
    reads only the two lowest bits of PT.
    """

    def identify_packet(self, data: bytes) -> Packet:
        if data[_BASE_FLAGS_OFFSET] & _IN_FLAG_MASK and len(data) > _INTERNAL_FLAGS_OFFSET:
            flags = data[_INTERNAL_FLAGS_OFFSET]
            if flags & PT_CONNECTION_PARAMETERS == PT_CONNECTION_PARAMETERS:
                read = bytes([flags & ~_PACKET_TYPE_MASK | PT_CONNECTION_PARAMETERS])
                data = data[:_INTERNAL_FLAGS_OFFSET] + read + data[_INTERNAL_FLAGS_OFFSET + 1 :]
        return super().identify_packet(data)
