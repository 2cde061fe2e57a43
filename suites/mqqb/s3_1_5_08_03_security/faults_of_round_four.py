"""Faults that break rules of MS-MQQB 3.1.5.8.3 Security, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now


@fault("receiver-access-granted-earlier-not-checked-again", breaks="MQQB-3.1.5.8.3-120", blind=True)
class ReceiverAccessGrantedEarlierNotCheckedAgain(SecurityOnReceipt):
    """The receiver accepts a message of a sender that has lost its access to the queue, because it accepted an earlier
    message with the same SecurityID.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.granted: set[tuple[int, bytes, str]] = set()

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        security = packet.SecurityHeader
        if security is None:
            super().authorize_sender(packet, queue)
            return
        access = (security.ST, security.SecurityData.SecurityID, queue.Pathname.lower())
        if access not in self.granted:
            super().authorize_sender(packet, queue)
            self.granted.add(access)


@fault("receiver-certificate-of-refused-message-not-cached", breaks="MQQB-3.1.5.8.3-28", blind=True)
class ReceiverCertificateOfRefusedMessageNotCached(SecurityOnReceipt):
    """The receiver does not cache the registered certificate of a message that it refuses in a later security check."""

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        cached = list(self.qm.caches.UserCertCache.entries)
        outcome = super().check_security(session, packet, queue, now)
        if isinstance(outcome, MessageClass):
            self.qm.caches.UserCertCache.entries = cached
        return outcome
