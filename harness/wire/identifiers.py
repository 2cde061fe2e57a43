"""Define the structures of identifiers in headers and message bodies."""

from __future__ import annotations

from scapy.fields import Field, LEIntField, XLEIntField

from harness.wire.fields import BytesField, GuidField
from harness.wire.layer import Structure


# [MS-MQMQ] sect 2.2.18.1.2
class TxSequenceID(Structure):
    """The identifier of a transactional sequence: 8 bytes."""

    fields_desc = (LEIntField("Ordinal", 0), XLEIntField("TimeStamp", 0))


# [MS-MQMQ] sect 2.2.18.1.3
class MessageIdentifier(Structure):
    """The identifier of a message: the GUID of its queue manager and an ordinal, 20 bytes."""

    fields_desc = (GuidField("QueueManagerGuid"), LEIntField("Ordinal", 0))


# [MS-MQMQ] sect 2.2.8
class ObjectID(Structure):
    """OBJECTID: the GUID of a group and a number in this group, 20 bytes."""

    fields_desc = (GuidField("Lineage"), LEIntField("Uniquifier", 0))


# [MS-MQMQ] sect 2.2.5.1
class SequenceInfo(Structure):
    """SEQUENCE_INFO (Packet): the position of a message in a sequence; i64, u32, u32 LE."""

    fields_desc = (Field("SeqID", 0, "<q"), LEIntField("SeqNo", 0), LEIntField("PrevNo", 0))


# [MS-MQMQ] sect 2.2.18.1.8
class XactUow(Structure):
    """XACTUOW: the identifier of a unit of work, 16 bytes."""

    fields_desc = (BytesField("rgb", 16, bytes(16)),)
