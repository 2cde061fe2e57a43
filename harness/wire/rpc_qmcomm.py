"""Define the operations of qmcomm that remote reading needs, and QUEUE_FORMAT. Spec: MS-MQMP 3.1.4, 6; MS-MQMQ
2.2.7.

CACTransferBufferV1 (MS-MQMP 2.2.3.2) is declared only as far as R_QMCreateRemoteCursor needs it, with all pointers
NULL.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Any
from uuid import UUID

from scapy.fields import StrFixedLenField
from scapy.layers.dcerpc import (
    NDRAlign,
    NDRByteField,
    NDRConfVarStrNullFieldUtf16,
    NDRFullEmbPointerField,
    NDRFullPointerField,
    NDRIntField,
    NDRPacket,
    NDRPacketField,
    NDRShortField,
    NDRUnion,
    NDRUnionField,
)

from harness.wire.rpc import QMCOMM
from harness.wire.rpc_stub import ExactLengthBytes, Guid, Handle, Operation, build_wide_string_pointer, operation


class FormatType(IntEnum):
    """The types of a QUEUE_FORMAT (QUEUE_FORMAT_TYPE). Spec: MS-MQMQ 2.2.6."""

    UNKNOWN = 0
    PUBLIC = 1
    PRIVATE = 2
    DIRECT = 3
    MACHINE = 4
    CONNECTOR = 5
    DL = 6
    MULTICAST = 7
    SUBQUEUE = 8


class Suffix(IntEnum):
    """The values of the low 4 bits of m_SuffixAndFlags. Spec: MS-MQMQ 2.2.7."""

    NONE = 0
    JOURNAL = 1
    DEADLETTER = 2
    DEADXACT = 3
    XACTONLY = 4
    SUBQUEUE = 5


UNKNOWN, PUBLIC, PRIVATE, DIRECT, MACHINE, CONNECTOR, DL, MULTICAST, SUBQUEUE = map(int, FormatType)
NO_SUFFIX, JOURNAL, DEADLETTER, DEADXACT, XACTONLY, SUBQUEUE_SUFFIX = map(int, Suffix)
SYSTEM_QUEUE_SUFFIX = 0x80
"""The flag of m_SuffixAndFlags for a system queue."""

RECEIVE_ACCESS, PEEK_ACCESS = 0x01, 0x20
DENY_NONE, DENY_RECEIVE = 0, 1
"""The values of dwShareMode. Spec: MS-MQMP 3.1.4.2."""

_SEND_UNION_TAG, _CREATECURSOR_UNION_TAG = 0, 2
"""The values of uTransferType. The union member for CACTB_SEND consists of two pointers, as in a zeroed buffer; the
union member for CACTB_CREATECURSOR consists of three DWORDs.

