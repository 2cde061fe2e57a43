"""Faults of MS-MQQB 3.1.5.8.2 General Processing that occur only with some values of messages."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PrivateQueueFormatNameId, UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import Session


@fault("receiver-message-with-jn-to-private-name-not-counted", breaks="MQQB-3.1.5.8.2-02")
class ReceiverMessageWithJnToPrivateNameNotCounted(Receiving):
    """The receiver does not count a message with JN to a private name in MessageReceivedCount."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        user = packet.UserHeader
        if user.JN and isinstance(user.DestinationQueue, PrivateQueueFormatNameId):
            session.MessageReceivedCount -= 1
