"""Faults that break rules of MS-MQQB 3.1.5.8.3 Security about access to the queue."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, SecurityHeader, UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.security import (
    DEFAULT_QUEUE_SECURITY,
    EVERYONE_SID,
    Ace,
    Acl,
    QueueAccess,
    ReceivedMessageRefused,
    SecurityDescriptor,
    Sid,
)
from reference_qm.surface.clock import Now

PRINCIPAL_SELF_SID = Sid(5, (10,))
SENDER_TYPE_OF_NO_SENDER, SENDER_TYPE_OF_SENDER_WITH_SID, SENDER_TYPE_OF_QUEUE_MANAGER = 0, 1, 2
"""Values of SecurityHeader.Flags.ST. Spec: MS-MQMQ 2.2.20.6."""

add(
    "receiver-write-access-not-checked",
    (
        "MQQB-3.1.5.8.3-89",
        "MQQB-3.1.5.8.3-99",
        "MQQB-3.1.5.8.3-120",
        "MQSO-7.3-01",
        "MQSO-7.3-02",
        "MQSO-7.3-D01",
    ),
    "The receiver lets every sender write to every queue.",
    omit_step(SecurityOnReceipt.authorize_sender),
)


@fault(
    "receiver-write-access-denied-to-every-user",
    breaks=("MQQB-3.1.5.8.3-89", "MQQB-3.1.5.8.3-90", "MQQB-3.1.5.8.3-91", "MQQB-3.1.5.8.3-99", "MQSO-7.3-D01"),
)
class ReceiverWriteAccessDeniedToEveryUser(SecurityOnReceipt):
    """The receiver denies write access to every sender with a SecurityHeader."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        raise ReceivedMessageRefused(
            MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED, "a fault denies every user the right to write"
        )


@fault("receiver-message-without-security-header-refused", breaks="MQQB-3.1.5.8.3-01")
class ReceiverMessageWithoutSecurityHeaderRefused(SecurityOnReceipt):
    """The receiver refuses a message without a SecurityHeader and acknowledges it with BAD_SIGNATURE."""

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        restricted = self.qm.security_lookup.find_queue_security(queue) != DEFAULT_QUEUE_SECURITY
        if packet.SecurityHeader is None and restricted:
            return MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
        return super().check_security(session, packet, queue, now)


@fault("receiver-write-access-checked-on-first-queue-only", breaks="MQQB-3.1.5.8.3-90")
class ReceiverWriteAccessCheckedOnFirstQueueOnly(SecurityOnReceipt):
    """The receiver checks the access to its first queue instead of the access to the destination queue."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        super().authorize_sender(packet, next(iter(self.qm.adm.QueueCollection.values())))


# -- the sender ----------------------------------------------------------------------------------------------------


def _replace_sender_type(sent: int, other: int) -> Install:
    """Make the receiver treat one value of ST as a different value."""

    class ReplacedSenderType(SecurityOnReceipt):
        def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
            security = packet.SecurityHeader
            if security is not None and sent == security.ST:
                flags = security.Flags & ~SecurityHeader.flags(ST=0xF) | SecurityHeader.flags(ST=other)
                packet = replace(packet, SecurityHeader=replace(security, Flags=flags))
            super().authorize_sender(packet, queue)

    return replace_part(ReplacedSenderType)


add(
    "receiver-queue-manager-treated-as-anonymous",
    "MQQB-3.1.5.8.3-97",
    "The receiver treats a sender that is a queue manager as the anonymous user.",
    _replace_sender_type(SENDER_TYPE_OF_QUEUE_MANAGER, SENDER_TYPE_OF_NO_SENDER),
)
add(
    "receiver-queue-manager-guid-used-as-sid",
    "MQQB-3.1.5.8.3-97",
    "The receiver uses the GUID of a sender that is a queue manager as the sender's SID.",
    _replace_sender_type(SENDER_TYPE_OF_QUEUE_MANAGER, SENDER_TYPE_OF_SENDER_WITH_SID),
)
add(
    "receiver-access-check-treats-user-as-everyone",
    "MQQB-3.1.5.8.3-98",
    "The receiver treats a sender that is a user as Everyone.",
    _replace_sender_type(SENDER_TYPE_OF_SENDER_WITH_SID, SENDER_TYPE_OF_QUEUE_MANAGER),
)


@fault(
    "receiver-grants-access-to-unknown-account",
    breaks=("MQQB-3.1.5.8.3-102", "MQQB-3.1.5.8.3-105", "MQQB-3.1.5.8.3-110"),
)
class ReceiverGrantsAccessToUnknownAccount(SecurityLookup):
    """The receiver creates a token for a SID without an account."""

    def find_groups(self, sid: Sid) -> Set[Sid] | None:
        return super().find_groups(sid) or frozenset()


@fault("receiver-account-of-sid-not-found", breaks=("MQQB-3.1.5.8.3-105", "MQQB-3.1.5.8.3-110"))
class ReceiverAccountOfSidNotFound(SecurityLookup):
    """The receiver finds no account for any SID."""

    def find_groups(self, sid: Sid) -> Set[Sid] | None:
        return None


@fault(
    "receiver-access-check-ignores-groups-of-sender",
    breaks=("MQQB-3.1.5.8.3-114", "MQQB-3.1.5.8.3-115", "MQQB-3.1.5.8.3-116"),
)
class ReceiverAccessCheckIgnoresGroupsOfSender(SecurityLookup):
    """The receiver creates a token without the groups of the user."""

    def find_groups(self, sid: Sid) -> Set[Sid] | None:
        return None if super().find_groups(sid) is None else frozenset()


# -- the rights at the queue ---------------------------------------------------------------------------------------


@fault("receiver-write-access-checked-by-default-security-descriptor", breaks="MQQB-3.1.5.8.3-91")
class ReceiverWriteAccessCheckedByDefaultSecurityDescriptor(SecurityLookup):
    """The receiver checks access by the default security descriptor instead of the queue's own descriptor."""

    def find_queue_security(self, queue: Queue) -> SecurityDescriptor:
        return DEFAULT_QUEUE_SECURITY


