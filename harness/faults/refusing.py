"""Faults of refusing messages and of sending on those for others. Spec: MS-MQQB 3.1.5.8.2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import Method
from harness.faults.primitives import procedure
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserHeader, UserMessagePacket
from reference_qm.core.protocol.admin_acks import AdminAcks
from reference_qm.core.protocol.admission import Admission
from reference_qm.core.protocol.final_acks import FinalAcks
from reference_qm.core.protocol.receiving import Receiving
from reference_qm.core.protocol.routing import Routing
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now

GENERAL = "MQQB-3.1.5.8.2-"
Original = Callable[..., Any]
_RC = UserHeader.flags(RC=0x1F)


def _any_queue(original: Original) -> Original:
    def find(qm: QueueManager, packet: UserMessagePacket) -> Queue | None:
        return original(qm, packet) or next(iter(qm.adm.QueueCollection.values()))

    return find


def _pass(original: Original) -> Original:
    return lambda qm, session, packet, queue, now: packet


def unacknowledged(*unwanted: MessageClass) -> Install:
    """Send no administration acknowledgment of some failures."""

    def make(original: Original) -> Original:
        def acknowledge(qm: QueueManager, message: Any, message_class: MessageClass, now: Now) -> None:
            if message_class not in unwanted:
                original(qm, message, message_class, now)

        return acknowledge

    return procedure(AdminAcks.acknowledge_failure, make)


def acknowledged_unasked(*unwanted: MessageClass) -> Install:
    """Send an administration acknowledgment of some failures, whether NA is set or not."""

    def make(original: Original) -> Original:
        def acknowledge(qm: QueueManager, message: Any, message_class: MessageClass, now: Now) -> None:
            if message_class in unwanted:
                qm.admin_acks.send(message, message_class, now)
            else:
                original(qm, message, message_class, now)

        return acknowledge

    return procedure(AdminAcks.acknowledge_failure, make)


def without_final_ack(*unwanted: MessageClass) -> Install:
    """Send no FinalAck of some failures."""

    def make(original: Original) -> Original:
        def refuse(qm: QueueManager, session: Session, packet: Any, message_class: MessageClass, now: Now) -> None:
            if message_class not in unwanted:
                original(qm, session, packet, message_class, now)

        return refuse

    return procedure(FinalAcks.refuse_transactional, make)


def _as_purged(name: Method, place: int) -> Install:
    """Tell HOP_COUNT_EXCEEDED as NACK_DELETED; ``place``: of the class in the arguments."""

    def make(original: Original) -> Original:
        def tell(*arguments: Any) -> None:
            changed = list(arguments)
            if changed[place] is MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED:
                changed[place] = MessageClass.MQMSG_CLASS_NACK_DELETED
            original(*changed)

        return tell

    return procedure(name, make)


def _hops(change: Callable[[int], int]) -> Install:
    """Give a message another RC than the counted one, whatever that is."""

    def make(original: Original) -> Original:
        def count(qm: QueueManager, packet: UserMessagePacket) -> UserMessagePacket:
            user = packet.UserHeader
            flags = user.Flags & ~_RC | UserHeader.flags(RC=change(user.RC))
            return replace(packet, UserHeader=replace(user, Flags=flags))

        return count

    return procedure(Routing.count_hop, make)


add(
    "unknown-queue-taken-for-another",
    (f"{GENERAL}14", f"{GENERAL}15", f"{GENERAL}16", f"{GENERAL}23"),
    "A message to a queue that is not there is put into one that is.",
    procedure(Receiving.find_destination, _any_queue),
)
for number, fate, refused in (
    ("17", "message to no queue", MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q),
    ("26", "transactional message to another queue", MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q),
    ("34", "message to a transactional queue", MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG),
):
    add(
        f"refusal-{number}-not-told",
        f"{GENERAL}{number}",
        f"The administration queue is not told of a {fate}.",
        unacknowledged(refused),
    )
    add(
        f"refusal-{number}-told-unasked",
        f"{GENERAL}{number}",
        f"The administration queue is told of a {fate} without NA as well.",
        acknowledged_unasked(refused),
    )
add(
    "no-final-ack-of-no-queue",
    f"{GENERAL}20",
    "No FinalAck tells of a message to no queue.",
    without_final_ack(MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q),
)
add(
    "no-final-ack-of-another-queue",
    f"{GENERAL}29",
    "No FinalAck tells of a transactional message to another queue.",
    without_final_ack(MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q),
)
add(
    "transactional-into-any-queue",
    (f"{GENERAL}24", f"{GENERAL}25", f"{GENERAL}32"),
    "A transactional message is put into any queue.",
    procedure(Admission.check_transactional_queue, _pass),
)
add(
    "any-message-into-transactional-queue",
    (f"{GENERAL}33", f"{GENERAL}37"),
    "A message without transaction is put into a transactional queue.",
    procedure(Admission.check_nontransactional_queue, _pass),
)
add(
    "never-sent-on",
    f"{GENERAL}38",
    "A message for another queue manager is taken for one to this.",
    procedure(Receiving.is_addressed_here, lambda original: lambda qm, packet: True),
)
add("hop-not-counted", f"{GENERAL}39", "RC stays as it is.", _hops(lambda hops: hops))
add(
    "hops-without-end",
    (f"{GENERAL}40", f"{GENERAL}47"),
    "A message may have any number of hops.",
    _hops(lambda hops: min(hops + 1, 0x1D)),
)
add(
    "hops-told-as-purged",
    f"{GENERAL}41",
    "Too many hops are told as a purge.",
    _as_purged(AdminAcks.acknowledge_failure, 2),
)
add(
    "hops-told-finally-as-purged",
    f"{GENERAL}44",
    "A FinalAck tells too many hops as a purge.",
    _as_purged(FinalAcks.refuse_transactional, 3),
)
