"""Define the forms of queue names in headers."""

from __future__ import annotations

from scapy.fields import XLEIntField

from harness.wire.fields import ComputedField, GuidField, PaddingField, WideStringField, compute_length_of
from harness.wire.layer import Structure


# [MS-MQMQ] sect 2.2.18.1.5.1
class PrivateQueueFormatNameId(Structure):
    """The name of a private queue on the host that the header's flags identify: 4 bytes."""

    fields_desc = (XLEIntField("PrivateQueueIdentifier", 0),)


# [MS-MQMQ] sect 2.2.18.1.5.2
class DirectQueueFormatName(Structure):
    """A direct name with its length, padded to a multiple of 4 bytes.

    The padding is aligned to the start of the enclosing header. In this header, the structure begins at a multiple
    of 4.
    """

    fields_desc = (
        ComputedField("Count", "H", compute_length_of("DirectFormatName")),
        WideStringField("DirectFormatName", lambda layer: layer.Count),
        PaddingField(),
    )


# [MS-MQMQ] sect 2.2.18.1.7.1
class PublicQueueFormatName(Structure):
    """The name of a public queue: its 16-byte GUID."""

    fields_desc = (GuidField("PublicQueueIdentifier"),)


# [MS-MQMQ] sect 2.2.18.1.7.2
class PrivateQueueFormatName(Structure):
    """The name of a private queue on any host: the 16-byte GUID of the host, and the number of the queue."""

    fields_desc = (GuidField("SourceQueueManager"), XLEIntField("PrivateQueueIdentifier", 0))


# [MS-MQMQ] sect 2.2.18.1.4.1
class MQFDirectQueueFormatName(Structure):
    """A direct name in a list of names. It has no length field, but ends with a terminator."""

    fields_desc = (WideStringField("DirectFormatName", None),)


# [MS-MQMQ] sect 2.2.18.1.4.2
class MQFDistributionQueueFormatName(Structure):
    """The name of a distribution list: its 16-byte GUID."""

    fields_desc = (GuidField("DistributionListIdentifier"),)
