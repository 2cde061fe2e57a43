"""MS-MQDMPR 3.1.7.1.30, 3.1.7.1.31 and 3.1.7.1.32: every attribute of a message has its field, and comes back from it.

One case for each row of the tables; what several rows have in common (sizes, flags that announce headers) has its own.
"""

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any
from uuid import UUID

import pytest
from core_network import guid

from reference_qm.codec import MessageClass, MessageIdentifier, TxSequenceID, UserMessagePacket, parse_packet
from reference_qm.core.store.messages import deserialize_message, serialize_message
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security import MessageSecurity

SOURCE, HERE, OTHER = guid(1), guid(2), guid(3)
DIRECT = "DIRECT=OS:host2\\private$\\plain"
LIST = f"DIRECT=TCP:10.0.0.2\\private$\\a,PUBLIC={str(OTHER).upper()},PRIVATE={str(HERE).upper()}\\00000007"
PLAIN = Message(Identifier=MessageIdentifier(SOURCE, 7), DestinationQueueFormatName=DIRECT, ArrivalTime=9)
SEQUENCE = TxSequenceID(Ordinal=3, TimeStamp=4)


def private(computer: UUID, number: int = 5) -> str:
    return f"PRIVATE={str(computer).upper()}\\{number:08X}"


@dataclass(frozen=True)
class Row:
    """An attribute, where its value stands, and what stands there; ``besides``: other attributes that it needs."""

    attribute: str
    value: Any
    field: str
    on_wire: Any = None
    besides: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return f"{self.attribute}-{self.field}-{self.value!s:.20}"


