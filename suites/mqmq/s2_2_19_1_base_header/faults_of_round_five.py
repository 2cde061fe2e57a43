"""Faults of the fifth round that break rules of MS-MQMQ 2.2.19.1 BaseHeader."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import BaseHeader, UserMessagePacket
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

_SESSION_HEADER_FLAG = BaseHeader.flags(SH=1)


@fault("receiver-base-header-bit-x3-hides-session-header", breaks="MQMQ-2.2.19.1-17", blind=True)
class ReceiverBaseHeaderBitX3HidesSessionHeader(MessageReceiving):
    """The receiver accepts a UserMessage with bit X3 of BaseHeader.Flags set, but does not process the
    acknowledgment in its SessionHeader.
    """

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.BaseHeader.X3 and packet.SessionHeader is not None:
            base = replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~_SESSION_HEADER_FLAG)
            packet = replace(packet, BaseHeader=base, SessionHeader=None)
        super().receive_user_message(session, packet, now)
