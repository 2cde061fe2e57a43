"""Faults that break rules of MS-MQQB 3.1.5.11 Receiving Administration Acknowledgments."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import FormatError, Packet, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import MessageIDHistoryEntry, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault(
    "receiver-drops-user-message-of-class-0xc000-or-higher",
    breaks="MQQB-3.1.5.8-04",
    blind=True,
)
class ReceiverDropsUserMessageOfClass0xc000OrHigher(MessageReceiving):
    """The receiver acknowledges and drops a user message whose class is 0xC000 or higher."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        properties = packet.MessagePropertiesHeader
        if properties.MessageClass >= 0xC000 and properties.Label != "QM Ordering Ack":
            receipt.is_on_disk = True
            return
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault(
    "receiver-repeated-administration-acknowledgment-stored",
    breaks="MQQB-3.1.5.8-03",
    blind=True,
)
class ReceiverRepeatedAdministrationAcknowledgmentStored(MessageHistory):
    """The receiver stores a repeated administration acknowledgment again."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        found = super().find_duplicate(packet)
        return None if packet.MessagePropertiesHeader.MessageClass else found


@fault(
    "receiver-express-administration-acknowledgment-refused",
    breaks="MQQB-3.1.5.8-04",
    blind=True,
)
class ReceiverExpressAdministrationAcknowledgmentRefused(Identifying):
    """The receiver treats an express administration acknowledgment as malformed."""

    def check_field_values(self, packet: Packet) -> None:
        super().check_field_values(packet)
        if not isinstance(packet, UserMessagePacket) or packet.UserHeader.DM:
            return
        properties = packet.MessagePropertiesHeader
        if properties.MessageClass and properties.Label != "QM Ordering Ack":
            raise FormatError("UserHeader.DM", 0, "a fault", "the value is 0")


@fault(
    "receiver-administration-acknowledgment-stored-with-class-normal",
    breaks="MQQB-3.1.5.8-04",
    blind=True,
)
class ReceiverAdministrationAcknowledgmentStoredWithClassNormal(MessageReceiving):
    """The receiver stores a negative administration acknowledgment with the class NORMAL."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        properties = packet.MessagePropertiesHeader
        if properties.MessageClass >= 0x8000 and properties.Label != "QM Ordering Ack":
            packet = set_fields(packet, {"MessagePropertiesHeader.MessageClass": 0})
        super().put_received_message_into_queue(session, packet, receipt, now)
