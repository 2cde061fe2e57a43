"""Names of queues as they stand in headers."""

from __future__ import annotations

from scapy.fields import XLEIntField

from harness.wire.fields import Computed, Guid, Padding, WideString, length_of
from harness.wire.layer import Structure


# [MS-MQMQ] sect 2.2.18.1.5.1
class PrivateQueueFormatNameId(Structure):
    """A private queue on the host that the header's flags name: 4 bytes."""

    fields_desc = (XLEIntField("PrivateQueueIdentifier", 0),)


# [MS-MQMQ] sect 2.2.18.1.5.2
class DirectQueueFormatName(Structure):
    """A direct name with its length, padded to 4 bytes.

    The padding counts from the enclosing header; the structure itself starts at a multiple of 4 in it.
    """

    fields_desc = (
        Computed("Count", "H", length_of("DirectFormatName")),
        WideString("DirectFormatName", lambda layer: layer.Count),
        Padding(),
    )


# [MS-MQMQ] sect 2.2.18.1.7.1
class PublicQueueFormatName(Structure):
    """A public queue: 16-byte GUID."""

    fields_desc = (Guid("PublicQueueIdentifier"),)


# [MS-MQMQ] sect 2.2.18.1.7.2
class PrivateQueueFormatName(Structure):
    """A private queue on any host: the host's 16-byte GUID and a number."""

    fields_desc = (Guid("SourceQueueManager"), XLEIntField("PrivateQueueIdentifier", 0))


# [MS-MQMQ] sect 2.2.18.1.4.1
class MQFDirectQueueFormatName(Structure):
    """A direct name in a list of names: no length, its terminator ends it."""

    fields_desc = (WideString("DirectFormatName", None),)


# [MS-MQMQ] sect 2.2.18.1.4.2
class MQFDistributionQueueFormatName(Structure):
    """A distribution list: 16-byte GUID."""

    fields_desc = (Guid("DistributionListIdentifier"),)
