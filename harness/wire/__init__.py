"""The scapy layers of MS-MQQB 2.2 and 2.4 and of MS-MQMQ 2.2.18 to 2.2.20. They build any packet, valid or not, and
dissect strictly.

Fields have the names that the specifications print. Sizes, counts, and flags that announce parts are None until the
packet is built, and are then computed; if a value is given, it is put on the wire unchanged. The layers are written
independently of ``reference_qm.codec``, so that the two codecs share no bug.
"""

from __future__ import annotations

from harness.wire.acks import FinalAckBody, OrderAckBody
from harness.wire.base import BaseHeader
from harness.wire.blobs import PublicKeyBlob, SimpleBlob
from harness.wire.identifiers import MessageIdentifier, ObjectID, SequenceInfo, TxSequenceID, XactUow
from harness.wire.internal import (
    ConnectionParametersHeader,
    EstablishConnectionHeader,
    InternalHeader,
    UnknownInternal,
)
from harness.wire.make import (
    connection_parameters,
    establish_connection,
    ping_request,
    ping_response,
    session_ack,
    user_message,
)
from harness.wire.mqf import MQFAddressHeader, MQFFormatNameElement, MQFSignatureHeader, MultiQueueFormatHeader
from harness.wire.packets import dissect, dissect_ping, get_packet_kind, kind
from harness.wire.ping import PingPacket
from harness.wire.properties import MessagePropertiesHeader
from harness.wire.queues import (
    DirectQueueFormatName,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
)
from harness.wire.security import ProviderInfo, SecurityHeader
from harness.wire.session import SessionHeader
from harness.wire.soap import SoapHeader
from harness.wire.trace import DebugHeader
from harness.wire.transaction import TransactionHeader
from harness.wire.tree import (
    TreeLine,
    format_dissected_packet,
    format_dissection,
    has_bytes_when_rebuilt,
    list_dissection_lines,
)
from harness.wire.user import UserHeader
from harness.wire.wire_error import WireError

__all__ = [
    "BaseHeader",
    "ConnectionParametersHeader",
    "DebugHeader",
    "DirectQueueFormatName",
    "EstablishConnectionHeader",
    "FinalAckBody",
    "InternalHeader",
    "MQFAddressHeader",
    "MQFDirectQueueFormatName",
    "MQFDistributionQueueFormatName",
    "MQFFormatNameElement",
    "MQFSignatureHeader",
    "MessageIdentifier",
    "MessagePropertiesHeader",
    "MultiQueueFormatHeader",
    "ObjectID",
    "OrderAckBody",
    "PingPacket",
    "PrivateQueueFormatName",
    "PrivateQueueFormatNameId",
    "ProviderInfo",
    "PublicKeyBlob",
    "PublicQueueFormatName",
    "SecurityHeader",
    "SequenceInfo",
    "SessionHeader",
    "SimpleBlob",
    "SoapHeader",
    "TransactionHeader",
    "TreeLine",
    "TxSequenceID",
    "UnknownInternal",
    "UserHeader",
    "WireError",
    "XactUow",
    "connection_parameters",
    "dissect",
    "dissect_ping",
    "establish_connection",
    "format_dissected_packet",
    "format_dissection",
    "get_packet_kind",
    "has_bytes_when_rebuilt",
    "kind",
    "list_dissection_lines",
    "ping_request",
    "ping_response",
    "session_ack",
    "user_message",
]