def _change_queue_rights(change: Callable[[Ace], Ace]) -> Install:
    """Make the receiver change the entries of the access control lists of queues."""

    class ChangedQueueRights(SecurityLookup):
        def find_queue_security(self, queue: Queue) -> SecurityDescriptor:
            descriptor = super().find_queue_security(queue)
            if descriptor.Dacl is None:
                return descriptor
            return replace(descriptor, Dacl=Acl(tuple(map(change, descriptor.Dacl.Aces))))

    return replace_part(ChangedQueueRights)


def _grant_write_right_with_peek_right(ace: Ace) -> Ace:
    peeking = ace.Mask & QueueAccess.MQSEC_PEEK_MESSAGE
    return replace(ace, Mask=ace.Mask | QueueAccess.MQSEC_WRITE_MESSAGE) if peeking else ace


def _remove_write_right_without_other_right(ace: Ace) -> Ace:
    return replace(ace, Mask=ace.Mask if ace.Mask & ~QueueAccess.MQSEC_WRITE_MESSAGE else 0)


def _grant_rights_of_self_to_everyone(ace: Ace) -> Ace:
    return replace(ace, Sid=EVERYONE_SID) if ace.Sid == PRINCIPAL_SELF_SID else ace


add(
    "receiver-peek-right-grants-write",
    "MQQB-3.1.5.8.3-117",
    "The receiver grants write access to a sender with the right to peek.",
    _change_queue_rights(_grant_write_right_with_peek_right),
)
add(
    "receiver-write-right-alone-not-sufficient",
    "MQQB-3.1.5.8.3-117",
    "The receiver denies write access to a sender whose only right is the right to write.",
    _change_queue_rights(_remove_write_right_without_other_right),
)
add(
    "receiver-self-right-granted-to-sender",
    "MQQB-3.1.5.8.3-119",
    "The receiver grants the rights of SELF to every sender.",
    _change_queue_rights(_grant_rights_of_self_to_everyone),
)


def _move_sid_to_other_domain(one: Sid) -> Sid:
    data = one.build()
    return Sid.parse(data[:-16] + b"\1\0\0\0\2\0\0\0\3\0\0\0" + data[-4:]) if len(data) >= 28 else one


@fault("receiver-gives-later-groups-of-account-sids-of-foreign-domain", breaks="MQQB-3.1.5.8.3-116", blind=True)
class ReceiverGivesLaterGroupsOfAccountSidsOfForeignDomain(SecurityLookup):
    """The receiver begins the SID of the second and of each later group of an account with a foreign domain SID."""

    def find_groups(self, sid: Sid) -> Set[Sid] | None:
        groups = super().find_groups(sid)
        if groups is None:
            return None
        ordered = sorted(groups, key=str)
        return frozenset([*ordered[:1], *(_move_sid_to_other_domain(one) for one in ordered[1:])])
