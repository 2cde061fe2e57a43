"""Faults in the initialization vectors of encrypted bodies: MQMQ-2.2.19.3-D03."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, Queue, Session
from reference_qm.security import PrivacyLevel
from reference_qm.surface.clock import Now

_AES_BLOCK_BYTES = 16


def _change_first_cipher_block_of_body(packet: UserMessagePacket, size: int) -> UserMessagePacket:
    """Return the packet whose body has its first block changed as by an initialization vector of ones."""
    properties = packet.MessagePropertiesHeader
    first, rest = properties.MessageBody[:size], properties.MessageBody[size:]
    changed = replace(properties, MessageBody=bytes(one ^ 0x01 for one in first) + rest)
    return replace(packet, MessagePropertiesHeader=changed)


@fault("sender-second-body-initialization-vector-not-zero", breaks="MQMQ-2.2.19.3-D03")
class SenderSecondBodyInitializationVectorNotZero(MessageSecuring):
    """The sender uses an initialization vector of ones when it encrypts the second body of a session with AES."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        if message.security is not None and message.security.PrivacyLevel == PrivacyLevel.ADVANCED:
            count = self.__dict__["count"] = self.__dict__.get("count", 0) + 1
            if count > 1:
                packet = _change_first_cipher_block_of_body(packet, _AES_BLOCK_BYTES)
        return super().encrypt_body(session, message, packet, now)


@fault("sender-transactional-body-initialization-vector-not-zero", breaks="MQMQ-2.2.19.3-D03")
class SenderTransactionalBodyInitializationVectorNotZero(MessageSecuring):
    """The sender uses an initialization vector of ones for AES bodies of transactional messages."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        secret = message.security is not None and message.security.PrivacyLevel == PrivacyLevel.ADVANCED
        if secret and packet.TransactionHeader is not None:
            packet = _change_first_cipher_block_of_body(packet, _AES_BLOCK_BYTES)
        return super().encrypt_body(session, message, packet, now)


@fault("receiver-transactional-body-initialization-vector-not-zero", breaks="MQMQ-2.2.19.3-D03")
class ReceiverTransactionalBodyInitializationVectorNotZero(MessageAdmission):
    """The receiver uses an initialization vector of ones when it decrypts the body of a transactional message."""

    def admit(
        self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
    ) -> UserMessagePacket | None:
        admitted = super().admit(session, packet, queue, now)
        secret = packet.SecurityHeader is not None and packet.SecurityHeader.EB
        if admitted is None or not secret or packet.TransactionHeader is None:
            return admitted
        return _change_first_cipher_block_of_body(admitted, _AES_BLOCK_BYTES)
