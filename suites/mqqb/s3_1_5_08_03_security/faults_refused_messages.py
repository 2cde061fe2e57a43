"""Faults of MS-MQQB 3.1.5.8.3 Security: what becomes of a message that is refused."""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.refusal_acks import final_ack_missing, nack_missing, nack_unasked
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now

BAD_SIGNATURE = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
BAD_ENCRYPTION = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION
ACCESS_DENIED = MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED


def _taken_anyway(refused: MessageClass) -> Install:
    """Report that a message is refused, and put it into its queue."""

    class TakenAnyway(SecurityOnReceipt):
        def check_security(
            self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
        ) -> UserMessagePacket | MessageClass:
            outcome = super().check_security(session, packet, queue, now)
            if outcome is not refused:
                return outcome
            self.qm.admission.refuse_message(session, packet, refused, now)
            return packet

    return replace_part(TakenAnyway)


for _name, _breaks, _says, _install in (
    (
        "security-signature-nack-missing",
        ("MQQB-3.1.5.8.3-15", "MQDMPR-3.1.1.12-D16", "MQQB-3.1.5.8.3-38"),
        "A message refused for its signature is not acknowledged to the administration queue.",
        nack_missing(BAD_SIGNATURE),
    ),
    (
        "security-signature-nack-unasked",
        ("MQQB-3.1.5.8.3-15", "MQDMPR-3.1.1.12-D16", "MQQB-3.1.5.8.3-38"),
        "A message refused for its signature is acknowledged to the administration queue without NA.",
        nack_unasked(BAD_SIGNATURE),
    ),
    (
        "security-signature-final-ack-missing",
        ("MQQB-3.1.5.8.3-18", "MQQB-3.1.5.8.3-41"),
        "No FinalAck is sent of a message refused for its signature.",
        final_ack_missing(BAD_SIGNATURE),
    ),
    (
        "security-signature-refused-and-taken",
        ("MQQB-3.1.5.8.3-21", "MQQB-3.1.5.8.3-44"),
        "A message refused for its signature is put into its queue.",
        _taken_anyway(BAD_SIGNATURE),
    ),
    (
        "security-encryption-nack-missing",
        ("MQQB-3.1.5.8.3-48", "MQQB-3.1.5.8.3-72", "MQQB-3.1.5.8.3-82", "MQDMPR-3.1.1.12-D17"),
        "A message refused for its encryption is not acknowledged to the administration queue.",
        nack_missing(BAD_ENCRYPTION),
    ),
    (
        "security-encryption-nack-unasked",
        ("MQQB-3.1.5.8.3-48", "MQQB-3.1.5.8.3-72", "MQQB-3.1.5.8.3-82", "MQDMPR-3.1.1.12-D17"),
        "A message refused for its encryption is acknowledged to the administration queue without NA.",
        nack_unasked(BAD_ENCRYPTION),
    ),
    (
        "security-encryption-final-ack-missing",
        ("MQQB-3.1.5.8.3-51", "MQQB-3.1.5.8.3-75", "MQQB-3.1.5.8.3-85"),
        "No FinalAck is sent of a message refused for its encryption.",
        final_ack_missing(BAD_ENCRYPTION),
    ),
    (
        "security-encryption-refused-and-taken",
        ("MQQB-3.1.5.8.3-54", "MQQB-3.1.5.8.3-78", "MQQB-3.1.5.8.3-88"),
        "A message refused for its encryption is put into its queue.",
        _taken_anyway(BAD_ENCRYPTION),
    ),
    (
        "security-access-nack-missing",
        ("MQQB-3.1.5.8.3-121", "MQDMPR-3.1.1.12-D14"),
        "A message whose sender is denied access is not acknowledged to the administration queue.",
        nack_missing(ACCESS_DENIED),
    ),
    (
        "security-access-nack-unasked",
        ("MQQB-3.1.5.8.3-121", "MQDMPR-3.1.1.12-D14"),
        "A message whose sender is denied access is acknowledged to the administration queue without NA.",
        nack_unasked(ACCESS_DENIED),
    ),
    (
        "security-access-final-ack-missing",
        "MQQB-3.1.5.8.3-124",
        "No FinalAck is sent of a message whose sender is denied access.",
        final_ack_missing(ACCESS_DENIED),
    ),
    (
        "security-access-refused-and-taken",
        "MQQB-3.1.5.8.3-127",
        "A message whose sender is denied access is put into its queue.",
        _taken_anyway(ACCESS_DENIED),
    ),
):
    add(_name, _breaks, _says, _install)
