"""Blind violations of round five: MS-MQQB 3.1.5.1 Receiving Any Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatError
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-malformed-packet-after-packet-in-same-segment-skipped", breaks="MQQB-3.1.5.1.3-01", blind=True)
class ReceiverMalformedPacketAfterPacketInSameSegmentSkipped(Identifying):
    """A queue manager skips a malformed packet and keeps the session open if the packet arrives in the same bytes as a
    correct packet before it.
    """

    def receive_bytes(self, session: Session, data: bytes, now: Now) -> None:
        self.__dict__["packets_of_segment"] = 0
        super().receive_bytes(session, data, now)

    def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
        if self.__dict__["packets_of_segment"]:
            try:
                self.check_field_values(self.identify_packet(data))
            except FormatError:
                return
        self.__dict__["packets_of_segment"] += 1
        super().receive_packet(session, data, now)
