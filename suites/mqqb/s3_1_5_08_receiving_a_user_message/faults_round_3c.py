"""Faults that break rules of MS-MQQB 3.1.5.8."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.admission import Admission, Outcome
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now

INFINITE = 0xFFFFFFFF


@fault("receiver-message-with-time-to-reach-queue-0-never-expires", breaks="MQQB-3.1.5.8-07", blind=True)
class ReceiverMessageWithTimeToReachQueue0NeverExpires(Admission):
    """The receiver puts an expired message into its queue if TimeToReachQueue of the message is 0."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if packet.BaseHeader.TimeToReachQueue:
            return super().check_expiration(session, packet, queue, now)
        endless = replace(packet, BaseHeader=replace(packet.BaseHeader, TimeToReachQueue=INFINITE))
        outcome = super().check_expiration(session, endless, queue, now)
        return outcome if isinstance(outcome, MessageClass) else packet
