"""Faults of the access checks of received messages. Spec: MS-MQQB 3.1.5.8.3."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults.primitives import procedure, skip
from harness.faults.registry import Install
from harness.faults.security_receipt import add
from reference_qm.codec import SecurityHeader, UserMessagePacket
from reference_qm.core.protocol.security_lookup import SecurityLookup
from reference_qm.core.protocol.security_on_receipt import SecurityOnReceipt
from reference_qm.core.queue_manager import QueueManager
from reference_qm.security import DEFAULT_QUEUE_SECURITY, EVERYONE, Acl, QueueAccess, SecurityDescriptor, Sid

SELF = Sid(5, (10,))
Original = Callable[..., Any]


def _descriptors(change: Callable[[SecurityDescriptor], SecurityDescriptor]) -> Install:
    return procedure(SecurityLookup.find_queue_security, lambda original: lambda qm, queue: change(original(qm, queue)))


def _aces(change: Callable[[Any], Iterable[Any]]) -> Callable[[SecurityDescriptor], SecurityDescriptor]:
    def changed(descriptor: SecurityDescriptor) -> SecurityDescriptor:
        if descriptor.Dacl is None:
            return descriptor
        return replace(descriptor, Dacl=Acl(tuple(new for ace in descriptor.Dacl.Aces for new in change(ace))))

    return changed


def _peeking_writes(ace: Any) -> list[Any]:
    both = QueueAccess.MQSEC_PEEK_MESSAGE | QueueAccess.MQSEC_WRITE_MESSAGE
    return [replace(ace, Mask=ace.Mask | both) if ace.Mask & QueueAccess.MQSEC_PEEK_MESSAGE else ace]


def _writing_is_not_enough(ace: Any) -> list[Any]:
    mask = ace.Mask if ace.Mask & ~QueueAccess.MQSEC_WRITE_MESSAGE else 0
    return [replace(ace, Mask=mask)]


def _self_is_everybody(ace: Any) -> list[Any]:
    return [replace(ace, Sid=EVERYONE) if ace.Sid == SELF else ace]


def _sender(change: Callable[[Any], Any]) -> Install:
    def make(original: Original) -> Original:
        def authorize(qm: QueueManager, packet: UserMessagePacket, queue: Any) -> None:
            original(qm, replace(packet, SecurityHeader=change(packet.SecurityHeader)), queue)

        return authorize

    return procedure(SecurityOnReceipt.authorize_sender, make)


def _everybody_is_everyone(security: Any) -> Any:
    return replace(security, Flags=security.Flags & ~0xF | SecurityHeader.flags(ST=2))


def _queue_managers_are_nobody(security: Any) -> Any:
    return replace(security, Flags=security.Flags & ~0xF) if security.ST == 2 else security


def _queue_managers_by_name(security: Any) -> Any:
    return replace(security, Flags=security.Flags & ~0xF | SecurityHeader.flags(ST=1))


def _first_queue(original: Original) -> Original:
    return lambda qm, packet, queue: original(qm, packet, next(iter(qm.adm.QueueCollection.values())))


add("access-not-checked", "89 99 120", "Everybody may write to every queue.", skip(SecurityOnReceipt.authorize_sender))
add(
    "access-to-another-queue",
    "90",
    "Access is checked against the first queue that there is.",
    procedure(SecurityOnReceipt.authorize_sender, _first_queue),
)
add(
    "access-by-default-descriptor",
    "91",
    "Access is checked against what queues grant that were given nothing.",
    _descriptors(lambda _: DEFAULT_QUEUE_SECURITY),
)
add(
    "queue-managers-are-anonymous",
    "97",
    "A queue manager counts as the anonymous user.",
    _sender(_queue_managers_are_nobody),
)
add("queue-managers-by-guid", "97", "The GUID of a queue manager is taken for a SID.", _sender(_queue_managers_by_name))
add("users-are-everyone", "98", "Users count as Everyone, as queue managers do.", _sender(_everybody_is_everyone))
add(
    "unknown-accounts-have-tokens",
    "102 105 110",
    "A SID that is nobody's has a token as any other.",
    procedure(SecurityLookup.find_groups, lambda original: lambda qm, sid: original(qm, sid) or frozenset()),
)
add(
    "accounts-not-found",
    "105 110",
    "The account of a SID is never found.",
    procedure(SecurityLookup.find_groups, lambda _: lambda qm, sid: None),
)
add(
    "groups-not-in-token",
    "114 115 116",
    "The token of a user has no groups.",
    procedure(
        SecurityLookup.find_groups, lambda original: lambda qm, sid: None if original(qm, sid) is None else frozenset()
    ),
)
add("peeking-is-writing", "117", "Who may peek may write.", _descriptors(_aces(_peeking_writes)))
add(
    "writing-alone-not-enough",
    "117",
    "Who may do nothing but write may not write.",
    _descriptors(_aces(_writing_is_not_enough)),
)
add(
    "self-is-anybody",
    "119",
    "What is granted to SELF is granted to the sender.",
    _descriptors(_aces(_self_is_everybody)),
)
