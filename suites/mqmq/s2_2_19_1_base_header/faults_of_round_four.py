"""Faults that break rules of MS-MQMQ 2.2.19.1 BaseHeader, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket, FormatError, Packet
from reference_qm.core.transfer.identifying import Identifying


@fault("receiver-connection-parameters-base-header-x5-set-refused", breaks="MQMQ-2.2.19.1-15", blind=True)
class ReceiverConnectionParametersBaseHeaderX5SetRefused(Identifying):
    """The receiver refuses a ConnectionParameters packet in which bit X5 of BaseHeader.Flags is set."""

    def check_field_values(self, packet: Packet) -> None:
        super().check_field_values(packet)
        if isinstance(packet, ConnectionParametersPacket) and packet.BaseHeader.X5:
            raise FormatError("BaseHeader.Flags", 2, "a fault", "X5 is set")
