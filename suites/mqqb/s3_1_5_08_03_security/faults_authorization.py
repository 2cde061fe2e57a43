"""Faults of MS-MQQB 3.1.5.8.3 Security: access to the queue."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, SecurityHeader, UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.security import (
    DEFAULT_QUEUE_SECURITY,
    EVERYONE,
    Ace,
    Acl,
    QueueAccess,
    Refused,
    SecurityDescriptor,
    Sid,
)
from reference_qm.surface.clock import Now

SELF = Sid(5, (10,))
ST_NONE, ST_SID, ST_QUEUE_MANAGER = 0, 1, 2
"""Values of SecurityHeader.Flags.ST. Spec: MS-MQMQ 2.2.20.6."""

add(
    "security-access-not-checked",
    (
        "MQQB-3.1.5.8.3-89",
        "MQQB-3.1.5.8.3-99",
        "MQQB-3.1.5.8.3-120",
        "MQSO-7.3-01",
        "MQSO-7.3-02",
        "MQSO-7.3-D01",
    ),
    "Everybody may write to every queue.",
    skip(SecurityOnReceipt.authorize_sender),
)


@fault(
    "security-access-denied-to-all",
    breaks=("MQQB-3.1.5.8.3-89", "MQQB-3.1.5.8.3-90", "MQQB-3.1.5.8.3-91", "MQQB-3.1.5.8.3-99", "MQSO-7.3-D01"),
)
class AccessDeniedToAll(SecurityOnReceipt):
    """Who says who it is may write to no queue."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        raise Refused(MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED, "nobody may write")


@fault("security-demanded-of-all", breaks="MQQB-3.1.5.8.3-01")
class SecurityDemandedOfAll(SecurityOnReceipt):
    """A message without a SecurityHeader is refused for its lack of a signature."""

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        restricted = self.qm.security_lookup.find_queue_security(queue) != DEFAULT_QUEUE_SECURITY
        if packet.SecurityHeader is None and restricted:
            return MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
        return super().check_security(session, packet, queue, now)


@fault("security-access-to-another-queue", breaks="MQQB-3.1.5.8.3-90")
class AccessToAnotherQueue(SecurityOnReceipt):
    """Access is checked against the first queue that there is."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        super().authorize_sender(packet, next(iter(self.qm.adm.QueueCollection.values())))


# -- who the sender is ---------------------------------------------------------------------------------------------


def _sender(sent: int, other: int) -> Install:
    """Take one ST for another."""

    class OtherSender(SecurityOnReceipt):
        def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
            security = packet.SecurityHeader
            if security is not None and sent == security.ST:
                flags = security.Flags & ~SecurityHeader.flags(ST=0xF) | SecurityHeader.flags(ST=other)
                packet = replace(packet, SecurityHeader=replace(security, Flags=flags))
            super().authorize_sender(packet, queue)

    return replace_part(OtherSender)


add(
    "security-queue-managers-are-anonymous",
    "MQQB-3.1.5.8.3-97",
    "A queue manager counts as the anonymous user.",
    _sender(ST_QUEUE_MANAGER, ST_NONE),
)
add(
    "security-queue-managers-by-guid",
    "MQQB-3.1.5.8.3-97",
    "The GUID of a queue manager is taken for a SID.",
    _sender(ST_QUEUE_MANAGER, ST_SID),
)
add(
    "security-users-are-everyone",
    "MQQB-3.1.5.8.3-98",
    "Users count as Everyone, as queue managers do.",
    _sender(ST_SID, ST_QUEUE_MANAGER),
)


@fault(
    "security-unknown-accounts-have-tokens",
    breaks=("MQQB-3.1.5.8.3-102", "MQQB-3.1.5.8.3-105", "MQQB-3.1.5.8.3-110"),
)
class UnknownAccountsHaveTokens(SecurityLookup):
    """A SID that is nobody's has a token as any other."""

    def find_groups(self, sid: Sid) -> Set[Sid] | None:
        return super().find_groups(sid) or frozenset()


@fault("security-accounts-not-found", breaks=("MQQB-3.1.5.8.3-105", "MQQB-3.1.5.8.3-110"))
class AccountsNotFound(SecurityLookup):
    """The account of a SID is never found."""

    def find_groups(self, sid: Sid) -> Set[Sid] | None:
        return None


@fault(
    "security-groups-not-in-token",
    breaks=("MQQB-3.1.5.8.3-114", "MQQB-3.1.5.8.3-115", "MQQB-3.1.5.8.3-116"),
)
class GroupsNotInToken(SecurityLookup):
    """The token of a user has no groups."""

    def find_groups(self, sid: Sid) -> Set[Sid] | None:
        return None if super().find_groups(sid) is None else frozenset()


# -- what the queue grants -----------------------------------------------------------------------------------------


@fault("security-access-by-default-descriptor", breaks="MQQB-3.1.5.8.3-91")
class AccessByDefaultDescriptor(SecurityLookup):
    """Access is checked against what queues grant that were given nothing."""

    def find_queue_security(self, queue: Queue) -> SecurityDescriptor:
        return DEFAULT_QUEUE_SECURITY


def _granted(change: Callable[[Ace], Ace]) -> Install:
    """Change the entries of the access control lists of queues."""

    class Granted(SecurityLookup):
        def find_queue_security(self, queue: Queue) -> SecurityDescriptor:
            descriptor = super().find_queue_security(queue)
            if descriptor.Dacl is None:
                return descriptor
            return replace(descriptor, Dacl=Acl(tuple(map(change, descriptor.Dacl.Aces))))

    return replace_part(Granted)


def _peeking_is_writing(ace: Ace) -> Ace:
    peeking = ace.Mask & QueueAccess.MQSEC_PEEK_MESSAGE
    return replace(ace, Mask=ace.Mask | QueueAccess.MQSEC_WRITE_MESSAGE) if peeking else ace


def _writing_alone_not_enough(ace: Ace) -> Ace:
    return replace(ace, Mask=ace.Mask if ace.Mask & ~QueueAccess.MQSEC_WRITE_MESSAGE else 0)


def _self_is_anybody(ace: Ace) -> Ace:
    return replace(ace, Sid=EVERYONE) if ace.Sid == SELF else ace


add(
    "security-peeking-is-writing",
    "MQQB-3.1.5.8.3-117",
    "Who may peek may write.",
    _granted(_peeking_is_writing),
)
add(
    "security-writing-alone-not-enough",
    "MQQB-3.1.5.8.3-117",
    "Who may do nothing but write may not write.",
    _granted(_writing_alone_not_enough),
)
add(
    "security-self-is-anybody",
    "MQQB-3.1.5.8.3-119",
    "What is granted to SELF is granted to the sender.",
    _granted(_self_is_anybody),
)
