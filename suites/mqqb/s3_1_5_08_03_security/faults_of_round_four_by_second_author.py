"""Faults of MS-MQQB 3.1.5.8.3 Security: the level 0, a second sender, and a part of the SIMPLEBLOB."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import SecurityHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue
from reference_qm.security import PrivacyLevel
from reference_qm.surface.clock import Now

SIMPLE_BLOB_TYPE = 1
SIMPLE_BLOB_BEGIN = b"\x01\x02\x00\x00"
USER_SENDER_TYPE = 1


@fault("receiver-encrypted-message-of-level-0-accepted", breaks="MQQB-3.1.5.8.3-51", blind=True)
class ReceiverEncryptedMessageOfLevel0Accepted(SecurityOnReceipt):
    """The receiver accepts a message with EB and PrivacyLevel 0 as if its body were not encrypted."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        if packet.MessagePropertiesHeader.PrivacyLevel == PrivacyLevel.NONE:
            return packet
        return super().decrypt_body(packet, now)


@fault("receiver-access-of-second-user-checked-with-first-sid", breaks="MQQB-3.1.5.8.3-98", blind=True)
class ReceiverAccessOfSecondUserCheckedWithFirstSid(SecurityOnReceipt):
    """For all messages of one queue manager that have ST 1, the receiver checks access with the SecurityID of the first
    of these messages.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first_headers: dict[UUID, SecurityHeader] = {}

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        header = packet.SecurityHeader
        if header is not None and header.ST == USER_SENDER_TYPE:
            first = self.first_headers.setdefault(packet.UserHeader.SourceQueueManager, header)
            packet = replace(packet, SecurityHeader=first)
        super().authorize_sender(packet, queue)


@fault("receiver-encryption-key-version-of-simpleblob-not-checked", breaks="MQQB-3.1.5.8.3-63", blind=True)
class ReceiverEncryptionKeyVersionOfSimpleblobNotChecked(SecurityOnReceipt):
    """The receiver checks only the first byte of an EncryptionKey, and accepts a key whose next three bytes are not
    those of a SIMPLEBLOB.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        header = packet.SecurityHeader
        if header is None or header.SecurityData.EncryptionKey[:1] != bytes([SIMPLE_BLOB_TYPE]):
            return super().decrypt_body(packet, now)
        key = SIMPLE_BLOB_BEGIN + header.SecurityData.EncryptionKey[len(SIMPLE_BLOB_BEGIN) :]
        changed = replace(header, SecurityData=replace(header.SecurityData, EncryptionKey=key))
        return replace(super().decrypt_body(replace(packet, SecurityHeader=changed), now), SecurityHeader=header)