IN_TRANSACTION = (("TransactionIdentifier", 6), ("Priority", 0))
TO_SEVERAL = (("DestinationMultiQueueFormatName", LIST),)
PUBLIC = f"PUBLIC={str(OTHER).upper()}"
ROWS = [
    Row("Priority", 6, "BaseHeader.PR"),
    Row("TracingRequested", True, "BaseHeader.TR", 1),
    Row("TracingRequested", True, "BaseHeader.DH", 1),
    Row("TracingRequested", True, "DebugHeader.QT", 0),
    Row("TracingQueueIdentifier", OTHER, "DebugHeader.QueueIdentifier"),
    Row("TracingQueueIdentifier", OTHER, "DebugHeader.QT", 1),
    Row("TracingQueueIdentifier", OTHER, "BaseHeader.DH", 1),
    Row("TimeToReachQueue", 77, "BaseHeader.TimeToReachQueue"),
    Row("BodyType", 8, "MessagePropertiesHeader.BodyType"),
    Row("AppSpecific", 0xFEDCBA98, "MessagePropertiesHeader.ApplicationTag"),
    Row("CorrelationIdentifier", bytes(range(20)), "MessagePropertiesHeader.CorrelationID"),
    Row("AcknowledgementsRequested", 0xD, "MessagePropertiesHeader.Flags"),
    Row("Extension", b"more", "MessagePropertiesHeader.ExtensionData"),
    Row("Extension", b"more", "MessagePropertiesHeader.ExtensionSize", 4),
    Row("Label", "label", "MessagePropertiesHeader.Label"),
    Row("Label", "label", "MessagePropertiesHeader.LabelLength", 6),
    Row("Body", b"body!", "MessagePropertiesHeader.MessageBody"),
    Row("Body", b"body!", "MessagePropertiesHeader.MessageSize", 5),
    *(Row("Class", one.value, "MessagePropertiesHeader.MessageClass") for one in MessageClass),
    Row("FinalAckRequired", True, "TransactionHeader.FA", 1, IN_TRANSACTION),
    Row("TransactionIdentifier", 0xABCDE, "TransactionHeader.ID", None, IN_TRANSACTION),
    Row("TransactionIdentifier", 0, "UserHeader.TH", 1, IN_TRANSACTION),
    Row("TransactionSequenceNumber", 12, "TransactionHeader.TxSequenceNumber", None, IN_TRANSACTION),
    Row("TransactionPreviousSequenceNumber", 11, "TransactionHeader.PreviousTxSequenceNumber", None, IN_TRANSACTION),
    Row("TransactionalMessageSequenceIdentifier", SEQUENCE, "TransactionHeader.TxSequenceID", None, IN_TRANSACTION),
    Row("ConnectorQueueManagerIdentifier", OTHER, "TransactionHeader.ConnectorQMGuid", None, IN_TRANSACTION),
    Row("ConnectorQueueManagerIdentifier", OTHER, "TransactionHeader.CG", 1, IN_TRANSACTION),
    Row("FirstInTransaction", True, "TransactionHeader.FM", 1, IN_TRANSACTION),
    Row("LastInTransaction", True, "TransactionHeader.LM", 1, IN_TRANSACTION),
    Row("DestinationQueueManagerIdentifier", HERE, "UserHeader.QueueManagerAddress"),
    Row("ConnectorTypeIdentifier", OTHER, "UserHeader.ConnectorType"),
    Row("ConnectorTypeIdentifier", OTHER, "UserHeader.CQ", 1),
    Row("SentTime", 1_700_000_000, "UserHeader.SentTime"),
    Row("TimeToBeReceived", 99, "UserHeader.TimeToBeReceived"),
    Row("Identifier", MessageIdentifier(SOURCE, 0xFFFFFFFF), "UserHeader.MessageID", 0xFFFFFFFF),
    Row("Identifier", MessageIdentifier(OTHER, 1), "UserHeader.SourceQueueManager", OTHER),
    Row("DeliveryGuarantee", DeliveryGuarantee.RECOVERABLE, "UserHeader.DM", 1),
    Row("DeliveryGuarantee", DeliveryGuarantee.EXPRESS, "UserHeader.DM", 0),
    Row("PositiveJournalingRequested", True, "UserHeader.JP", 1),
    Row("NegativeJournalingRequested", True, "UserHeader.JN", 1),
    *(
        Row(name, value, f"UserHeader.{bits}", kind, (("DestinationQueueManagerIdentifier", HERE),))
        for name, bits, kinds in (
            ("DestinationQueueFormatName", "DQ", {private(HERE): 3, PUBLIC: 5, DIRECT: 7}),
            *(
                (name, bits, {private(SOURCE): 2, private(HERE): 3, PUBLIC: 5, private(OTHER): 6, DIRECT: 7, None: 0})
                for name, bits in (("AdministrationQueueFormatName", "AQ"), ("ResponseQueueFormatName", "RQ"))
            ),
        )
        for value, kind in kinds.items()
    ),
    Row("DestinationQueueFormatName", DIRECT, "UserHeader.DestinationQueue.DirectFormatName", DIRECT[7:]),
    Row("AdministrationQueueFormatName", PUBLIC, "UserHeader.AdminQueue.PublicQueueIdentifier", OTHER),
    Row("ResponseQueueFormatName", private(SOURCE), "UserHeader.ResponseQueue.PrivateQueueIdentifier", 5),
    Row("DestinationMultiQueueFormatName", LIST, "MultiQueueFormatHeader.Destination.ElementCount", 3),
    Row("DestinationMultiQueueFormatName", LIST, "UserHeader.MQ", 1),
    Row("DestinationMultiQueueFormatName", LIST, "MultiQueueFormatHeader.Destination.HeaderID", 0x64),
    Row("DestinationMultiQueueFormatName", f"DL={str(OTHER).upper()}", "UserHeader.MQ", 1),
    Row(
        "AdministrationMultiQueueFormatName", LIST, "MultiQueueFormatHeader.Administration.ElementCount", 3, TO_SEVERAL
    ),
    Row(
        "AdministrationMultiQueueFormatName", DIRECT, "MultiQueueFormatHeader.Administration.HeaderID", 200, TO_SEVERAL
    ),
    Row("ResponseMultiQueueFormatName", LIST, "MultiQueueFormatHeader.Response.ElementCount", 3, TO_SEVERAL),
    Row("ResponseMultiQueueFormatName", PUBLIC, "MultiQueueFormatHeader.Response.HeaderID", 300, TO_SEVERAL),
    Row("MultipleDestinationSignature", b"signed", "MultiQueueFormatHeader.Signature.Signature", None, TO_SEVERAL),
]
SECURITY = [
    *(Row("PrivacyLevel", one, "MessagePropertiesHeader.PrivacyLevel") for one in (1, 3, 5)),
    Row("PrivacyLevel", 3, "SecurityHeader.EB", 1),
    *(Row("HashAlgorithm", one, "MessagePropertiesHeader.HashAlgorithm") for one in (0x8001, 0x8002, 0x8003, 0x8004)),
    *(Row("HashAlgorithm", one, "MessagePropertiesHeader.HashAlgorithm") for one in (0x800C,)),
    *(
        Row("EncryptionAlgorithm", one, "MessagePropertiesHeader.EncryptionAlgorithm")
        for one in (0x6602, 0x6610, 0x660E, 0x660F)
    ),
    Row("SenderIdentifierType", 1, "SecurityHeader.ST"),
    Row("SenderIdentifierType", 2, "SecurityHeader.ST"),
    Row("SenderIdentifierType", 1, "UserHeader.SH", 1),
    Row("SenderIdentifier", b"\1\2\3\4\5", "SecurityHeader.SecurityData.SecurityID"),
    Row("SenderCertificate", b"certificate", "SecurityHeader.SecurityData.SenderCert"),
    Row("SenderCertificate", b"certificate", "SecurityHeader.SenderCertSize", 11),
    Row("SymmetricKey", b"key", "SecurityHeader.SecurityData.EncryptionKey"),
    Row("Signature", b"signature", "SecurityHeader.SecurityData.Signature"),
    Row("AuthenticationProviderName", "Csp", "SecurityHeader.ProviderInfoSize", 4 + 8),
    Row("AuthenticationProviderName", "Csp", "SecurityHeader.DE", 0),
    Row("AuthenticationProviderName", "", "SecurityHeader.DE", 1, (("SenderIdentifierType", 1),)),
    Row("AuthenticationProviderType", 24, "SecurityHeader.AU", 0, (("AuthenticationProviderName", "Csp"),)),
    Row("AuthenticationProviderType", 24, "SecurityHeader.AS", 0, (("AuthenticationProviderName", "Csp"),)),
]


