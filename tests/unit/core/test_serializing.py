"""MS-MQDMPR 3.1.7.1.30, 3.1.7.1.31 and 3.1.7.1.32: every attribute of a message is written to its field, and read back
from it.

Each row of the document's tables is a case; separate cases cover values that depend on several rows, such as sizes and
flags that announce headers.
"""

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any
from uuid import UUID

import pytest
from core_network import guid

from reference_qm.codec import (
    MessageClass,
    MessageIdentifier,
    TxSequenceID,
    UserHeader,
    UserMessagePacket,
    parse_packet,
)
from reference_qm.core.store.messages import deserialize_message, serialize_message
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee

SOURCE, HERE, OTHER = guid(1), guid(2), guid(3)
DIRECT = "DIRECT=OS:host2\\private$\\plain"
LIST = f"DIRECT=TCP:10.0.0.2\\private$\\a,PUBLIC={str(OTHER).upper()},PRIVATE={str(HERE).upper()}\\00000007"
PLAIN = Message(Identifier=MessageIdentifier(SOURCE, 7), DestinationQueueFormatName=DIRECT, ArrivalTime=9)
SEQUENCE = TxSequenceID(Ordinal=3, TimeStamp=4)


def private(computer: UUID, number: int = 5) -> str:
    return f"PRIVATE={str(computer).upper()}\\{number:08X}"


@dataclass(frozen=True)
class Row:
    """A row of the document's table: an attribute with a value, the field that contains the value, and the expected
    value on the wire; ``besides``: other attributes that the attribute needs.
    """

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


def transferred(message: Message) -> tuple[UserMessagePacket, Message]:
    """Serialize a message; return the parsed packet, and the message that is deserialized from it."""
    wire = serialize_message(message).build()
    packet = parse_packet(wire)
    assert isinstance(packet, UserMessagePacket)
    assert packet.BaseHeader.PacketSize == len(wire)
    return packet, deserialize_message(packet, HERE, message.ArrivalTime)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_message_attribute_round_trips_through_its_field(row):
    message = replace(PLAIN, **(dict(row.besides) | {row.attribute: row.value}))
    packet, received = transferred(message)
    assert attrgetter(row.field)(packet) == (row.value if row.on_wire is None else row.on_wire)
    assert received == message


@pytest.mark.parametrize("host", [SOURCE, HERE, OTHER])
def test_response_queue_with_rq_4_is_on_host_of_admin_queue(host):
    packet, _ = transferred(
        replace(
            PLAIN,
            DestinationQueueManagerIdentifier=HERE,
            AdministrationQueueFormatName=private(host),
            ResponseQueueFormatName=private(SOURCE),
        )
    )
    user = packet.UserHeader
    beside_admin = replace(user, Flags=user.Flags & ~UserHeader.flags(RQ=7) | UserHeader.flags(RQ=4))
    received = deserialize_message(replace(packet, UserHeader=beside_admin), HERE, 9)
    assert received.ResponseQueueFormatName == private(host)


@pytest.mark.parametrize("names", ["", "nonsense", "OS:a\\q,PUBLIC=" + str(OTHER)])
def test_list_with_invalid_format_name_is_none(names):
    packet, _ = transferred(replace(PLAIN, DestinationMultiQueueFormatName=DIRECT))
    header = packet.MultiQueueFormatHeader
    (element,) = header.Destination.FormatNameList
    hostile = replace(element, FormatName=replace(element.FormatName, DirectFormatName=names))
    address = replace(header.Destination, FormatNameList=(hostile,), HeaderSize=None, Padding=None)
    packet = replace(packet, MultiQueueFormatHeader=replace(header, Destination=address))
    received = deserialize_message(packet, HERE, 9)
    assert received.DestinationMultiQueueFormatName is None
    assert transferred(received)[1] == received
