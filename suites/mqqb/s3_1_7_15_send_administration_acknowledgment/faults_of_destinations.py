"""Faults that break rules of MS-MQQB 3.1.7.15 for one cause, one kind of format name or one destination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.admin_acks import (
    ALL_ACK_CLASSES,
    ARRIVAL_ACK_CLASSES,
    QUEUE_REMOVAL_ACK_CLASSES,
    REFUSAL_ACK_CLASSES,
    change_admin_acks,
)
from harness.faults.parts import change_step
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    DirectName,
    MessageClass,
    PrivateName,
    PublicName,
    SecurityData,
    SecurityHeader,
    UserHeader,
    UserMessagePacket,
    parse_format_name,
)
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.order_acks import ORDER_ACK_LABEL
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.model.adm import Message
from reference_qm.security import MessageSecurity
from reference_qm.surface.clock import Now

_RESPONSE_QUEUE_ATTRIBUTE, _DESTINATION_ATTRIBUTE = "ResponseQueueFormatName", "DestinationQueueFormatName"
_SIGNATURE_BYTES = 128

OriginalAckSending = Callable[[Message, MessageClass, Now], None]
QueueNameChange = Callable[[str, Message], str]


def _add_missing_admin_queue(find: Callable[[Any, Message], str | None]) -> Install:
    """Return an installer of a fault: if a message names no administration queue, the receiver sends its acknowledgment
    to another queue.
    """

    def send(self: Any, original: OriginalAckSending, message: Message, message_class: MessageClass, now: Now) -> None:
        if not message.AdministrationQueueFormatName:
            message = replace(message, AdministrationQueueFormatName=find(self, message))
        else:
            self.__dict__["last_admin_queue"] = message.AdministrationQueueFormatName
        original(message, message_class, now)

    return change_step(AdminAcks.send, send)


def _build_destination_name_on_source(self: Any, message: Message) -> str | None:
    name = parse_format_name(message.DestinationQueueFormatName)
    source = message.Identifier.QueueManagerGuid
    return str(PrivateName(source, name.QueueIdentifier)) if isinstance(name, PrivateName) else None


def _send_copies_of_acks(
    find: Callable[[Message], str | None], classes: frozenset[MessageClass] = ALL_ACK_CLASSES
) -> Install:
    """Return an installer of a fault that sends a copy of each acknowledgment to a second queue."""

    def send(self: Any, original: OriginalAckSending, message: Message, message_class: MessageClass, now: Now) -> None:
        original(message, message_class, now)
        second = find(message)
        if second and message.AdministrationQueueFormatName and message_class in classes:
            original(replace(message, AdministrationQueueFormatName=second), message_class, now)

    return change_step(AdminAcks.send, send)


def _change_queue_name_of_ack_by_kind(
    attribute: str, kind: Any, classes: frozenset[MessageClass], change: QueueNameChange
) -> Install:
    """Return an installer of a fault: if the destination or the response queue of an acknowledgment is a format name of
    the given kind, this name is changed.
    """

    def change_ack(ack: Message, message: Message) -> Message:
        name = getattr(ack, attribute)
        if not name or not isinstance(parse_format_name(name), kind):
            return ack
        changes: dict[str, Any] = {attribute: change(name, message)}
        return replace(ack, **changes)

    return change_admin_acks(classes, change_ack)


def _replace_guid_in_name_by_source(name: str, message: Message) -> str:
    return str(replace(_parse_private_format_name(name), ComputerGuid=message.Identifier.QueueManagerGuid))


def _cut_queue_number_in_format_name(name: str, message: Message) -> str:
    found = _parse_private_format_name(name)
    return str(replace(found, QueueIdentifier=found.QueueIdentifier & 0xFFFF))


def _clear_highest_byte_of_queue_number(name: str, message: Message) -> str:
    found = _parse_private_format_name(name)
    return str(replace(found, QueueIdentifier=found.QueueIdentifier & 0xFFFFFF))


def _parse_private_format_name(name: str) -> PrivateName:
    found = parse_format_name(name)
    assert isinstance(found, PrivateName)
    return found


def _swap_guid_bytes(name: str, message: Message) -> str:
    found = parse_format_name(name)
    assert isinstance(found, PublicName)
    return str(PublicName(UUID(bytes=found.QueueGuid.bytes_le)))


def _replace_guid_in_name_by_public_guid(name: str, message: Message) -> str:
    found = parse_format_name(name)
    assert isinstance(found, PublicName)
    return str(PrivateName(message.Identifier.QueueManagerGuid, found.QueueGuid.fields[0]))


def _replace_host_of_admin_queue(
    select: Callable[[Any, Message, PrivateName], bool], find: Callable[[Any], UUID]
) -> Install:
    """Return an installer of a fault that replaces the queue manager of a private administration queue."""

    def send(self: Any, original: OriginalAckSending, message: Message, message_class: MessageClass, now: Now) -> None:
        admin = message.AdministrationQueueFormatName
        name = parse_format_name(admin) if admin else None
        if isinstance(name, PrivateName) and select(self, message, name):
            message = replace(message, AdministrationQueueFormatName=str(replace(name, ComputerGuid=find(self))))
        original(message, message_class, now)

    return change_step(AdminAcks.send, send)


def _is_admin_queue_of_source(self: Any, message: Message, name: PrivateName) -> bool:
    return name.ComputerGuid == message.Identifier.QueueManagerGuid


def _is_admin_queue_of_receiver(self: Any, message: Message, name: PrivateName) -> bool:
    return bool(name.ComputerGuid == self.qm.adm.Identifier)


def _is_admin_queue_of_third_party(self: Any, message: Message, name: PrivateName) -> bool:
    return not (_is_admin_queue_of_source(self, message, name) or _is_admin_queue_of_receiver(self, message, name))


def _get_guid_of_newest_initiator(self: Any) -> UUID:
    sessions = [one for one in self.qm.sessions.values() if not one.initiator]
    found: UUID = max(sessions, key=lambda one: one.number).RemoteQMGuid if sessions else self.qm.adm.Identifier
    return found


def _replace_tcp_by_os_in_name(name: str, message: Message) -> str:
    return name.replace("DIRECT=TCP:", "DIRECT=OS:", 1)


def _cut_long_direct_name(name: str, message: Message) -> str:
    return name[:40]


def _send_acks_only_to_first_admin_queue(self: Any, original: Any, message: Message, now: Now) -> None:
    name = message.DestinationQueueFormatName.lower()
    is_first = self.__dict__.setdefault("first_ack_queue", name) == name
    if message.Class in ALL_ACK_CLASSES - {MessageClass.MQMSG_CLASS_REPORT} and not is_first:
        return
    original(message, now)


def _open_no_local_queue_of_express_ack(self: Any, original: Any, message: Message, now: Now) -> None:
    name = message.DestinationQueueFormatName
    local = self.qm.destination_resolving.find_local_queue(name) if name.startswith("PRIVATE=") else None
    if local is None:
        original(message, now)


def _open_no_queue_of_nack_to_private_name(self: Any, original: Any, message: Message, now: Now) -> None:
    if not message.DestinationQueueFormatName.startswith("PRIVATE=") or message.Class not in REFUSAL_ACK_CLASSES:
        original(message, now)


def _encrypt_ack_like_message(ack: Message, message: Message) -> Message:
    level = 0 if message.security is None else message.security.PrivacyLevel
    return replace(ack, security=MessageSecurity(PrivacyLevel=level)) if level else ack


def _is_admin_ack(packet: UserMessagePacket, classes: frozenset[MessageClass]) -> bool:
    properties = packet.MessagePropertiesHeader
    return properties.MessageClass in classes - {0, 1, 0xFF} and properties.Label != ORDER_ACK_LABEL


def _set_privacy_level(classes: frozenset[MessageClass]) -> Install:
    """Return an installer of a fault that sends acknowledgments with PrivacyLevel Base, although their body is not
    encrypted.
    """

    def change_packet(packet: UserMessagePacket) -> bytes:
        changed: UserMessagePacket = set_fields(packet, {"MessagePropertiesHeader.PrivacyLevel": 1})
        return changed.build()

    return change_packets_of_kind(UserMessagePacket, change_packet, lambda packet: _is_admin_ack(packet, classes))


def _add_signature_to_acks(classes: frozenset[MessageClass], kind: int) -> Install:
    """Return an installer of a fault that adds a signature of the given kind to acknowledgments."""

    def add_signature(packet: UserMessagePacket) -> bytes:
        data = SecurityData(Signature=b"\1" * _SIGNATURE_BYTES)
        header = SecurityHeader(SecurityHeader.flags(AU=1, AI=1, AS=kind), data)
        changes = {
            "BaseHeader.PacketSize": 0,
            "UserHeader.Flags": lambda old: old | UserHeader.flags(SH=1),
            "SecurityHeader": header,
        }
        changed: UserMessagePacket = set_fields(packet, changes)
        return changed.build()

    return change_packets_of_kind(UserMessagePacket, add_signature, lambda packet: _is_admin_ack(packet, classes))


for _name, _rule, _says, _install in (
    (
        "receiver-message-with-aq-0-acknowledged-to-last-administration-queue",
        "MQQB-3.1.7.15-04",
        "The receiver acknowledges a packet with AQ 0 to the administration queue of an earlier packet.",
        _add_missing_admin_queue(lambda part, message: part.__dict__.get("last_admin_queue")),
    ),
    (
        "receiver-message-with-aq-0-acknowledged-to-same-number-at-source",
        "MQQB-3.1.7.15-04",
        "The receiver acknowledges a packet with AQ 0 to the private queue of the source that has the number of the "
        "destination queue.",
        _add_missing_admin_queue(_build_destination_name_on_source),
    ),
    (
        "receiver-acknowledgment-of-removal-sent-twice",
        "MQQB-3.1.7.15-08",
        "The receiver sends the acknowledgment of a removed message twice.",
        _send_copies_of_acks(lambda message: message.AdministrationQueueFormatName, QUEUE_REMOVAL_ACK_CLASSES),
    ),
    (
        "receiver-nack-also-put-into-destination-queue",
        "MQQB-3.1.7.15-08",
        "The receiver also sends a negative acknowledgment of a refusal to the destination queue of the message.",
        _send_copies_of_acks(lambda message: message.DestinationQueueFormatName, REFUSAL_ACK_CLASSES),
    ),
    (
        "receiver-acknowledgment-for-aq-2-to-remote-queue-manager-of-session",
        "MQQB-3.1.7.15-11",
        "The receiver addresses the acknowledgment of a packet with AQ 2 to the remote queue manager of its session.",
        _replace_host_of_admin_queue(_is_admin_queue_of_source, _get_guid_of_newest_initiator),
    ),
    (
        "receiver-acknowledgment-for-aq-2-with-number-of-16-bits",
        "MQQB-3.1.7.15-11",
        "The receiver cuts the number of the private queue of an acknowledgment for AQ 2 to 16 bits.",
        _change_queue_name_of_ack_by_kind(
            _DESTINATION_ATTRIBUTE,
            PrivateName,
            ARRIVAL_ACK_CLASSES | REFUSAL_ACK_CLASSES,
            _cut_queue_number_in_format_name,
        ),
    ),
    (
        "receiver-acknowledgment-of-removal-for-aq-2-without-highest-byte",
        "MQQB-3.1.7.15-11",
        "The receiver clears the highest byte of the queue number in the acknowledgment of a removed message.",
        _change_queue_name_of_ack_by_kind(
            _DESTINATION_ATTRIBUTE, PrivateName, QUEUE_REMOVAL_ACK_CLASSES, _clear_highest_byte_of_queue_number
        ),
    ),
    (
        "receiver-acknowledgment-of-arrival-for-aq-3-to-source",
        "MQQB-3.1.7.15-12",
        "The receiver addresses the acknowledgment of an arrival for AQ 3 to a private queue of the source.",
        _change_queue_name_of_ack_by_kind(
            _DESTINATION_ATTRIBUTE, PrivateName, ARRIVAL_ACK_CLASSES, _replace_guid_in_name_by_source
        ),
    ),
    (
        "receiver-acknowledgment-of-removal-for-aq-3-to-source",
        "MQQB-3.1.7.15-12",
        "The receiver addresses the acknowledgment of a removal for AQ 3 to a private queue of the source.",
        _change_queue_name_of_ack_by_kind(
            _DESTINATION_ATTRIBUTE, PrivateName, QUEUE_REMOVAL_ACK_CLASSES, _replace_guid_in_name_by_source
        ),
    ),
    (
        "receiver-nack-for-aq-3-to-source",
        "MQQB-3.1.7.15-12",
        "The receiver addresses the negative acknowledgment of a refusal for AQ 3 to a private queue of the source.",
        _change_queue_name_of_ack_by_kind(
            _DESTINATION_ATTRIBUTE, PrivateName, REFUSAL_ACK_CLASSES, _replace_guid_in_name_by_source
        ),
    ),
    (
        "receiver-acknowledgment-for-aq-5-with-swapped-guid",
        "MQQB-3.1.7.15-13",
        "The receiver swaps bytes of the GUID of the public queue in the acknowledgment of a removed message.",
        _change_queue_name_of_ack_by_kind(
            _DESTINATION_ATTRIBUTE, PublicName, QUEUE_REMOVAL_ACK_CLASSES, _swap_guid_bytes
        ),
    ),
    (
        "receiver-nack-for-aq-5-with-swapped-guid",
        "MQQB-3.1.7.15-13",
        "The receiver swaps bytes of the GUID of the public queue in a negative acknowledgment.",
        _change_queue_name_of_ack_by_kind(_DESTINATION_ATTRIBUTE, PublicName, REFUSAL_ACK_CLASSES, _swap_guid_bytes),
    ),
    (
        "receiver-acknowledgment-for-aq-5-to-private-queue",
        "MQQB-3.1.7.15-13",
        "The receiver addresses the acknowledgment of an arrival for AQ 5 to a private queue of the source.",
        _change_queue_name_of_ack_by_kind(
            _DESTINATION_ATTRIBUTE, PublicName, ARRIVAL_ACK_CLASSES, _replace_guid_in_name_by_public_guid
        ),
    ),
    (
        "receiver-acknowledgment-for-aq-6-to-remote-queue-manager-of-session",
        "MQQB-3.1.7.15-14",
        "The receiver addresses the acknowledgment of a packet with AQ 6 to the remote queue manager of its session.",
        _replace_host_of_admin_queue(_is_admin_queue_of_third_party, _get_guid_of_newest_initiator),
    ),
    (
        "receiver-acknowledgment-of-removal-for-aq-6-to-source",
        "MQQB-3.1.7.15-14",
        "The receiver addresses the acknowledgment of a removal for AQ 6 to a private queue of the source.",
        _change_queue_name_of_ack_by_kind(
            _DESTINATION_ATTRIBUTE,
            PrivateName,
            QUEUE_REMOVAL_ACK_CLASSES - {MessageClass.MQMSG_CLASS_ACK_RECEIVE},
            _replace_guid_in_name_by_source,
        ),
    ),
    (
        "receiver-nack-for-aq-6-with-number-of-16-bits",
        "MQQB-3.1.7.15-14",
        "The receiver cuts the number of the private queue of a negative acknowledgment for AQ 6 to 16 bits.",
        _change_queue_name_of_ack_by_kind(
            _DESTINATION_ATTRIBUTE, PrivateName, REFUSAL_ACK_CLASSES, _cut_queue_number_in_format_name
        ),
    ),
    (
        "receiver-response-queue-of-removal-for-dq-3-on-source",
        "MQQB-3.1.7.15-21",
        "The receiver sets the response queue of the acknowledgment of a removed message with DQ 3 to a private queue "
        "of the source.",
        _change_queue_name_of_ack_by_kind(
            _RESPONSE_QUEUE_ATTRIBUTE, PrivateName, QUEUE_REMOVAL_ACK_CLASSES, _replace_guid_in_name_by_source
        ),
    ),
    (
        "receiver-response-queue-of-nack-for-dq-3-on-source",
        "MQQB-3.1.7.15-21",
        "The receiver sets the response queue of a negative acknowledgment for DQ 3 to a private queue of the source.",
        _change_queue_name_of_ack_by_kind(
            _RESPONSE_QUEUE_ATTRIBUTE, PrivateName, REFUSAL_ACK_CLASSES, _replace_guid_in_name_by_source
        ),
    ),
    (
        "receiver-response-queue-of-nack-for-dq-3-with-number-of-16-bits",
        "MQQB-3.1.7.15-21",
        "The receiver cuts the number of the response queue of a negative acknowledgment for DQ 3 to 16 bits.",
        _change_queue_name_of_ack_by_kind(
            _RESPONSE_QUEUE_ATTRIBUTE, PrivateName, REFUSAL_ACK_CLASSES, _cut_queue_number_in_format_name
        ),
    ),
    (
        "receiver-response-queue-of-removal-for-dq-5-with-swapped-guid",
        "MQQB-3.1.7.15-22",
        "The receiver swaps bytes of the GUID of the response queue in the acknowledgment of a removed message.",
        _change_queue_name_of_ack_by_kind(
            _RESPONSE_QUEUE_ATTRIBUTE, PublicName, QUEUE_REMOVAL_ACK_CLASSES, _swap_guid_bytes
        ),
    ),
    (
        "receiver-response-queue-of-nack-for-dq-5-with-swapped-guid",
        "MQQB-3.1.7.15-22",
        "The receiver swaps bytes of the GUID of the response queue in a negative acknowledgment.",
        _change_queue_name_of_ack_by_kind(_RESPONSE_QUEUE_ATTRIBUTE, PublicName, REFUSAL_ACK_CLASSES, _swap_guid_bytes),
    ),
    (
        "receiver-response-queue-of-arrival-for-dq-5-on-source",
        "MQQB-3.1.7.15-22",
        "The receiver sets the response queue of the acknowledgment of an arrival with DQ 5 to a private queue.",
        _change_queue_name_of_ack_by_kind(
            _RESPONSE_QUEUE_ATTRIBUTE, PublicName, ARRIVAL_ACK_CLASSES, _replace_guid_in_name_by_public_guid
        ),
    ),
    (
        "receiver-response-queue-of-removal-for-dq-7-by-host-name",
        "MQQB-3.1.7.15-23",
        "The receiver names the host of the response queue by OS in the acknowledgment of a removed message.",
        _change_queue_name_of_ack_by_kind(
            _RESPONSE_QUEUE_ATTRIBUTE, DirectName, QUEUE_REMOVAL_ACK_CLASSES, _replace_tcp_by_os_in_name
        ),
    ),
    (
        "receiver-response-queue-of-nack-for-dq-7-by-host-name",
        "MQQB-3.1.7.15-23",
        "The receiver names the host of the response queue by OS in a negative acknowledgment.",
        _change_queue_name_of_ack_by_kind(
            _RESPONSE_QUEUE_ATTRIBUTE, DirectName, REFUSAL_ACK_CLASSES, _replace_tcp_by_os_in_name
        ),
    ),
    (
        "receiver-response-queue-for-dq-7-cut-to-40-characters",
        "MQQB-3.1.7.15-23",
        "The receiver cuts the direct format name of the response queue to 40 characters.",
        _change_queue_name_of_ack_by_kind(
            _RESPONSE_QUEUE_ATTRIBUTE, DirectName, ALL_ACK_CLASSES, _cut_long_direct_name
        ),
    ),
    (
        "receiver-second-destination-of-acknowledgments-not-opened",
        "MQQB-3.1.7.15-30",
        "The receiver opens only the first administration queue, and discards acknowledgments to other queues.",
        change_step(OwnMessageSending.send, _send_acks_only_to_first_admin_queue),
    ),
    (
        "receiver-own-destination-of-acknowledgment-not-opened",
        "MQQB-3.1.7.15-30",
        "The receiver discards an acknowledgment to a private queue of its own.",
        change_step(OwnMessageSending.send, _open_no_local_queue_of_express_ack),
    ),
    (
        "receiver-private-destination-of-nack-not-opened",
        "MQQB-3.1.7.15-30",
        "The receiver discards a negative acknowledgment of a refusal to a private format name.",
        change_step(OwnMessageSending.send, _open_no_queue_of_nack_to_private_name),
    ),
    (
        "receiver-acknowledgment-encrypted-like-message",
        "MQQB-3.1.7.15-D06",
        "The receiver encrypts the acknowledgment of an encrypted message.",
        change_admin_acks(ALL_ACK_CLASSES, _encrypt_ack_like_message),
    ),
    (
        "receiver-acknowledgment-of-removal-with-privacy-level",
        "MQQB-3.1.7.15-D06",
        "The receiver sets PrivacyLevel of the acknowledgment of a removed message to Base.",
        _set_privacy_level(QUEUE_REMOVAL_ACK_CLASSES),
    ),
    (
        "receiver-nack-of-refusal-with-privacy-level",
        "MQQB-3.1.7.15-D06",
        "The receiver sets PrivacyLevel of the negative acknowledgment of a refusal to Base.",
        _set_privacy_level(REFUSAL_ACK_CLASSES),
    ),
    (
        "receiver-nack-of-refusal-signed",
        "MQQB-3.1.7.15-D07",
        "The receiver adds a signature of MSMQ 1.0 to the negative acknowledgment of a refusal.",
        _add_signature_to_acks(REFUSAL_ACK_CLASSES, 1),
    ),
    (
        "receiver-acknowledgment-of-arrival-signed",
        "MQQB-3.1.7.15-D07",
        "The receiver adds a signature of MSMQ 3.0 to the acknowledgment of an arrival.",
        _add_signature_to_acks(ARRIVAL_ACK_CLASSES, 5),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
