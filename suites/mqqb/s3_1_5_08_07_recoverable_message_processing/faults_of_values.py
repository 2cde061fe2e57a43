"""Faults of MS-MQQB 3.1.5.8.7 Recoverable Message Processing that occur only with some values of a message."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.model.message import INFINITE
from reference_qm.surface.clock import Now

LONG_BODY = 4_096
"""The size of a long body, in bytes."""


@fault("receiver-recoverable-message-with-long-body-and-extension-not-flagged", breaks="MQQB-3.1.5.8.7-01")
class ReceiverRecoverableMessageWithLongBodyAndExtensionNotFlagged(Receiving):
    """The receiver sets no acknowledgment flag for a recoverable message with ExtensionData and a body of more than
    4,096 bytes.
    """

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        properties = packet.MessagePropertiesHeader
        if len(properties.MessageBody) > LONG_BODY and properties.ExtensionData:
            receipt.acknowledge = False
        super().take_message(session, packet, receipt, now)


@fault("receiver-recoverable-message-with-time-to-reach-queue-not-flagged", breaks="MQQB-3.1.5.8.7-15")
class ReceiverRecoverableMessageWithTimeToReachQueueNotFlagged(Receiving):
    """The receiver sets no acknowledgment flag for a recoverable message with a TimeToReachQueue."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        receipt.acknowledge = packet.BaseHeader.TimeToReachQueue == INFINITE
        super().take_message(session, packet, receipt, now)