Spec: MS-MQMP 2.2.3.2, 2.2.3.4.
"""
_UNION_ALIGNMENTS = (4, 8)
"""The alignment of every union member in NDR64. It is the greatest alignment of all members (MS-RPCE 2.2.5.3.4.4).
"""


def _build_union_arm(tag: int, field: Any) -> tuple[Any, Any]:
    return field, (lambda pkt: getattr(pkt, "tag", None) == tag, lambda _, value: value.tag == tag)


def _build_byte_array_fields(size: int) -> NDRAlign:
    return NDRAlign(ExactLengthBytes("arm", bytes(size), length=size), align=_UNION_ALIGNMENTS)


def _build_name_fields() -> NDRFullEmbPointerField:
    return NDRFullEmbPointerField(NDRConfVarStrNullFieldUtf16("arm", ""))


# [MS-MQMQ] sect 2.2.9
class DL_ID(NDRPacket):  # type: ignore[misc]
    """The name of a distribution list in a QUEUE_FORMAT."""

    ALIGNMENT = _UNION_ALIGNMENTS
    fields_desc = (Guid("m_DlGuid"), NDRFullEmbPointerField(NDRConfVarStrNullFieldUtf16("m_pwzDomain", "")))


# [MS-MQMQ] sect 2.2.7
class QUEUE_FORMAT(NDRPacket):  # type: ignore[misc]
    """A format name. Its union member is the field ``arm``. Use ``queue_format`` to build a QUEUE_FORMAT."""

    ALIGNMENT = _UNION_ALIGNMENTS
    fields_desc = (
        NDRByteField("m_qft", 0),
        NDRByteField("m_SuffixAndFlags", 0),
        NDRShortField("m_reserved", 0),
        NDRUnionField(
            [
                _build_union_arm(PUBLIC, _build_byte_array_fields(16)),
                _build_union_arm(PRIVATE, _build_byte_array_fields(20)),
                _build_union_arm(DIRECT, _build_name_fields()),
                _build_union_arm(MACHINE, _build_byte_array_fields(16)),
                _build_union_arm(CONNECTOR, _build_byte_array_fields(16)),
                _build_union_arm(DL, NDRPacketField("arm", DL_ID(), DL_ID)),
                _build_union_arm(MULTICAST, _build_byte_array_fields(8)),
                _build_union_arm(SUBQUEUE, _build_name_fields()),
            ],
            StrFixedLenField("arm", b"", length=0),
            align=(1, 8),
            switch_fmt=("B", "B"),
        ),
    )


def queue_format(kind: int, value: Any = b"", suffix: int = 0, reserved: int = 0, tag: int | None = None) -> Any:
    """Build a QUEUE_FORMAT of the type ``kind`` (QUEUE_FORMAT_TYPE).

    ``value`` is a UUID, a direct name without ``DIRECT=``, a tuple (UUID, Uniquifier) for a private queue, a DL_ID,
    or the bytes of the union member. ``suffix`` is m_SuffixAndFlags. ``tag`` is the discriminant of the union, if
    it differs from the type.
    """
    arm: Any = value
    if isinstance(value, UUID):
        arm = value.bytes_le
    elif isinstance(value, tuple):
        arm = value[0].bytes_le + struct.pack("<I", value[1])
    elif isinstance(value, str):
        arm = build_wide_string_pointer(value)
    union = NDRUnion(tag=kind if tag is None else tag, value=arm)
    return QUEUE_FORMAT(m_qft=kind, m_SuffixAndFlags=suffix, m_reserved=reserved, arm=union)


def _build_null_pointer_fields(*names: str) -> list[Any]:
    return [NDRFullEmbPointerField(NDRIntField(name, 0)) for name in names]


def _build_dword_fields(*names: str) -> list[Any]:
    return [NDRIntField(name, 0) for name in names]


class SendArm(NDRPacket):  # type: ignore[misc]
    """The union member Send of CACTransferBufferV1, which contains pointers to format names; these pointers are
    NULL.
    """

    ALIGNMENT = _UNION_ALIGNMENTS
    fields_desc = tuple(_build_null_pointer_fields("pAdminQueueFormat", "pResponseQueueFormat"))


# [MS-MQMP] sect 2.2.3.2
class CACTransferBufferV1(NDRPacket):  # type: ignore[misc]
    """The structure that R_QMCreateRemoteCursor receives and ignores (MS-MQMP 3.1.4.4). Its pointers are NULL."""

    ALIGNMENT = _UNION_ALIGNMENTS
    fields_desc = (
        *_build_dword_fields("uTransferType"),
        NDRUnionField(
            [
                _build_union_arm(_SEND_UNION_TAG, NDRPacketField("arm", SendArm(), SendArm)),
                _build_union_arm(_CREATECURSOR_UNION_TAG, _build_byte_array_fields(12)),
            ],
            StrFixedLenField("arm", b"", length=0),
            align=_UNION_ALIGNMENTS,
            switch_fmt=("I", "I"),
        ),
        *_build_null_pointer_fields(
            "pClass", "ppMessageID", "ppCorrelationID", "pSentTime", "pArrivedTime", "pPriority", "pDelivery"
        ),
        *_build_null_pointer_fields("pAcknowledge", "pAuditing", "pApplicationTag", "ppBody"),
        *_build_dword_fields("ulBodyBufferSizeInBytes", "ulAllocBodyBufferInBytes"),
        *_build_null_pointer_fields("pBodySize", "ppTitle"),
        *_build_dword_fields("ulTitleBufferSizeInWCHARs"),
        *_build_null_pointer_fields("pulTitleBufferSizeInWCHARs"),
        *_build_dword_fields("ulAbsoluteTimeToQueue"),
        *_build_null_pointer_fields("pulRelativeTimeToQueue"),
        *_build_dword_fields("ulRelativeTimeToLive"),
        *_build_null_pointer_fields(
            "pulRelativeTimeToLive", "pTrace", "pulSenderIDType", "ppSenderID", "pulSenderIDLenProp"
        ),
        *_build_null_pointer_fields("pulPrivLevel"),
        *_build_dword_fields("ulAuthLevel"),
        *_build_null_pointer_fields("pAuthenticated", "pulHashAlg", "pulEncryptAlg", "ppSenderCert"),
        *_build_dword_fields("ulSenderCertLen"),
        *_build_null_pointer_fields("pulSenderCertLenProp", "ppwcsProvName"),
        *_build_dword_fields("ulProvNameLen"),
        *_build_null_pointer_fields("pulAuthProvNameLenProp", "pulProvType"),
        *_build_dword_fields("fDefaultProvider"),
        *_build_null_pointer_fields("ppSymmKeys"),
        *_build_dword_fields("ulSymmKeysSize"),
        *_build_null_pointer_fields("pulSymmKeysSizeProp"),
        NDRByteField("bEncrypted", 0),
        NDRByteField("bAuthenticated", 0),
        NDRShortField("uSenderIDLen", 0),
        *_build_null_pointer_fields("ppSignature"),
        *_build_dword_fields("ulSignatureSize"),
        *_build_null_pointer_fields("pulSignatureSizeProp", "ppSrcQMID", "pUow", "ppMsgExtension"),
        *_build_dword_fields("ulMsgExtensionBufferInBytes"),
        *_build_null_pointer_fields("pMsgExtensionSize", "ppConnectorType", "pulBodyType", "pulVersion"),
    )


def transfer_buffer() -> CACTransferBufferV1:
    """Build a CACTransferBufferV1 that contains only zeros, as clients send it (MS-MQMP note <29>)."""
    return CACTransferBufferV1(
        uTransferType=_CREATECURSOR_UNION_TAG, arm=NDRUnion(tag=_CREATECURSOR_UNION_TAG, value=bytes(12))
    )


_OPEN_RESULT_FIELDS = [Handle("pphContext"), *_build_dword_fields("pdwContext", "dwpQueue", "phQueue", "Return")]
_OPEN_ARGUMENT_FIELDS = [
    NDRFullPointerField(NDRPacketField("pQueueFormat", QUEUE_FORMAT(), QUEUE_FORMAT)),
    *_build_dword_fields("dwCallingProcessID", "dwDesiredAccess", "dwShareMode"),
    Guid("pLicGuid"),
    *_build_dword_fields("dwMQS"),
]
_TRANSFER_BUFFER_FIELD = NDRPacketField("ptb1", CACTransferBufferV1(), CACTransferBufferV1)
_METHOD_TABLE: list[tuple[int, str, str, list[Any], list[Any]]] = [
    (2, "R_QMOpenRemoteQueue", "3.1.4.2", _OPEN_ARGUMENT_FIELDS, _OPEN_RESULT_FIELDS),
    (3, "R_QMCloseRemoteQueueContext", "3.1.4.3", [Handle("pphContext")], [Handle("pphContext")]),
    (
        4,
        "R_QMCreateRemoteCursor",
        "3.1.4.4",
        [_TRANSFER_BUFFER_FIELD, *_build_dword_fields("hQueue")],
        _build_dword_fields("phCursor", "Return"),
    ),
    (31, "R_QMGetRTQMServerPort", "3.1.4.24", _build_dword_fields("fIP"), _build_dword_fields("Return")),
]

QMCOMM_OPERATIONS: dict[str, Operation] = {
    name: operation(QMCOMM, opnum, name, f"MS-MQMP {section}", ins, outs)
    for opnum, name, section, ins, outs in _METHOD_TABLE
}
"""The operations of qmcomm, by name."""
