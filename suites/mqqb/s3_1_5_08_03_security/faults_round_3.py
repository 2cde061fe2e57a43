"""Faults that break rules of MS-MQQB 3.1.5.8.3."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, MessagePropertiesHeader, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.security import authorize_sender
from reference_qm.security.algorithms import PRIVACY_BY_LEVEL
from reference_qm.security.descriptor import Ace, AceType
from reference_qm.surface.clock import Now


@fault("receiver-no-final-ack-of-invalid-privacy-level-if-na-is-set", breaks="MQQB-3.1.5.8.3-51", blind=True)
class ReceiverNoFinalAckOfInvalidPrivacyLevelIfNaIsSet(FinalAcks):
    """The receiver sends no FinalAck for an encrypted transactional message with an invalid PrivacyLevel if NA is set
    in the message, because the administration acknowledgment reports the refusal.
    """

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        encrypted = packet.SecurityHeader is not None and packet.SecurityHeader.EB
        properties = packet.MessagePropertiesHeader
        reported = properties.Flags & MessagePropertiesHeader.flags(NA=1)
        if not (encrypted and reported and properties.PrivacyLevel not in PRIVACY_BY_LEVEL):
            super().refuse_transactional(session, packet, message_class, now)


@fault("receiver-access-check-denying-aces-before-allowing-aces", breaks="MQQB-3.1.5.8.3-99", blind=True)
class ReceiverAccessCheckDenyingAcesBeforeAllowingAces(SecurityOnReceipt):
    """The receiver refuses a message if any ACE of the queue denies its sender the access, even if an earlier ACE
    allows the access.
    """

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        assert packet.SecurityHeader is not None
        descriptor = self.qm.security_lookup.find_queue_security(queue)
        if descriptor.Dacl is not None:
            aces = tuple(sorted(descriptor.Dacl.Aces, key=_is_not_denying))
            descriptor = replace(descriptor, Dacl=replace(descriptor.Dacl, Aces=aces))
        authorize_sender(packet.SecurityHeader, self._build_receiver(), descriptor)


def _is_not_denying(ace: Ace) -> bool:
    return ace.AceType is not AceType.ACCESS_DENIED
