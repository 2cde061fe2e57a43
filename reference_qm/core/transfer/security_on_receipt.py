from __future__ import annotations

from collections.abc import Set

from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.part import QueueManagerPart
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.model.adm import Queue, Session
from reference_qm.security import (
    ReceivedMessageRefused,
    ReceiverSecurityData,
    Sid,
    SignatureType,
    UserSignCerts,
    authenticate_message,
    authorize_sender,
    build_signed_content,
    decrypt_message,
    identify_sender,
)
from reference_qm.surface.clock import Now


class SecurityOnReceipt(QueueManagerPart):
    """Checks the signature, the encryption and the sender of arrived messages.

    Spec: MS-MQQB 3.1.5.8.3, MS-MQDMPR 3.1.1.2 (Authentication, PrivacyLevel).
    """

    __slots__ = ()

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        """Return the decrypted and authenticated packet of an arrived message. If the message is refused, return the
        class of the negative acknowledgment instead.

        Spec: MS-MQQB 3.1.5.8.3. As in the document, a message without a SecurityHeader is accepted, whatever rights
        the queue grants.
        """
        if packet.SecurityHeader is None:
            return packet
        try:
            packet = self.decrypt_body(packet, now)
            packet = self.authenticate_packet(packet)
            self.verify_sender(packet, now)
            self.authorize_sender(packet, queue)
        except ReceivedMessageRefused as refused:
            return refused.message_class
        finally:
            self.qm.cache_timers.start(now)
        return packet

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        """Decrypt the body if EB is set. Raise ReceivedMessageRefused if this fails. Spec: MS-MQQB 3.1.5.8.3."""
        return decrypt_message(packet, self._build_receiver(), now)

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        """Verify the signature if there is one, and store its type in AS. Raise ReceivedMessageRefused for an invalid
        signature. Spec: MS-MQQB 3.1.5.8.3.
        """
        return authenticate_message(packet, self.build_signed_properties)

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        """Verify the identity of the signer. Raise ReceivedMessageRefused if the identity cannot be verified. Spec:
        MS-MQQB 3.1.5.8.3.
        """
        identify_sender(packet, self._build_receiver(), now)

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        """Check whether the sender may write to the queue. Raise ReceivedMessageRefused if the sender may not. Spec:
        MS-MQQB 3.1.5.8.3.
        """
        assert packet.SecurityHeader is not None  # a message without SecurityHeader is not checked
        authorize_sender(
            packet.SecurityHeader, self._build_receiver(), self.qm.security_lookup.find_queue_security(queue)
        )

    def check_queue_security_demands(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        """Check whether a message is authenticated and encrypted as its queue requires. Spec: MS-MQDMPR 3.1.1.2.

        No document specifies the acknowledgment class for a message that does not meet the queue's requirements. This
        method uses the class for an invalid signature or an invalid encryption.
        """
        if not queue.Authentication and queue.PrivacyLevel is PrivacyLevel.OPTIONAL:
            return packet
        security = packet.SecurityHeader
        authenticated, encrypted = (False, False) if security is None else (bool(security.AS), bool(security.EB))
        return find_unmet_security_demand(queue, authenticated=authenticated, encrypted=encrypted) or packet

    def _build_receiver(self) -> ReceiverSecurityData:
        return ReceiverSecurityData(
            self.qm.caches, self.qm.config.security.encryption_keys, _DirectoryAccountFinder(self.qm.security_lookup)
        )

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        """Return the properties that a signature covers. Spec: MS-MQMQ 2.5.1, 2.5.2, 2.5.3."""
        return build_signed_content(packet, kind)


def find_unmet_security_demand(queue: Queue, *, authenticated: bool, encrypted: bool) -> MessageClass | None:
    """If a message is not authenticated or encrypted as its queue requires, return the class of the negative
    acknowledgment, otherwise None.
    """
    if queue.Authentication and not authenticated:
        return MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
    wanted = {PrivacyLevel.NONE: False, PrivacyLevel.BODY: True}.get(queue.PrivacyLevel, encrypted)
    return None if wanted is encrypted else MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION


class _DirectoryAccountFinder:
    """Finds users in the directory and in the configuration."""

    __slots__ = ("_lookup",)

    def __init__(self, lookup: SecurityLookup) -> None:
        self._lookup = lookup

    def certificates(self, security_id: bytes) -> UserSignCerts | None:
        return self._lookup.find_user_certificates(security_id)

    def groups(self, sid: Sid) -> Set[Sid] | None:
        return self._lookup.find_groups(sid)