def transferred(message: Message) -> tuple[UserMessagePacket, Message]:
    """Return the packet of a message as it is read, and the message that is made of it."""
    wire = serialize_message(message).build()
    packet = parse_packet(wire)
    assert isinstance(packet, UserMessagePacket)
    assert packet.BaseHeader.PacketSize == len(wire)
    return packet, deserialize_message(packet, HERE, message.ArrivalTime)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_an_attribute_stands_in_its_field_and_comes_back(row):
    message = replace(PLAIN, **(dict(row.besides) | {row.attribute: row.value}))
    packet, received = transferred(message)
    assert attrgetter(row.field)(packet) == (row.value if row.on_wire is None else row.on_wire)
    assert received == message


@pytest.mark.parametrize("row", SECURITY, ids=str)
def test_an_attribute_of_security_stands_in_its_field_and_comes_back(row):
    security = MessageSecurity(**(dict(row.besides) | {row.attribute: row.value}))
    packet, received = transferred(replace(PLAIN, security=security))
    assert attrgetter(row.field)(packet) == (row.value if row.on_wire is None else row.on_wire)
    assert received.security == security


def test_every_attribute_has_a_row_or_stands_in_no_packet():
    rows = {row.attribute for row in ROWS}
    beside = {"AllowPeekWhenLocked", "ArrivalTime", "ApplicationDeadletterQueue", "HopCount", "security"}
    assert rows | beside == set(Message.__dataclass_fields__)
    assert {row.attribute for row in SECURITY} | {"AuthenticationLevel"} == set(MessageSecurity.__dataclass_fields__)


def test_a_header_is_there_only_for_what_is_specified():
    packet, received = transferred(PLAIN)
    optional = ("TransactionHeader", "SecurityHeader", "DebugHeader", "MultiQueueFormatHeader")
    assert [getattr(packet, name) for name in optional] == [None] * 4
    assert packet.UserHeader.MP == 1
    assert received == PLAIN


@pytest.mark.parametrize("level", [1, 3, 5])
def test_the_level_of_authentication_is_what_the_receiver_found(level):
    packet, _ = transferred(replace(PLAIN, security=MessageSecurity(SenderIdentifierType=1)))
    header = replace(packet.SecurityHeader, Flags=packet.SecurityHeader.Flags | level << 8)
    received = deserialize_message(replace(packet, SecurityHeader=header), HERE, 9)
    assert received.security.AuthenticationLevel == level


def test_the_priority_of_a_transactional_message_is_neither_written_nor_read():
    packet, received = transferred(replace(PLAIN, Priority=6, TransactionIdentifier=1))
    assert (packet.BaseHeader.PR, received.Priority) == (0, 0)
    loud = replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags | 5))
    assert deserialize_message(loud, HERE, 9).Priority == 0


@pytest.mark.parametrize("names", ["", "nonsense", "OS:a\\q,PUBLIC=" + str(OTHER)])
def test_a_list_with_what_is_no_format_name_is_none(names):
    packet, _ = transferred(replace(PLAIN, DestinationMultiQueueFormatName=DIRECT))
    header = packet.MultiQueueFormatHeader
    (element,) = header.Destination.FormatNameList
    hostile = replace(element, FormatName=replace(element.FormatName, DirectFormatName=names))
    address = replace(header.Destination, FormatNameList=(hostile,), HeaderSize=None, Padding=None)
    packet = replace(packet, MultiQueueFormatHeader=replace(header, Destination=address))
    received = deserialize_message(packet, HERE, 9)
    assert received.DestinationMultiQueueFormatName is None
    assert transferred(received)[1] == received


def test_a_response_queue_may_be_said_to_be_the_administration_queue():
    packet, _ = transferred(replace(PLAIN, AdministrationQueueFormatName=PUBLIC))
    flags = packet.UserHeader.Flags | 1 << 16
    received = deserialize_message(replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags)), HERE, 9)
    assert received.ResponseQueueFormatName == received.AdministrationQueueFormatName == PUBLIC
    assert received.Class == MessageClass.MQMSG_CLASS_NORMAL
