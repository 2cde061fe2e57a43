"""Faults in one name of a message, and in the numbers of private queues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import (
    DirectQueueFormatName,
    MQFDistributionQueueFormatName,
    PrivateQueueFormatNameId,
    UserMessagePacket,
)
from reference_qm.codec.base import BASE_HEADER_SIZE
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.model.adm import Queue
from suites.mqmq.s2_2_18_1_packet_data_types.fault_steps import build_destination_elements
from suites.mqmq.steps.kinds_of_messages import is_transactional

_GUID_SIZE = 16
_USER_HEADER_NAMES_OFFSET = 48
"""The offset of the first queue name in the UserHeader, in bytes."""


def _make_element_builder_with_changed_list(
    change: Callable[[bytes, int, bool], bytes],
) -> Callable[[Any, int, bool], bytes]:
    """Return a function that builds an element; ``change`` changes the bytes of an element with FormatType 6. Its
    arguments are the bytes, their offset, and whether the element is the last one.
    """

    def build_element(element: Any, offset: int, last: bool) -> bytes:
        whole: bytes = element.build(offset)
        listed = isinstance(element.FormatName, MQFDistributionQueueFormatName)
        return change(whole, offset, last) if listed else whole

    return build_element


for _name, _rule, _says, _change in (
    (
        "last-of-20-bytes",
        "MQMQ-2.2.18.1.4.2-01",
        "The sender appends four zeros to the GUID of the last distribution list of a message.",
        lambda whole, offset, last: whole + bytes(4) * last,
    ),
    (
        "of-12-bytes",
        "MQMQ-2.2.18.1.4.2-01",
        "The sender omits the last four bytes of the GUID of a distribution list.",
        lambda whole, offset, last: whole[:-4],
    ),
    (
        "after-8-byte-boundary",
        "MQMQ-2.2.18.1.4.2-01",
        "The sender aligns the GUID of a distribution list to 8 bytes.",
        lambda whole, offset, last: whole[:2] + bytes(-(offset + 2) % 8) + whole[-_GUID_SIZE:],
    ),
    (
        "last-not-aligned",
        "MQMQ-2.2.18.1.4.2-D01",
        "The sender omits the padding before the GUID of the last distribution list of a message.",
        lambda whole, offset, last: whole[:2] + whole[-_GUID_SIZE:] if last else whole,
    ),
    (
        "first-not-aligned",
        "MQMQ-2.2.18.1.4.2-D01",
        "The sender omits the padding before the GUID of a distribution list at the start of the destinations.",
        lambda whole, offset, last: whole[:2] + whole[-_GUID_SIZE:] if offset == 12 else whole,
    ),
    (
        "aligned-from-type",
        "MQMQ-2.2.18.1.4.2-D01",
        "The sender aligns the GUID of a distribution list to 4 bytes from its FormatType, and not from the header.",
        lambda whole, offset, last: whole[:2] + bytes(2) + whole[-_GUID_SIZE:],
    ),
):
    _install = build_destination_elements(_make_element_builder_with_changed_list(_change))
    add(f"sender-distribution-list-{_name}", _rule, _says, _install)


def _change_name_in_user_header(
    field: str, kind: type, change: Callable[[bytes, Any], bytes], when: Callable[[Any], Any] = lambda packet: True
) -> Install:
    """Let the sender change the bytes of one queue name of the UserHeader."""

    def change_name_bytes(packet: Any) -> bytes:
        data, name, header = packet.build(), getattr(packet.UserHeader, field).build(), packet.UserHeader.build()
        found = header.index(name, _USER_HEADER_NAMES_OFFSET) if field == "DestinationQueue" else header.rindex(name)
        at = BASE_HEADER_SIZE + found
        changed = change(name, getattr(packet.UserHeader, field))
        return correct_packet_size(data[:at] + changed + data[at + len(name) :])

    return change_packets_of_kind(
        UserMessagePacket,
        change_name_bytes,
        lambda packet: isinstance(getattr(packet.UserHeader, field), kind) and when(packet),
    )


for _name, _says, _install in (
    (
        "destination-number-of-transactional-message-big-endian",
        "The sender reverses the bytes of the number of a private DestinationQueue in a transactional message.",
        _change_name_in_user_header(
            "DestinationQueue", PrivateQueueFormatNameId, lambda built, name: built[::-1], is_transactional
        ),
    ),
    (
        "response-queue-number-big-endian",
        "The sender reverses the bytes of the number of a private ResponseQueue.",
        _change_name_in_user_header("ResponseQueue", PrivateQueueFormatNameId, lambda built, name: built[::-1]),
    ),
    (
        "admin-queue-number-of-2-bytes",
        "The sender writes the number of a private AdminQueue into 2 bytes, and sets the other 2 bytes to 0xFF.",
        _change_name_in_user_header(
            "AdminQueue", PrivateQueueFormatNameId, lambda built, name: built[:2] + b"\xff\xff"
        ),
    ),
):
    add(f"sender-private-{_name}", "MQMQ-2.2.18.1.5.1-01", _says, _install)


for _name, _says, _install in (
    (
        "response-queue-without-null",
        "The sender does not count the terminating null in the Count of a direct ResponseQueue.",
        _change_name_in_user_header(
            "ResponseQueue",
            DirectQueueFormatName,
            lambda built, name: (name.Count - 2).to_bytes(2, "little") + built[2:],
        ),
    ),
    (
        "admin-queue-with-padding",
        "The sender counts the padding in the Count of a direct AdminQueue.",
        _change_name_in_user_header(
            "AdminQueue",
            DirectQueueFormatName,
            lambda built, name: (len(built) - 2).to_bytes(2, "little") + built[2:],
        ),
    ),
):
    add(f"sender-direct-name-count-of-{_name}", "MQMQ-2.2.18.1.5.2-D01", _says, _install)


@fault("queue-manager-reuses-private-queue-number-after-restart", breaks="MQMQ-2.2.18.1.7.2-04")
class QueueManagerReusesPrivateQueueNumberAfterRestart(StateRestoring):
    """After a restart, the queue manager gives the first new private queue the number of an existing queue."""

    def repair_queue_numbers(self) -> None:
        super().repair_queue_numbers()
        self.qm.adm.last_private_queue_number = 0


@fault("queue-manager-gives-last-private-number-to-transactional-queue", breaks="MQMQ-2.2.18.1.7.2-04")
class QueueManagerGivesLastPrivateNumberToTransactionalQueue(QueueLifecycle):
    """The queue manager gives a transactional private queue the number of the private queue that was created before."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> Any:
        if queue.Transactional:
            self.qm.adm.last_private_queue_number -= 1
        return super().create_without_directory(queue, utc_s)


@fault("queue-manager-reuses-last-private-queue-number-after-deletion", breaks="MQMQ-2.2.18.1.7.2-04")
class QueueManagerReusesLastPrivateQueueNumberAfterDeletion(QueueLifecycle):
    """After a private queue is deleted, the next new private queue gets the number that was assigned last."""

    def delete(self, *arguments: Any, **named: Any) -> Any:
        self.qm.adm.last_private_queue_number -= 1
        return super().delete(*arguments, **named)
