"""Parses and builds packets. The codec refuses bytes that do not have the specified structure, but accepts any value in
a field.

For bytes that the codec refuses, ``parse_packet``, ``parse_ping`` and ``Record.parse`` raise FormatError and no other
exception. The harness, not the codec, checks the rules about field values.
"""

from reference_qm.codec.base import MAX_PACKET_SIZE, BaseHeader
from reference_qm.codec.blobs import PublicKeyBlob, SimpleBlob
from reference_qm.codec.classes import MessageClass
from reference_qm.codec.format_error import FormatError, FramingError, MisuseError
from reference_qm.codec.format_names import (
    ConnectorName,
    DirectName,
    DistributionListName,
    FormatName,
    MachineName,
    MachineQueuePath,
    MulticastName,
    MultipleElementName,
    PrivateName,
    PrivateQueuePath,
    PublicName,
    PublicQueuePath,
    parse_format_name,
)
from reference_qm.codec.framer import StreamFramer
from reference_qm.codec.ids import MessageIdentifier, ObjectID, SequenceInfo, TxSequenceID, XactUow
from reference_qm.codec.internal import (
    PT_CONNECTION_PARAMETERS,
    PT_ESTABLISH_CONNECTION,
    PT_SESSION_ACK,
    ConnectionParametersHeader,
    EstablishConnectionHeader,
    InternalHeader,
    PingPacket,
)
from reference_qm.codec.layout import NULL_GUID, format_guid
from reference_qm.codec.mqf import (
    MQFAddressHeader,
    MQFFormatNameElement,
    MQFSignatureHeader,
    MultiQueueFormatHeader,
)
from reference_qm.codec.packets import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    Packet,
    SessionAckPacket,
    UnknownInternalPacket,
    UserMessagePacket,
    parse_framed_packet,
    parse_packet,
    parse_ping,
)
from reference_qm.codec.properties import MessagePropertiesHeader
from reference_qm.codec.queue_formats import (
    DirectQueueFormatName,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
)
from reference_qm.codec.security import ProviderInfo, SecurityHeader
from reference_qm.codec.security_data import SecurityData
from reference_qm.codec.session import SessionHeader
from reference_qm.codec.soap_debug import DebugHeader, SoapHeader
from reference_qm.codec.transaction import FinalAckBody, OrderAckBody, TransactionHeader
from reference_qm.codec.user import QueueName, UserHeader

__all__ = [
    "MAX_PACKET_SIZE",
    "NULL_GUID",
    "PT_CONNECTION_PARAMETERS",
    "PT_ESTABLISH_CONNECTION",
    "PT_SESSION_ACK",
    "BaseHeader",
    "ConnectionParametersHeader",
    "ConnectionParametersPacket",
    "ConnectorName",
    "DebugHeader",
    "DirectName",
    "DirectQueueFormatName",
    "DistributionListName",
    "EstablishConnectionHeader",
    "EstablishConnectionPacket",
    "FinalAckBody",
    "FormatError",
    "FormatName",
    "FramingError",
    "InternalHeader",
    "MQFAddressHeader",
    "MQFDirectQueueFormatName",
    "MQFDistributionQueueFormatName",
    "MQFFormatNameElement",
    "MQFSignatureHeader",
    "MachineName",
    "MachineQueuePath",
    "MessageClass",
    "MessageIdentifier",
    "MessagePropertiesHeader",
    "MisuseError",
    "MultiQueueFormatHeader",
    "MulticastName",
    "MultipleElementName",
    "ObjectID",
    "OrderAckBody",
    "Packet",
    "PingPacket",
    "PrivateName",
    "PrivateQueueFormatName",
    "PrivateQueueFormatNameId",
    "PrivateQueuePath",
    "ProviderInfo",
    "PublicKeyBlob",
    "PublicName",
    "PublicQueueFormatName",
    "PublicQueuePath",
    "QueueName",
    "SecurityData",
    "SecurityHeader",
    "SequenceInfo",
    "SessionAckPacket",
    "SessionHeader",
    "SimpleBlob",
    "SoapHeader",
    "StreamFramer",
    "TransactionHeader",
    "TxSequenceID",
    "UnknownInternalPacket",
    "UserHeader",
    "UserMessagePacket",
    "XactUow",
    "format_guid",
    "parse_format_name",
    "parse_framed_packet",
    "parse_packet",
    "parse_ping",
]
