"""Converts messages to UserMessage Packets and back. Spec: MS-MQDMPR 3.1.7.1.30 to 3.1.7.1.32."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from uuid import UUID

from reference_qm.codec import (
    NULL_GUID,
    BaseHeader,
    DebugHeader,
    DirectName,
    DirectQueueFormatName,
    FormatError,
    MessageClass,
    MessageIdentifier,
    MessagePropertiesHeader,
    MisuseError,
    PrivateName,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicName,
    PublicQueueFormatName,
    QueueName,
    TransactionHeader,
    UserHeader,
    UserMessagePacket,
    format_guid,
    parse_format_name,
)
from reference_qm.core.errors import CommandError
from reference_qm.core.store.multiple_destinations import add_destination_lists, read_destination_lists
from reference_qm.core.store.security_text import describe_security
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security import (
    ATTRIBUTES_OF_UNPROTECTED_MESSAGE,
    SignatureType,
    add_security_attributes,
    read_security_attributes,
)

HASH_SHA_512 = 0x0000800E
ENCRYPTION_RC4 = 0x00006801
"""The EncryptionAlgorithm and HashAlgorithm of a message that is neither signed nor encrypted.

Spec: MS-MQMQ 2.2.19.3, MS-MQDMPR 3.1.1.12.
"""

(
    PRIVATE_QUEUE_ON_SOURCE_HOST_TYPE,
    PRIVATE_QUEUE_ON_DESTINATION_HOST_TYPE,
    PUBLIC_QUEUE_TYPE,
    PRIVATE_QUEUE_ON_OTHER_HOST_TYPE,
    DIRECT_QUEUE_TYPE,
) = 0x2, 0x3, 0x5, 0x6, 0x7
RESPONSE_SAME_AS_ADMIN_QUEUE_TYPE, PRIVATE_QUEUE_ON_ADMIN_QUEUE_HOST_TYPE = 0x1, 0x4
"""The values of DQ, AQ and RQ in UserHeader.Flags for private queues. Spec: MS-MQMQ 2.2.19.2."""

ACK_BITS_BY_NAME = {
    "positive_arrival": "PA",
    "positive_receive": "PR",
    "negative_arrival": "NA",
    "negative_receive": "NR",
}
"""The bits of MessagePropertiesHeader.Flags, by their names in commands."""

POSITIVE_RECEIVE_FLAG = MessagePropertiesHeader.flags(PR=1)
NEGATIVE_RECEIVE_FLAG = MessagePropertiesHeader.flags(NR=1)

ALWAYS_FITTING_BODY_BYTES = 0x4000
"""The size in bytes up to which a body always fits into a packet, whatever the label, queues and headers of the
packet are.
"""

_ACK_FLAG_BY_NAME = {name: MessagePropertiesHeader.flags(**{bit: 1}) for name, bit in ACK_BITS_BY_NAME.items()}
_PRIORITY_FLAGS = tuple(BaseHeader.flags(PR=priority) for priority in range(8))
_ADMIN_AND_RESPONSE_QUEUE_FLAGS = UserHeader.flags(AQ=7, RQ=7)
_TRACE_FLAG, _DEBUG_HEADER_FLAG = BaseHeader.flags(TR=1), BaseHeader.flags(DH=1)
_DIRECT_NAME_PREFIX = "DIRECT="


def serialize_message(message: Message) -> UserMessagePacket:
    """Build the packet of a message. Spec: MS-MQDMPR 3.1.7.1.30, 3.1.7.1.32.

    The packet always has a MessagePropertiesHeader, because every message has a Class and a BodyType.
    """
    source = message.Identifier.QueueManagerGuid
    destination = message.DestinationQueueManagerIdentifier
    dq, destination_queue = _encode_queue_name(message.DestinationQueueFormatName, NULL_GUID, destination)
    aq, admin_queue = _encode_queue_name(message.AdministrationQueueFormatName, source, destination)
    rq, response_queue = _encode_queue_name(message.ResponseQueueFormatName, source, destination)
    transactional = message.TransactionIdentifier is not None
    debug_header = _build_debug_header(message)
    connector = None if message.ConnectorTypeIdentifier == NULL_GUID else message.ConnectorTypeIdentifier
    packet = UserMessagePacket(
        BaseHeader=BaseHeader(
            Flags=_PRIORITY_FLAGS[0 if transactional else message.Priority]
            | (_TRACE_FLAG if message.TracingRequested else 0)
            | (_DEBUG_HEADER_FLAG if debug_header is not None else 0),
            TimeToReachQueue=message.TimeToReachQueue,
        ),
        UserHeader=UserHeader(
            SourceQueueManager=source,
            QueueManagerAddress=destination,
            TimeToBeReceived=message.TimeToBeReceived,
            SentTime=message.SentTime,
            MessageID=message.Identifier.Ordinal,
            Flags=_build_user_flags(
                message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE,
                message.NegativeJournalingRequested,
                message.PositiveJournalingRequested,
                dq,
                aq,
                rq,
                transactional,
                connector is not None,
            ),
            DestinationQueue=destination_queue,
            AdminQueue=admin_queue,
            ResponseQueue=response_queue,
            ConnectorType=connector,
        ),
        TransactionHeader=_build_transaction_header(message),
        MessagePropertiesHeader=MessagePropertiesHeader(
            Flags=message.AcknowledgementsRequested,
            MessageClass=message.Class,
            CorrelationID=message.CorrelationIdentifier,
            BodyType=message.BodyType,
            ApplicationTag=message.AppSpecific,
            HashAlgorithm=HASH_SHA_512,
            EncryptionAlgorithm=ENCRYPTION_RC4,
            Label=message.Label or None,
            ExtensionData=message.Extension,
            MessageBody=message.Body,
        ),
        DebugHeader=debug_header,
    )
    if message.security is not None:
        packet = add_security_attributes(packet, message.security)
    listed = message.DestinationMultiQueueFormatName
    if listed is None and message.security is not None and message.security.AuthenticationLevel == SignatureType.SIG30:
        listed = message.DestinationQueueFormatName
    return packet if listed is None else add_destination_lists(packet, message, listed)


def may_exceed_packet_size(content: bytes) -> bool:
    """Return whether a body, together with an extension if there is one, may be too large for a packet. If the result
    is False, they fit into a packet with any label and any queue names.
    """
    return len(content) > ALWAYS_FITTING_BODY_BYTES


def check_message_fits_packet(message: Message) -> None:
    """Raise CommandError for a message that is too large for a packet. Spec: MS-MQMQ 2.2.19.1."""
    try:
        serialize_message(message).build()
    except (MisuseError, FormatError) as error:
        raise CommandError(f"the message does not fit into a packet: {error}") from error


def check_queue_names_fit_packet(source: UUID, *names: str | None) -> None:
    """Raise CommandError for a message if a packet cannot contain the name of one of its queues. Spec: MS-MQMQ
    2.2.19.2.
    """
    try:
        for name in names:
            _, queue = _encode_queue_name(name, source, NULL_GUID)
            if queue is not None:
                queue.build()
    except (MisuseError, FormatError) as error:
        raise CommandError(f"the message does not fit into a packet: {error}") from error


def deserialize_message(packet: UserMessagePacket, receiver: UUID, arrival_s: int) -> Message:
    """Build the message that a packet contains.

    Spec: MS-MQDMPR 3.1.7.1.31, MS-MQQB 3.1.7.10. ``receiver`` is the Identifier of this queue manager. The table of
    3.1.7.1.31 omits three attributes that 3.1.7.1.32 writes: TransactionPreviousSequenceNumber, Signature and
    ConnectorTypeIdentifier. This function reads them too; otherwise the received message would differ from the sent
    message.
    """
    user, properties = packet.UserHeader, packet.MessagePropertiesHeader
    source = user.SourceQueueManager
    attributes = dict(_read_attributes_of_flags(packet.BaseHeader.Flags, user.Flags))
    if user.Flags & _ADMIN_AND_RESPONSE_QUEUE_FLAGS:
        attributes |= _read_attributes_of_queues(user, receiver)
    if packet.TransactionHeader is not None:
        attributes |= _read_attributes_of_transaction(packet.TransactionHeader)
    if packet.DebugHeader is not None:
        attributes["TracingQueueIdentifier"] = packet.DebugHeader.QueueIdentifier or NULL_GUID
    if packet.MultiQueueFormatHeader is not None:
        attributes |= read_destination_lists(packet.MultiQueueFormatHeader)
    algorithms = (properties.PrivacyLevel, properties.HashAlgorithm, properties.EncryptionAlgorithm)
    if packet.SecurityHeader is not None or algorithms != ATTRIBUTES_OF_UNPROTECTED_MESSAGE:
        attributes["security"] = read_security_attributes(packet)
    return Message(
        **attributes,
        Identifier=MessageIdentifier(source, user.MessageID),
        DestinationQueueFormatName=_decode_queue_name(
            user.DestinationQueue, PRIVATE_QUEUE_ON_DESTINATION_HOST_TYPE, source, receiver
        )
        or "",
        DestinationQueueManagerIdentifier=user.QueueManagerAddress,
        Class=properties.MessageClass,
        Label=properties.Label or "",
        Body=properties.MessageBody,
        BodyType=properties.BodyType,
        AppSpecific=properties.ApplicationTag,
        CorrelationIdentifier=properties.CorrelationID,
        Extension=properties.ExtensionData,
        SentTime=user.SentTime,
        ArrivalTime=arrival_s,
        TimeToReachQueue=packet.BaseHeader.TimeToReachQueue,
        TimeToBeReceived=user.TimeToBeReceived,
        AcknowledgementsRequested=properties.Flags,
        ConnectorTypeIdentifier=user.ConnectorType or NULL_GUID,
    )


def get_receive_ack_bit(reason: MessageClass) -> int:
    """Return the bit of AcknowledgementsRequested that requests an acknowledgment when a message leaves its queue
    for the given reason.

    Spec: MS-MQQB 3.1.7.2.1.
    """
    return POSITIVE_RECEIVE_FLAG if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE else NEGATIVE_RECEIVE_FLAG


def format_message_id(identifier: MessageIdentifier) -> str:
    r"""Return a message identifier as the text ``{guid}\ordinal``."""
    return f"{{{format_guid(identifier.QueueManagerGuid)}}}\\{identifier.Ordinal}"


def describe_message(message: Message) -> dict[str, Any]:
    """Return a JSON-ready description of a message for the control channel."""
    described: dict[str, Any] = {
        "message_id": format_message_id(message.Identifier),
        "class": _get_class_name(message.Class),
        "label": message.Label,
        "body_base64": base64.b64encode(message.Body).decode(),
        "body_type": message.BodyType,
        "priority": message.Priority,
        "delivery": "transactional"
        if message.TransactionIdentifier is not None
        else message.DeliveryGuarantee.value.lower(),
        "source": format_guid(message.Identifier.QueueManagerGuid),
        "destination": message.DestinationQueueFormatName,
        "admin_queue": message.AdministrationQueueFormatName,
        "response_queue": message.ResponseQueueFormatName,
        "correlation_id": message.CorrelationIdentifier.hex(),
        "application_tag": message.AppSpecific,
        "extension_base64": base64.b64encode(message.Extension).decode(),
        "sent_time": message.SentTime,
        "arrived_time": message.ArrivalTime,
        "time_to_reach_queue_s": message.TimeToReachQueue,
        "time_to_be_received_s": message.TimeToBeReceived,
        "trace_queue": str(message.TracingQueueIdentifier) if message.TracingRequested else None,
        "acks": [name for name, bit in _ACK_FLAG_BY_NAME.items() if message.AcknowledgementsRequested & bit],
        "journal": [
            name
            for name, wanted in (
                ("positive", message.PositiveJournalingRequested),
                ("negative", message.NegativeJournalingRequested),
            )
            if wanted
        ],
        "security": describe_security(message.security) if message.security and message.security.needs_header else None,
    }
    try:
        described["body"] = message.Body.decode()
    except UnicodeDecodeError:
        described["body"] = None
    return described


@lru_cache(maxsize=1024)  # every message has one of the same few combinations
def _build_user_flags(
    recoverable: bool, jn: bool, jp: bool, dq: int, aq: int, rq: int, transactional: bool, connected: bool
) -> int:
    bits = {"DM": recoverable, "JN": jn, "JP": jp, "TH": transactional, "CQ": connected}
    return UserHeader.flags(DQ=dq, AQ=aq, RQ=rq, MP=1, **{name: int(bit) for name, bit in bits.items()})


def _build_transaction_header(message: Message) -> TransactionHeader | None:
    """Build the header of a transactional message. Spec: MS-MQMQ 2.2.20.5."""
    if message.TransactionIdentifier is None:
        return None
    connector = message.ConnectorQueueManagerIdentifier
    return TransactionHeader(
        Flags=TransactionHeader.flags(
            CG=int(connector != NULL_GUID),
            FA=int(message.FinalAckRequired),
            FM=int(message.FirstInTransaction),
            LM=int(message.LastInTransaction),
            ID=message.TransactionIdentifier,
        ),
        TxSequenceID=message.TransactionalMessageSequenceIdentifier,
        TxSequenceNumber=message.TransactionSequenceNumber,
        PreviousTxSequenceNumber=message.TransactionPreviousSequenceNumber,
        ConnectorQMGuid=None if connector == NULL_GUID else connector,
    )


def _build_debug_header(message: Message) -> DebugHeader | None:
    """Build the header that names the queue to which reports about the message are sent. Spec: MS-MQMQ 2.2.20.8.

    3.1.7.1.30 adds the header if TracingQueueIdentifier is specified, and 3.1.7.1.32 adds it if TracingRequested is
    set. Here either attribute is sufficient.
    """
    queue = message.TracingQueueIdentifier
    if queue == NULL_GUID:
        return DebugHeader() if message.TracingRequested else None
    return DebugHeader(DebugHeader.flags(QT=1), QueueIdentifier=queue)


def _encode_queue_name(format_name: str | None, source: UUID, destination: UUID) -> tuple[int, QueueName | None]:
    """Return the type and the record for a queue in a packet. Spec: MS-MQMQ 2.2.19.2."""
    if format_name is None:
        return 0, None
    name = parse_format_name(format_name)
    if isinstance(name, DirectName):
        return DIRECT_QUEUE_TYPE, _encode_direct_name(format_name)
    if isinstance(name, PublicName):
        return PUBLIC_QUEUE_TYPE, PublicQueueFormatName(name.QueueGuid)
    if isinstance(name, PrivateName) and not name.Journal:
        if name.ComputerGuid == destination:
            return PRIVATE_QUEUE_ON_DESTINATION_HOST_TYPE, PrivateQueueFormatNameId(name.QueueIdentifier)
        if name.ComputerGuid == source:
            return PRIVATE_QUEUE_ON_SOURCE_HOST_TYPE, PrivateQueueFormatNameId(name.QueueIdentifier)
        return PRIVATE_QUEUE_ON_OTHER_HOST_TYPE, PrivateQueueFormatName(name.ComputerGuid, name.QueueIdentifier)
    raise CommandError(f"{format_name!a} does not fit into a packet: use a direct, public or private format name")


@lru_cache(maxsize=1024)  # every packet has one of the same few combinations
def _read_attributes_of_flags(base: int, user: int) -> Mapping[str, Any]:
    """Return the message attributes that BaseHeader.Flags and UserHeader.Flags represent."""
    base_header, user_header = BaseHeader(Flags=base), UserHeader(Flags=user)
    return {
        "Priority": 0 if user_header.TH else base_header.PR,  # a receiver ignores the flag of a transactional message
        "DeliveryGuarantee": DeliveryGuarantee.RECOVERABLE if user_header.DM else DeliveryGuarantee.EXPRESS,
        "TracingRequested": bool(base_header.TR),
        "HopCount": user_header.RC,
        "PositiveJournalingRequested": bool(user_header.JP),
        "NegativeJournalingRequested": bool(user_header.JN),
    }


def _read_attributes_of_queues(user: UserHeader, receiver: UUID) -> dict[str, Any]:
    source = user.SourceQueueManager
    admin_queue = _decode_queue_name(user.AdminQueue, user.AQ, source, receiver)
    response_queue = _decode_queue_name(user.ResponseQueue, user.RQ, source, receiver, _find_admin_host(user, receiver))
    return {
        "AdministrationQueueFormatName": admin_queue,
        "ResponseQueueFormatName": admin_queue if user.RQ == RESPONSE_SAME_AS_ADMIN_QUEUE_TYPE else response_queue,
    }


def _read_attributes_of_transaction(header: TransactionHeader) -> dict[str, Any]:
    return {
        "TransactionIdentifier": header.ID,
        "FirstInTransaction": bool(header.FM),
        "LastInTransaction": bool(header.LM),
        "FinalAckRequired": bool(header.FA),
        "TransactionalMessageSequenceIdentifier": header.TxSequenceID,
        "TransactionSequenceNumber": header.TxSequenceNumber,
        "TransactionPreviousSequenceNumber": header.PreviousTxSequenceNumber,
        "ConnectorQueueManagerIdentifier": header.ConnectorQMGuid or NULL_GUID,
    }


def _decode_queue_name(
    queue: QueueName | None, kind: int, source: UUID, receiver: UUID, admin_host: UUID = NULL_GUID
) -> str | None:
    """Return the format name of a queue in a packet, or None if there is no queue. ``kind`` is the type of a
    private queue.
    """
    if queue is None:
        return None
    if isinstance(queue, DirectQueueFormatName):
        return _decode_direct_name(queue.DirectFormatName)
    if isinstance(queue, PublicQueueFormatName):
        return str(PublicName(queue.PublicQueueIdentifier))
    if isinstance(queue, PrivateQueueFormatName):
        return str(PrivateName(queue.SourceQueueManager, queue.PrivateQueueIdentifier))
    hosts = {
        PRIVATE_QUEUE_ON_SOURCE_HOST_TYPE: source,
        PRIVATE_QUEUE_ON_DESTINATION_HOST_TYPE: receiver,
        PRIVATE_QUEUE_ON_ADMIN_QUEUE_HOST_TYPE: admin_host,
    }
    return str(PrivateName(hosts[kind], queue.PrivateQueueIdentifier))


@lru_cache(maxsize=1024)  # every message names one of the same few queues
def _encode_direct_name(format_name: str) -> DirectQueueFormatName:
    return DirectQueueFormatName(format_name[len(_DIRECT_NAME_PREFIX) :])  # without DIRECT=: MS-MQQB 4.1.7


@lru_cache(maxsize=1024)
def _decode_direct_name(name: str) -> str:
    return name if name.upper().startswith(_DIRECT_NAME_PREFIX) else _DIRECT_NAME_PREFIX + name


def _find_admin_host(user: UserHeader, receiver: UUID) -> UUID:
    """Return the queue manager that hosts a private administration queue. For any other administration queue,
    return the source of the message.

    Spec: MS-MQMQ 2.2.19.2 (AdminQueue).
    """
    if isinstance(user.AdminQueue, PrivateQueueFormatName):
        return user.AdminQueue.SourceQueueManager
    return receiver if user.AQ == PRIVATE_QUEUE_ON_DESTINATION_HOST_TYPE else user.SourceQueueManager


def _get_class_name(value: int) -> str:
    try:
        return MessageClass(value).name
    except ValueError:
        return f"0x{value:04X}"
