"""Define the TransactionHeader of transactional messages."""

from __future__ import annotations

from scapy.fields import LEIntField

from harness.wire.fields import GuidFieldPresentIfFlagIsSet, NestedField
from harness.wire.identifiers import TxSequenceID
from harness.wire.layer import Layer
from harness.wire.words import WordOfBitFields


# [MS-MQMQ] sect 2.2.20.5
class TransactionHeader(Layer):
    """The header with the position of a message in its transactional sequence: 20 bytes, or 36 bytes with the GUID
    of the connector.
    """

    Flags = WordOfBitFields(
        4,
        "CG FA FM LM ID:20 X1 X2 X3 X4 X5 X6 X7 X8",
        CG=lambda layer: layer.ConnectorQMGuid is not None,
    )

    fields_desc = (
        *Flags.fields,
        NestedField("TxSequenceID", TxSequenceID, TxSequenceID()),
        LEIntField("TxSequenceNumber", 1),
        LEIntField("PreviousTxSequenceNumber", 0),
        GuidFieldPresentIfFlagIsSet("ConnectorQMGuid", lambda layer: layer.CG),
    )
