"""Define the operations of qm2qm. Spec: MS-MQQP 2.2, 3.1.4, 6."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Any

from scapy.layers.dcerpc import (
    NDRByteField,
    NDRFullEmbPointerField,
    NDRInt3264EnumField,
    NDRIntField,
    NDRLongField,
    NDRPacket,
    NDRPacketField,
    NDRShortField,
)

from harness.wire.rpc import QM2QM
from harness.wire.rpc_stub import ConformantByteArray, Guid, Handle, Operation, build_pointer, operation


class Method(StrEnum):
    """The names of the methods of qm2qm. Spec: MS-MQQP 3.1.4."""

    START_RECEIVE = "RemoteQMStartReceive"
    END_RECEIVE = "RemoteQMEndReceive"
    OPEN_QUEUE = "RemoteQMOpenQueue"
    CLOSE_QUEUE = "RemoteQMCloseQueue"
    CLOSE_CURSOR = "RemoteQMCloseCursor"
    CANCEL_RECEIVE = "RemoteQMCancelReceive"
    PURGE_QUEUE = "RemoteQMPurgeQueue"
    GET_SERVER_PORT = "RemoteQMGetQMQMServerPort"
    GET_VERSION = "RemoteQmGetVersion"
    START_RECEIVE2 = "RemoteQMStartReceive2"
    START_RECEIVE_BY_LOOKUP_ID = "RemoteQMStartReceiveByLookupId"


def takes_message(action: int) -> bool:
    """Return whether a read with the given ulAction, defined or not, removes the message from the queue."""
    return action == Action.RECEIVE or action >> 4 & 0x3 == 2


class Action(IntEnum):
    """The values of ulAction: MQ_ACTION_* and MQ_LOOKUP_*. Spec: MS-MQQP 2.2.2.1."""

    RECEIVE = 0x00000000
    PEEK_CURRENT = 0x80000000
    PEEK_NEXT = 0x80000001
    LOOKUP_PEEK_CURRENT = 0x40000010
    LOOKUP_PEEK_NEXT = 0x40000011
    LOOKUP_PEEK_PREV = 0x40000012
    LOOKUP_RECEIVE_CURRENT = 0x40000020
    LOOKUP_RECEIVE_NEXT = 0x40000021
    LOOKUP_RECEIVE_PREV = 0x40000022

    @property
    def is_receive(self) -> bool:
        """Whether a read with this action removes the message from the queue."""
        return takes_message(self)

    @property
    def peeking_action(self) -> Action:
        """The lookup action that peeks at the message which this action receives."""
        return Action(self - 0x10) if self.is_receive else self


class Ack(IntEnum):
    """The values of dwAck and eAckNack (REMOTEREADACK). Spec: MS-MQQP 2.2.1.3."""

    RR_UNKNOWN = 0
    RR_NACK = 1
    RR_ACK = 2


class PortType(IntEnum):
    """The values of dwPortType. Spec: MS-MQQP 3.1.4.8."""

    IP_HANDSHAKE = 0
    IP_READ = 1
    IPX_HANDSHAKE = 2
    IPX_READ = 3


class LookupId(IntEnum):
    """The LookupIds that stand for the two ends of a queue. MQ_LOOKUP_*_NEXT with BEFORE_FIRST selects the first
    message; MQ_LOOKUP_*_PREV with BEHIND_LAST selects the last message. Spec: MS-MQQP 3.1.4.11.
    """

    BEFORE_FIRST = 0
    BEHIND_LAST = 0xFFFF_FFFF_FFFF_FFFF


RR_UNKNOWN, RR_NACK, RR_ACK = range(3)
"""The values of REMOTEREADACK. Spec: MS-MQQP 2.2.1.3."""

RECEIVE, PEEK_CURRENT, PEEK_NEXT = 0x00000000, 0x80000000, 0x80000001
LOOKUP_PEEK_CURRENT, LOOKUP_PEEK_NEXT, LOOKUP_PEEK_PREV = 0x40000010, 0x40000011, 0x40000012
LOOKUP_RECEIVE_CURRENT, LOOKUP_RECEIVE_NEXT, LOOKUP_RECEIVE_PREV = 0x40000020, 0x40000021, 0x40000022
"""The values of ulAction: MQ_ACTION_* and MQ_LOOKUP_*. Spec: MS-MQQP 2.2.2.1."""
LOOKUP_ID_BEFORE_FIRST, LOOKUP_ID_AFTER_LAST = 0, 0xFFFF_FFFF_FFFF_FFFF
"""The LookupIds of the positions before the first and after the last message. Spec: MS-MQQP 3.1.4.11."""
INFINITE_TIMEOUT_MS = 0xFFFF_FFFF
MAX_BUFFER_BYTES = 0x0042_0000
IP_HANDSHAKE, IP_READ, IPX_HANDSHAKE, IPX_READ = range(4)
"""The values of dwPortType. Spec: MS-MQQP 3.1.4.8."""


# [MS-MQQP] sect 2.2.2.1
class REMOTEREADDESC(NDRPacket):  # type: ignore[misc]
    """The description of a read. In a request, it describes the requested read; in an answer, it describes the returned
    message.
    """

    ALIGNMENT = (4, 8)
    fields_desc = (
        NDRIntField("hRemoteQueue", 0),
        NDRIntField("hCursor", 0),
        NDRIntField("ulAction", 0),
        NDRIntField("ulTimeout", 0),
        NDRIntField("dwSize", 0),
        NDRIntField("dwQueue", 0),
        NDRIntField("dwRequestID", 0),
        NDRIntField("Reserved", 0),
        NDRIntField("dwArriveTime", 0),
        NDRInt3264EnumField("eAckNack", 0, {0: "RR_UNKNOWN", 1: "RR_NACK", 2: "RR_ACK"}),
        NDRFullEmbPointerField(ConformantByteArray("lpBuffer")),
    )


# [MS-MQQP] sect 2.2.2.2
class REMOTEREADDESC2(NDRPacket):  # type: ignore[misc]
    """A structure that contains a REMOTEREADDESC and the SequentialId of the message."""

    ALIGNMENT = (8, 8)
    fields_desc = (
        NDRFullEmbPointerField(NDRPacketField("pRemoteReadDesc", REMOTEREADDESC(), REMOTEREADDESC)),
        NDRLongField("SequentialId", 0),
    )


def build_desc2(desc: REMOTEREADDESC | None, sequential_id: int = 0) -> REMOTEREADDESC2:
    """Build a REMOTEREADDESC2 that contains a REMOTEREADDESC; None stands for a NULL pointer."""
    return REMOTEREADDESC2(pRemoteReadDesc=build_pointer(desc), SequentialId=sequential_id)


def _build_read_description() -> NDRPacketField:
    return NDRPacketField("lpRemoteReadDesc", REMOTEREADDESC(), REMOTEREADDESC)


def _build_read_description_2() -> NDRPacketField:
    return NDRPacketField("lpRemoteReadDesc2", REMOTEREADDESC2(), REMOTEREADDESC2)


def _build_dword_fields(*names: str) -> list[Any]:
    return [NDRIntField(name, 0) for name in names]


def _build_result_fields() -> NDRIntField:
    return NDRIntField("Return", 0)


_VERSION_FIELDS = [NDRByteField("pMajor", 0), NDRByteField("pMinor", 0), NDRShortField("pBuildNumber", 0)]
_OPERATION_TABLE: list[tuple[str, list[Any], list[Any]]] = [
    (
        "RemoteQMStartReceive",
        [_build_read_description()],
        [Handle("pphContext"), _build_read_description(), _build_result_fields()],
    ),
    (
        "RemoteQMEndReceive",
        [Handle("pphContext"), *_build_dword_fields("dwAck")],
        [Handle("pphContext"), _build_result_fields()],
    ),
    (
        "RemoteQMOpenQueue",
        [Guid("pLicGuid"), *_build_dword_fields("dwMQS", "hQueue", "pQueue", "dwpContext")],
        [Handle("phContext"), _build_result_fields()],
    ),
    ("RemoteQMCloseQueue", [Handle("pphContext")], [Handle("pphContext"), _build_result_fields()]),
    ("RemoteQMCloseCursor", _build_dword_fields("hQueue", "hCursor"), [_build_result_fields()]),
    ("RemoteQMCancelReceive", _build_dword_fields("hQueue", "pQueue", "dwRequestID"), [_build_result_fields()]),
    ("RemoteQMPurgeQueue", _build_dword_fields("hQueue"), [_build_result_fields()]),
    ("RemoteQMGetQMQMServerPort", _build_dword_fields("dwPortType"), [_build_result_fields()]),
    ("RemoteQmGetVersion", [], _VERSION_FIELDS),
    (
        "RemoteQMStartReceive2",
        [_build_read_description_2()],
        [Handle("pphContext"), _build_read_description_2(), _build_result_fields()],
    ),
    (
        "RemoteQMStartReceiveByLookupId",
        [NDRLongField("LookupId", 0), _build_read_description_2()],
        [Handle("pphContext"), _build_read_description_2(), _build_result_fields()],
    ),
]

QM2QM_OPERATIONS: dict[str, Operation] = {
    name: operation(QM2QM, opnum, name, f"MS-MQQP 3.1.4.{opnum + 1}", ins, outs)
    for opnum, (name, ins, outs) in enumerate(_OPERATION_TABLE)
}
"""The operations of qm2qm, by name. The opnum of an operation is its position in the interface."""
