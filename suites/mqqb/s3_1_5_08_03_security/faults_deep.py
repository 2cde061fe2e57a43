"""Faults of MS-MQQB 3.1.5.8.3 Security that only special cases show: second occurrences, other causes,
boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now

SECURITY_CLASSES = (
    MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE,
    MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION,
    MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED,
)
RULES_OF_NACKS = (
    "MQQB-3.1.5.8.3-15",
    "MQQB-3.1.5.8.3-38",
    "MQQB-3.1.5.8.3-48",
    "MQQB-3.1.5.8.3-82",
    "MQQB-3.1.5.8.3-121",
)
RULES_OF_FINAL_ACKS = (
    "MQQB-3.1.5.8.3-18",
    "MQQB-3.1.5.8.3-41",
    "MQQB-3.1.5.8.3-51",
    "MQQB-3.1.5.8.3-85",
    "MQQB-3.1.5.8.3-124",
)


@fault("receiver-security-nack-of-recoverable-message-omitted", breaks=RULES_OF_NACKS, blind=True)
class NotForRecoverable(Admission):
    """The receiver acknowledges only express messages that fail a security check."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        nontransactional = packet.TransactionHeader is None
        if not (message_class in SECURITY_CLASSES and packet.UserHeader.DM and nontransactional):
            super().refuse_message(session, packet, message_class, now)


@fault("receiver-security-nack-of-transactional-message-omitted", breaks=RULES_OF_NACKS, blind=True)
class NotForTransactional(Admission):
    """The receiver sends no administration acknowledgment for a transactional message that fails a security check."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class in SECURITY_CLASSES and packet.TransactionHeader is not None:
            self.qm.final_acks.refuse_transactional(session, packet, message_class, now)
            return
        super().refuse_message(session, packet, message_class, now)


@fault("receiver-security-final-ack-only-with-na", breaks=RULES_OF_FINAL_ACKS, blind=True)
class FinalAckOnlyWithNa(FinalAcks):
    """The receiver sends the FinalAck of a message that fails a security check only if NA is set."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class not in SECURITY_CLASSES or packet.MessagePropertiesHeader.NA:
            super().refuse_transactional(session, packet, message_class, now)


@fault(
    "receiver-security-refused-message-journaled",
    breaks=(
        "MQQB-3.1.5.8.3-21",
        "MQQB-3.1.5.8.3-44",
        "MQQB-3.1.5.8.3-54",
        "MQQB-3.1.5.8.3-88",
        "MQQB-3.1.5.8.3-127",
    ),
    blind=True,
)
class RefusedJournaled(Admission):
    """The receiver puts a message with JN that fails a security check into the receiver's own dead-letter queue."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        if message_class in SECURITY_CLASSES:
            self.journal_refused(replace(self.build_message(packet, now), security=None))


@fault("receiver-signature-of-large-body-not-checked", breaks="MQQB-3.1.5.8.3-02", blind=True)
class LargeNotChecked(SecurityOnReceipt):
    """The receiver does not check the signature of a message whose body is larger than 64 KB."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        if len(packet.MessagePropertiesHeader.MessageBody) > 0x10000:
            return packet
        return super().authenticate_packet(packet)


@fault("receiver-signature-checked-for-recoverable-messages-only", breaks="MQQB-3.1.5.8.3-14", blind=True)
class ExpressNotChecked(SecurityOnReceipt):
    """The receiver accepts an express message with an invalid signature."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        return super().authenticate_packet(packet) if packet.UserHeader.DM else packet


@fault("receiver-privacy-level-compared-by-byte", breaks="MQQB-3.1.5.8.3-47", blind=True)
class PrivacyByByte(SecurityOnReceipt):
    """The receiver compares only the low byte of PrivacyLevel."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        level = properties.PrivacyLevel & 0xFF
        return super().decrypt_body(
            replace(packet, MessagePropertiesHeader=replace(properties, PrivacyLevel=level)), now
        )


@fault("receiver-access-of-sender-checked-once", breaks=("MQQB-3.1.5.8.3-90", "MQQB-3.1.5.8.3-91"), blind=True)
class CheckedOnce(SecurityOnReceipt):
    """Once the receiver has granted a sender access to one queue, it no longer checks the access of this sender to
    other queues.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.granted: set[bytes] = set()

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        header = packet.SecurityHeader
        sender = b"" if header is None else header.SecurityData.SecurityID
        if sender not in self.granted:
            super().authorize_sender(packet, queue)
            self.granted.add(sender)


@fault("receiver-access-denied-remembered", breaks="MQQB-3.1.5.8.3-91", blind=True)
class DeniedRemembered(SecurityOnReceipt):
    """The receiver denies a sender access to every queue once it has denied the sender access to one queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.denied: dict[bytes, Queue] = {}

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        header = packet.SecurityHeader
        sender = b"" if header is None else header.SecurityData.SecurityID
        before = self.denied.get(sender)
        self.denied[sender] = before or queue
        super().authorize_sender(packet, before or queue)
        if before is None:
            del self.denied[sender]


@fault("receiver-cached-certificate-accepted-for-user-of-domain", breaks="MQQB-3.1.5.8.3-23", blind=True)
class CachedByDomain(SecurityOnReceipt):
    """The receiver accepts a cached certificate for any user of the domain to which the user of the cache entry
    belongs.
    """

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        header = packet.SecurityHeader
        if header is not None and header.AS and header.ST:
            data = header.SecurityData
            for known in self.qm.caches.UserCertCache.entries:
                if known.UserCert.Certificate == data.SenderCert and known.SecurityID[:-4] == data.SecurityID[:-4]:
                    return
        super().verify_sender(packet, now)
