"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.admission import Admission
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


@fault("receiver-positive-journaling-beside-negative-ignored", breaks="MQDMPR-3.1.7.1.31-D11", blind=True)
class ReceiverPositiveJournalingBesideNegativeIgnored(Admission):
    """The attribute PositiveJournalingRequested of a received message is False if both JP and JN are set."""

    def build_message(self, packet: UserMessagePacket, now: Now) -> Message:
        message = super().build_message(packet, now)
        if message.NegativeJournalingRequested:
            return replace(message, PositiveJournalingRequested=False)
        return message
