"""Define the UserHeader, which contains the source and the destination of a message, and flags for the headers that
follow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scapy.fields import LEIntField, XLEIntField
from scapy.packet import Packet

from harness.wire.fields import GuidField, GuidFieldPresentIfFlagIsSet, NestedField
from harness.wire.layer import Layer, Structure
from harness.wire.mqf import MultiQueueFormatHeader
from harness.wire.properties import MessagePropertiesHeader
from harness.wire.queues import (
    DirectQueueFormatName,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
)
from harness.wire.security import SecurityHeader
from harness.wire.session import SessionHeader
from harness.wire.soap import SoapHeader
from harness.wire.trace import DebugHeader
from harness.wire.transaction import TransactionHeader
from harness.wire.wire_error import WireError
from harness.wire.words import WordOfBitFields

QUEUE_LAYOUTS_BY_FLAG: dict[str, dict[int, type[Structure] | None]] = {
    "DQ": {0: None, 3: PrivateQueueFormatNameId, 5: PublicQueueFormatName, 7: DirectQueueFormatName},
    "AQ": {
        0: None,
        2: PrivateQueueFormatNameId,
        3: PrivateQueueFormatNameId,
        5: PublicQueueFormatName,
        6: PrivateQueueFormatName,
        7: DirectQueueFormatName,
    },
    "RQ": {
        0: None,
        1: None,
        2: PrivateQueueFormatNameId,
        3: PrivateQueueFormatNameId,
        4: PrivateQueueFormatNameId,
        5: PublicQueueFormatName,
        6: PrivateQueueFormatName,
        7: DirectQueueFormatName,
    },
}
"""For each flag and each value of the flag, the layout of a queue's name."""

UNLISTED_QUEUE_TYPE = 6  # DQ has no value for a PrivateQueueFormatName; in the other flags, its value is 6


class Queue(NestedField):
    """A field for the name of a queue. The flag ``flag`` selects the layout of the name. A value of type str is a
    direct name, and is sent unchanged.
    """

    __slots__ = ("flag",)

    def __init__(self, name: str, flag: str) -> None:
        self.flag = flag
        super().__init__(name, self._announced_layout)

    def any2i(self, pkt: Packet | None, x: Any) -> Packet | None:
        return super().any2i(pkt, DirectQueueFormatName(DirectFormatName=x) if isinstance(x, str) else x)

    def _announced_layout(self, layer: Packet) -> type[Structure] | None:
        value = layer.getfieldval(self.flag)
        if value not in QUEUE_LAYOUTS_BY_FLAG[self.flag]:
            raise WireError(f"UserHeader.{self.flag} is {value}, for which {self.name} has no layout")
        return QUEUE_LAYOUTS_BY_FLAG[self.flag][value]


def _announce_queue_type(field: str, flag: str) -> Callable[[Packet], int]:
    """Return a function that computes the value of the flag for the queue in a layer: the first value whose layout
    fits the queue.
    """

    def get_queue_type(layer: Packet) -> int:
        queue = layer.getfieldval(field)
        kinds = (
            number for number, layout in QUEUE_LAYOUTS_BY_FLAG[flag].items() if layout and isinstance(queue, layout)
        )
        return 0 if queue is None else next(kinds, UNLISTED_QUEUE_TYPE)

    return get_queue_type


def _match_header_flag(header: type[Layer]) -> Callable[[Packet], int]:
    return lambda layer: layer.carries(header)


# [MS-MQMQ] sect 2.2.19.2
class UserHeader(Layer):
    """The header with the source, the destination, TimeToBeReceived (s) and the delivery of a message: 48 bytes and
    the names of its queues.

    DM of a transactional message, and the flags that announce a queue or a header, are computed.
    """

    Flags = WordOfBitFields(
        4,
        "RC:5 DM:2 X1 JN JP DQ:3 AQ:3 RQ:3 SH TH MP CQ MQ X2 AH X3:2 HH X4:3",
        DM=_match_header_flag(TransactionHeader),
        DQ=_announce_queue_type("DestinationQueue", "DQ"),
        AQ=_announce_queue_type("AdminQueue", "AQ"),
        RQ=_announce_queue_type("ResponseQueue", "RQ"),
        SH=_match_header_flag(SecurityHeader),
        TH=_match_header_flag(TransactionHeader),
        MP=_match_header_flag(MessagePropertiesHeader),
        CQ=lambda layer: layer.ConnectorType is not None,
        MQ=_match_header_flag(MultiQueueFormatHeader),
        HH=_match_header_flag(SoapHeader),
    )

    fields_desc = (
        GuidField("SourceQueueManager"),
        GuidField("QueueManagerAddress"),
        XLEIntField("TimeToBeReceived", 0xFFFF_FFFF),
        LEIntField("SentTime", 0),
        LEIntField("MessageID", 1),
        *Flags.fields,
        Queue("DestinationQueue", "DQ"),
        Queue("AdminQueue", "AQ"),
        Queue("ResponseQueue", "RQ"),
        GuidFieldPresentIfFlagIsSet("ConnectorType", lambda layer: layer.CQ),
    )

    def post_dissect(self, s: bytes) -> bytes:
        """Raise WireError for a message without a MessagePropertiesHeader, because this header must be present
        (MS-MQMQ 2.2.20).
        """
        if self.underlayer and not self.MP:
            raise WireError("UserHeader.MP is 0, so the MessagePropertiesHeader is missing")
        return s

    def after(self, layer: type[Layer]) -> type[Layer] | None:
        """Return the next header that the flags announce. The headers are in the order of MS-MQMQ 2.2.20."""
        following = _FOLLOWING_HEADERS if layer is UserHeader else _FOLLOWING_HEADERS[_HEADER_POSITIONS[layer] :]
        for header, flag, in_base in following:
            announcing = self.underlayer if in_base else self
            if announcing is not None and announcing.getfieldval(flag):
                return header
        return None


_FOLLOWING_HEADERS: tuple[tuple[type[Layer], str, bool], ...] = (
    (TransactionHeader, "TH", False),
    (SecurityHeader, "SH", False),
    (MessagePropertiesHeader, "MP", False),
    (DebugHeader, "DH", True),
    (SoapHeader, "HH", False),
    (MultiQueueFormatHeader, "MQ", False),
    (SessionHeader, "SH", True),
)
"""The headers that can follow the UserHeader, in order. Each is listed with the flag that announces it, and with
whether this flag is in the BaseHeader.
"""
_HEADER_POSITIONS = {header: place for place, (header, _, _) in enumerate(_FOLLOWING_HEADERS, 1)}
