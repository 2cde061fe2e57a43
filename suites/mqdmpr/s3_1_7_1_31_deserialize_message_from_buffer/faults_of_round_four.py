"""Faults that break rules of MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer, written without knowledge of the
checks.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SecurityHeader, UserHeader, UserMessagePacket
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now


@fault("receiver-gives-message-security-attributes-of-previous-message", breaks="MQDMPR-3.1.7.1.31-05", blind=True)
class ReceiverGivesMessageSecurityAttributesOfPreviousMessage(MessageAdmission):
    """The receiver gives a message without a SecurityHeader the security attributes of the last message of the
    session that had one.
    """

    def admit(
        self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
    ) -> UserMessagePacket | None:
        last_headers: dict[int, SecurityHeader] = vars(self).setdefault("last_headers", {})
        admitted = super().admit(session, packet, queue, now)
        if admitted is None:
            return None
        if admitted.SecurityHeader is not None:
            last_headers[session.number] = admitted.SecurityHeader
        elif session.number in last_headers:
            return replace(
                admitted,
                BaseHeader=replace(admitted.BaseHeader, PacketSize=0),
                UserHeader=replace(admitted.UserHeader, Flags=admitted.UserHeader.Flags | UserHeader.flags(SH=1)),
                SecurityHeader=last_headers[session.number],
            )
        return admitted
