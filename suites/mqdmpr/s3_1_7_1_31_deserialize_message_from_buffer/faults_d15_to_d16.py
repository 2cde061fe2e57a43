"""Faults that break the rules MQDMPR-3.1.7.1.31-D15 and MQDMPR-3.1.7.1.31-D16."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.sent_messages import change_inserted_message
from reference_qm.codec import FormatError, Packet, PrivateName, PublicName, UserMessagePacket, parse_format_name
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Message

QUEUE_NAMES_OFFSET = 64


class _MessageRefuserByDestinationType(Identifying):
    """Refuse messages with some types of destinations; a subclass selects which."""

    def is_refused(self, packet: UserMessagePacket) -> bool:
        """Return whether a message is refused."""
        return False

    def check_field_values(self, packet: Packet) -> None:
        if isinstance(packet, UserMessagePacket) and self.is_refused(packet):
            raise FormatError("UserHeader.DestinationQueue", QUEUE_NAMES_OFFSET, "a fault", "the type is unknown")
        super().check_field_values(packet)


@fault(
    "receiver-refuses-message-to-public-queue-with-dq-5",
    breaks=("MQDMPR-3.1.7.1.31-D15", "MQMQ-2.2.19.2-D06"),
    blind=True,
)
class ReceiverRefusesMessageToPublicQueueWithDq5(_MessageRefuserByDestinationType):
    """The receiver refuses a message with DQ 5, whose destination is a public queue."""

    def is_refused(self, packet: UserMessagePacket) -> bool:
        return packet.UserHeader.DQ == 5


@fault("receiver-refuses-transactional-message-with-dq-3", breaks="MQDMPR-3.1.7.1.31-D15", blind=True)
class ReceiverRefusesTransactionalMessageWithDq3(_MessageRefuserByDestinationType):
    """The receiver refuses a transactional message with DQ 3."""

    def is_refused(self, packet: UserMessagePacket) -> bool:
        return packet.UserHeader.DQ == 3 and packet.TransactionHeader is not None


@fault("receiver-refuses-message-with-dq-3-and-administration-queue", breaks="MQDMPR-3.1.7.1.31-D15", blind=True)
class ReceiverRefusesMessageWithDq3AndAdministrationQueue(_MessageRefuserByDestinationType):
    """The receiver refuses a message with DQ 3 if the message has an administration queue."""

    def is_refused(self, packet: UserMessagePacket) -> bool:
        return packet.UserHeader.DQ == 3 and packet.UserHeader.AQ != 0


def _change_admin_queue(change: Callable[[Any, UUID], Any]) -> Any:
    """Return an installer of a fault that changes the administration queue of each stored message."""

    def change_message(message: Message) -> Message:
        text = message.AdministrationQueueFormatName
        if text is None:
            return message
        changed = change(parse_format_name(text), message.Identifier.QueueManagerGuid)
        return replace(message, AdministrationQueueFormatName=None if changed is None else str(changed))

    return change_inserted_message(change_message)


for _name, _says, _change in (
    (
        "receiver-private-admin-queue-of-third-host-resolved-at-source",
        "The receiver treats a private administration queue of a third host (AQ 6) as a queue of the source.",
        lambda name, source: PrivateName(source, name.QueueIdentifier) if isinstance(name, PrivateName) else name,
    ),
    (
        "receiver-public-admin-queue-lost",
        "The receiver stores no administration queue for a message with AQ 5.",
        lambda name, source: None if isinstance(name, PublicName) else name,
    ),
    (
        "receiver-private-admin-queue-lost",
        "The receiver stores no administration queue for a message with AQ 2, 3 or 6.",
        lambda name, source: None if isinstance(name, PrivateName) else name,
    ),
):
    add(_name, "MQDMPR-3.1.7.1.31-D16", _says, _change_admin_queue(_change), blind=True)
