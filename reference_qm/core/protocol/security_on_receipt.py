"""The security of a message that arrived. Spec: MS-MQQB 3.1.5.8.3, MS-MQDMPR 3.1.1.2 (Authentication, PrivacyLevel)."""

from __future__ import annotations

from collections.abc import Set
from functools import partial
from typing import TYPE_CHECKING

from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.security import (
    Receiver,
    Refused,
    Sid,
    UserSignCerts,
    authenticate_message,
    authorize_sender,
    decrypt_message,
    identify_sender,
)

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import Queue, Session
    from reference_qm.surface.clock import Now


def check_security(
    qm: QueueManager, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
) -> UserMessagePacket | MessageClass:
    """Give a message to this queue manager in clear and authenticated, or the class of its refusal.

    Spec: MS-MQQB 3.1.5.8.3. A message without SecurityHeader passes, whatever the queue grants, as printed.
    """
    if packet.SecurityHeader is None:
        return packet
    try:
        packet = qm.procedures.decrypt_body(qm, packet, now)
        packet = qm.procedures.authenticate_packet(qm, packet)
        qm.procedures.verify_sender(qm, packet, now)
        qm.procedures.authorize_sender(qm, packet, queue)
    except Refused as refused:
        return refused.message_class
    finally:
        qm.procedures.start_cleanup_timers(qm, now)
    return packet


def decrypt_body(qm: QueueManager, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
    """Decrypt the body when EB is set; raises Refused. Spec: MS-MQQB 3.1.5.8.3."""
    return decrypt_message(packet, _receiver(qm), now)


def authenticate_packet(qm: QueueManager, packet: UserMessagePacket) -> UserMessagePacket:
    """Verify the signature, if there is one, and note its kind in AS; raises Refused. Spec: MS-MQQB 3.1.5.8.3."""
    return authenticate_message(packet, partial(qm.procedures.signed_properties, qm))


def verify_sender(qm: QueueManager, packet: UserMessagePacket, now: Now) -> None:
    """Verify the identity of who signed; raises Refused. Spec: MS-MQQB 3.1.5.8.3."""
    identify_sender(packet, _receiver(qm), now)


def authorize(qm: QueueManager, packet: UserMessagePacket, queue: Queue) -> None:
    """Check that the sender may write to the queue; raises Refused. Spec: MS-MQQB 3.1.5.8.3."""
    authorize_sender(packet, _receiver(qm), qm.procedures.find_queue_security(qm, queue))


def check_queue_demands(
    qm: QueueManager, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
) -> UserMessagePacket | MessageClass:
    """Check that a message is authenticated and encrypted as its queue demands. Spec: MS-MQDMPR 3.1.1.2.

    No document says how such a message is refused: as one whose signature, or encryption, is not valid.
    """
    if not queue.Authentication and queue.PrivacyLevel is PrivacyLevel.OPTIONAL:
        return packet
    security = packet.SecurityHeader
    authenticated, encrypted = (False, False) if security is None else (bool(security.AS), bool(security.EB))
    return unmet_demand(queue, authenticated=authenticated, encrypted=encrypted) or packet


def unmet_demand(queue: Queue, *, authenticated: bool, encrypted: bool) -> MessageClass | None:
    """Give the class of refusal of a message that is not what its queue accepts; None when it is."""
    if queue.Authentication and not authenticated:
        return MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
    wanted = {PrivacyLevel.NONE: False, PrivacyLevel.BODY: True}.get(queue.PrivacyLevel, encrypted)
    return None if wanted is encrypted else MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION


class _Accounts:
    """What the directory and the configuration say of users."""

    __slots__ = ("_qm",)

    def __init__(self, qm: QueueManager) -> None:
        self._qm = qm

    def certificates(self, security_id: bytes) -> UserSignCerts | None:
        return self._qm.procedures.find_user_certificates(self._qm, security_id)

    def groups(self, sid: Sid) -> Set[Sid] | None:
        return self._qm.procedures.find_groups(self._qm, sid)


def _receiver(qm: QueueManager) -> Receiver:
    return Receiver(qm.caches, qm.config.security.encryption_keys, _Accounts(qm))
