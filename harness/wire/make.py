"""Build complete packets in one call.

Each header is given as a mapping of its fields. If a field is missing, it gets a legal default or is computed; a
given field is written unchanged, legal or not. An optional header is present if its mapping is given, even if the
mapping is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from scapy.packet import Packet

from harness.wire.base import BaseHeader
from harness.wire.internal import ConnectionParametersHeader, EstablishConnectionHeader, InternalHeader
from harness.wire.layer import Layer
from harness.wire.mqf import MultiQueueFormatHeader
from harness.wire.ping import PingPacket
from harness.wire.properties import MessagePropertiesHeader
from harness.wire.security import SecurityHeader
from harness.wire.session import SessionHeader
from harness.wire.soap import SoapHeader
from harness.wire.trace import DebugHeader
from harness.wire.transaction import TransactionHeader
from harness.wire.user import UserHeader

FieldValues = Mapping[str, Any]
NO_FIELDS: FieldValues = {}


def establish_connection(*, base: FieldValues = NO_FIELDS, internal: FieldValues = NO_FIELDS, **header: Any) -> Packet:
    """Build an EstablishConnection. ``header`` contains fields of EstablishConnectionHeader. Spec: MS-MQQB 2.2.3."""
    return _stack_headers(BaseHeader(**base), InternalHeader(**internal), EstablishConnectionHeader(**header))


def connection_parameters(*, base: FieldValues = NO_FIELDS, internal: FieldValues = NO_FIELDS, **header: Any) -> Packet:
    """Build a ConnectionParameters. ``header`` contains fields of ConnectionParametersHeader. Spec: MS-MQQB 2.2.2."""
    return _stack_headers(BaseHeader(**base), InternalHeader(**internal), ConnectionParametersHeader(**header))


def session_ack(*, base: FieldValues = NO_FIELDS, internal: FieldValues = NO_FIELDS, **session: Any) -> Packet:
    """Build a SessionAck. Its PacketSize includes the SessionHeader, as on real Windows. Spec: MS-MQQB 2.2.6."""
    return _stack_headers(BaseHeader(**base), InternalHeader(**internal), SessionHeader(**session))


def user_message(
    *,
    base: FieldValues = NO_FIELDS,
    user: FieldValues = NO_FIELDS,
    properties: FieldValues = NO_FIELDS,
    transaction: FieldValues | None = None,
    security: FieldValues | None = None,
    debug: FieldValues | None = None,
    soap: FieldValues | None = None,
    mqf: FieldValues | None = None,
    session: FieldValues | None = None,
    destination: Any = "DIRECT=TCP:127.0.0.1\\private$\\q",
    body: bytes | Packet = b"",
    label: str | bytes = "",
    **more_properties: Any,
) -> Packet:
    """Build a UserMessage. Spec: MS-MQMQ 2.2.20.

    ``destination`` is a queue of ``harness.wire``, a direct name (str) that is sent unchanged, or None for no
    queue. ``more_properties`` contains fields of MessagePropertiesHeader in addition to ``properties``.
    """
    message = {"MessageBody": body, "Label": label, **properties, **more_properties}
    headers: tuple[tuple[type[Layer], FieldValues | None], ...] = (
        (BaseHeader, base),
        (UserHeader, {"DestinationQueue": destination, **user}),
        (TransactionHeader, transaction),
        (SecurityHeader, security),
        (MessagePropertiesHeader, message),
        (DebugHeader, debug),
        (SoapHeader, soap),
        (MultiQueueFormatHeader, mqf),
        (SessionHeader, session),
    )
    return _stack_headers(*(header(**fields) for header, fields in headers if fields is not None))


def ping_request(**fields: Any) -> Packet:
    """Build a ping request. ``fields`` contains fields of PingPacket. Spec: MS-MQQB 2.2.7."""
    return PingPacket(**fields)


def ping_response(**fields: Any) -> Packet:
    """Build a ping response, which has the same layout as a request. RF means that sessions are refused. Spec:
    MS-MQQB 2.2.7.
    """
    return PingPacket(**fields)


def _stack_headers(*headers: Layer) -> Packet:
    """Join headers to one packet. Unlike the operator ``/`` of scapy, this function does not copy the headers."""
    for below, above in pairwise(headers):
        below.add_payload(above)
    return headers[0]
