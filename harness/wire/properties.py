"""Define the MessagePropertiesHeader, which contains the label, the extension and the body of a message."""

from __future__ import annotations

from scapy.fields import LEIntField, XLEIntField, XLEShortField

from harness.wire.fields import BytesField, ComputedField, PaddingField, WideStringField, compute_length_of
from harness.wire.layer import Layer
from harness.wire.words import WordOfBitFields


# [MS-MQMQ] sect 2.2.19.3
class MessagePropertiesHeader(Layer):
    """The header with the label, the extension and the body of a message, and with data that describe them; padded
    to a multiple of 4 bytes.

    An empty Label is not sent. The document does not number the unused bits of Flags, so X4 to X7 are named by
    their bit numbers.
    """

    Flags = WordOfBitFields(1, "PA PR NA NR X4 X5 X6 X7")

    fields_desc = (
        *Flags.fields,
        ComputedField("LabelLength", "B", compute_length_of("Label", unit=2)),
        XLEShortField("MessageClass", 0),
        BytesField("CorrelationID", 20, bytes(20)),
        XLEIntField("BodyType", 0),
        XLEIntField("ApplicationTag", 0),
        ComputedField("MessageSize", "I", compute_length_of("MessageBody")),
        ComputedField("AllocationBodySize", "I", compute_length_of("MessageBody")),
        LEIntField("PrivacyLevel", 0),
        XLEIntField("HashAlgorithm", 0x8004),
        XLEIntField("EncryptionAlgorithm", 0x6801),
        ComputedField("ExtensionSize", "I", compute_length_of("ExtensionData")),
        WideStringField("Label", lambda layer: 2 * layer.LabelLength, empty=b""),
        BytesField("ExtensionData", lambda layer: layer.ExtensionSize),
        BytesField("MessageBody", lambda layer: layer.MessageSize),
        PaddingField(),
    )
