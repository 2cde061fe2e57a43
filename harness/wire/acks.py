"""Define the bodies of OrderAcks and FinalAcks, which acknowledge transactional messages."""

from __future__ import annotations

from scapy.fields import LEIntField

from harness.wire.fields import BytesField, GuidField, NestedField
from harness.wire.identifiers import TxSequenceID
from harness.wire.layer import Structure


# [MS-MQQB] sect 2.2.4.1
class OrderAckBody(Structure):
    """The MessageBody of an OrderAck: 36 bytes."""

    fields_desc = (
        NestedField("TxSequenceID", TxSequenceID, TxSequenceID()),
        LEIntField("TxSequenceNumber", 1),
        LEIntField("TxPreviousSequenceNumber", 0),
        BytesField("Reserved", 20, bytes(20)),
    )


# [MS-MQQB] sect 2.2.5.1
class FinalAckBody(Structure):
    """The MessageBody of a FinalAck: 36 bytes."""

    fields_desc = (
        NestedField("TxSequenceID", TxSequenceID, TxSequenceID()),
        LEIntField("TxSequenceNumber", 1),
        LEIntField("TxPreviousSequenceNumber", 0),
        GuidField("SourceGUID"),
        LEIntField("MessageID", 0),
    )
