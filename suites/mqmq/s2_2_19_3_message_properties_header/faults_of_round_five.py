"""Faults of the fifth round that break rules of MS-MQMQ 2.2.19.3 MessagePropertiesHeader."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import send_wrong_field_values, set_fields
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.store.messages import HASH_SHA_512
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now


@fault("sender-hash-algorithm-of-signed-and-encrypted-message-always-sha-512", breaks="MQMQ-2.2.19.3-D02", blind=True)
class SenderHashAlgorithmOfSignedAndEncryptedMessageAlwaysSha512(MessageSecuring):
    """The sender sets HashAlgorithm of a message that is both signed and encrypted to SHA-512, even if the application
    requested another algorithm.
    """

    def secure_user_message(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket | None:
        secured = super().secure_user_message(session, message, packet, now)
        wanted = message.security
        if secured is None or wanted is None or not (wanted.AuthenticationLevel and wanted.PrivacyLevel):
            return secured
        return set_fields(secured, {"MessagePropertiesHeader.HashAlgorithm": HASH_SHA_512})


add(
    "sender-report-label-length-without-null",
    "MQMQ-2.2.19.3-11",
    "The sender omits the terminating null of the label of a report, and does not count it in LabelLength.",
    send_wrong_field_values(
        UserMessagePacket,
        {"MessagePropertiesHeader.LabelTerminated": False, "MessagePropertiesHeader.Padding": None},
        lambda packet: packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_REPORT,
    ),
    blind=True,
)
