"""Declares the structures that the qmcomm methods of remote reading take. Spec: MS-MQMP 2.2.3.2, 6; MS-MQMQ 2.2.7
to 2.2.10.
"""

from __future__ import annotations

from typing import Any

from reference_qm.rpc.ndr import (
    GUID,
    U8,
    U16,
    U32,
    WCHAR,
    ConformantArray,
    ConformantVaryingArray,
    ContextHandleType,
    FixedArray,
    NdrType,
    Pointer,
    Struct,
    Union,
    WideString,
    declare_unique_pointer,
)
from reference_qm.rpc.ndr.types import UnsignedIntegerType

MAX_QUEUE_NAME_CHARACTERS = 0x8000
"""The maximum length in characters of a direct format name or a domain. The documents set no limit."""
MAX_FORMAT_NAME_CHARACTERS = 1024

OPENREMOTE_HANDLE = ContextHandleType("PCTX_OPENREMOTE_HANDLE_TYPE")
"""The handle type of a queue opened for remote reading (MS-MQMP 2.2.1.1.3)."""

QUEUE_NAME_POINTER = declare_unique_pointer(WideString(MAX_QUEUE_NAME_CHARACTERS))

OBJECTID = Struct("OBJECTID", "MS-MQMQ 2.2.8", Lineage=GUID, Uniquifier=U32)
DL_ID = Struct("DL_ID", "MS-MQMQ 2.2.9", m_DlGuid=GUID, m_pwzDomain=QUEUE_NAME_POINTER)
XACTUOW = Struct("XACTUOW", "MS-MQMQ 2.2.18.1.8", rgb=FixedArray(U8, 16))
MULTICAST_ID = Struct("MULTICAST_ID", "MS-MQMQ 2.2.10", m_address=U32, m_port=U32)

QUEUE_FORMAT = Struct(
    "QUEUE_FORMAT",
    "MS-MQMQ 2.2.7",
    m_qft=U8,
    m_SuffixAndFlags=U8,
    m_reserved=U16,
    union=Union(
        "QUEUE_FORMAT",
        U8,
        "m_qft",
        {
            0: None,
            1: GUID,
            2: OBJECTID,
            3: QUEUE_NAME_POINTER,
            4: GUID,
            5: GUID,
            6: DL_ID,
            7: MULTICAST_ID,
            8: QUEUE_NAME_POINTER,
        },
    ),
)


def _declare_array_pointer(element: NdrType, size_is: str | int, length_is: str | int | None = None) -> Pointer:
    """Declare a pointer to a pointer to an array that has [size_is(,n)] and optionally [length_is(,m)]."""
    array: NdrType = ConformantArray(element, size_is)
    if length_is is not None:
        array = ConformantVaryingArray(element, size_is, length_is)
    return declare_unique_pointer(declare_unique_pointer(array))


def _declare_format_name_fields(*stems: str) -> dict[str, NdrType]:
    """Return the three fields that describe each format name in CACTB_RECEIVE."""
    fields: dict[str, NdrType] = {}
    for stem in stems:
        fields[f"ul{stem}FormatNameLen"] = U32.with_value_range(0, MAX_FORMAT_NAME_CHARACTERS)
        fields[f"pp{stem}FormatName"] = _declare_array_pointer(WCHAR, f"ul{stem}FormatNameLen")
        fields[f"pul{stem}FormatNameLenProp"] = declare_unique_pointer(U32)
    return fields


_SEND_STRUCT = Struct(
    "Send",
    "MS-MQMP 2.2.3.2",
    pAdminQueueFormat=declare_unique_pointer(QUEUE_FORMAT),
    pResponseQueueFormat=declare_unique_pointer(QUEUE_FORMAT),
)
_RECEIVE_STRUCT = Struct(
    "Receive",
    "MS-MQMP 2.2.3.2",
    RequestTimeout=U32,
    Action=U32,
    Asynchronous=U32,
    Cursor=U32,
    **_declare_format_name_fields("Response", "Admin", "Dest", "Ordering"),
)
_CREATE_CURSOR_STRUCT = Struct(
    "CACCreateRemoteCursor", "MS-MQMP 2.2.3.4", hCursor=U32, srv_hACQueue=U32, cli_pQMQueue=U32
)

CACTRANSFERBUFFERV1 = Struct(
    "CACTransferBufferV1",
    "MS-MQMP 2.2.3.2",
    uTransferType=U32.with_value_range(0, 2),
    union=Union(
        "CACTransferBufferV1", U32, "uTransferType", {0: _SEND_STRUCT, 1: _RECEIVE_STRUCT, 2: _CREATE_CURSOR_STRUCT}
    ),
    pClass=declare_unique_pointer(U16),
    ppMessageID=declare_unique_pointer(declare_unique_pointer(OBJECTID)),
    ppCorrelationID=_declare_array_pointer(U8, 20, 20),
    pSentTime=declare_unique_pointer(U32),
    pArrivedTime=declare_unique_pointer(U32),
    pPriority=declare_unique_pointer(U8),
    pDelivery=declare_unique_pointer(U8),
    pAcknowledge=declare_unique_pointer(U8),
    pAuditing=declare_unique_pointer(U8),
    pApplicationTag=declare_unique_pointer(U32),
    ppBody=_declare_array_pointer(U8, "ulAllocBodyBufferInBytes", "ulBodyBufferSizeInBytes"),
    ulBodyBufferSizeInBytes=U32,
    ulAllocBodyBufferInBytes=U32,
    pBodySize=declare_unique_pointer(U32),
    ppTitle=_declare_array_pointer(WCHAR, "ulTitleBufferSizeInWCHARs", "ulTitleBufferSizeInWCHARs"),
    ulTitleBufferSizeInWCHARs=U32,
    pulTitleBufferSizeInWCHARs=declare_unique_pointer(U32),
    ulAbsoluteTimeToQueue=U32,
    pulRelativeTimeToQueue=declare_unique_pointer(U32),
    ulRelativeTimeToLive=U32,
    pulRelativeTimeToLive=declare_unique_pointer(U32),
    pTrace=declare_unique_pointer(U8),
    pulSenderIDType=declare_unique_pointer(U32),
    ppSenderID=_declare_array_pointer(U8, "uSenderIDLen"),
    pulSenderIDLenProp=declare_unique_pointer(U32),
    pulPrivLevel=declare_unique_pointer(U32),
    ulAuthLevel=U32,
    pAuthenticated=declare_unique_pointer(U8),
    pulHashAlg=declare_unique_pointer(U32),
    pulEncryptAlg=declare_unique_pointer(U32),
    ppSenderCert=_declare_array_pointer(U8, "ulSenderCertLen"),
    ulSenderCertLen=U32,
    pulSenderCertLenProp=declare_unique_pointer(U32),
    ppwcsProvName=_declare_array_pointer(WCHAR, "ulProvNameLen"),
    ulProvNameLen=U32,
    pulAuthProvNameLenProp=declare_unique_pointer(U32),
    pulProvType=declare_unique_pointer(U32),
    fDefaultProvider=U32,
    ppSymmKeys=_declare_array_pointer(U8, "ulSymmKeysSize"),
    ulSymmKeysSize=U32,
    pulSymmKeysSizeProp=declare_unique_pointer(U32),
    bEncrypted=U8,
    bAuthenticated=U8,
    uSenderIDLen=U16,
    ppSignature=_declare_array_pointer(U8, "ulSignatureSize"),
    ulSignatureSize=U32,
    pulSignatureSizeProp=declare_unique_pointer(U32),
    ppSrcQMID=declare_unique_pointer(declare_unique_pointer(GUID)),
    pUow=declare_unique_pointer(XACTUOW),
    ppMsgExtension=_declare_array_pointer(U8, "ulMsgExtensionBufferInBytes", "ulMsgExtensionBufferInBytes"),
    ulMsgExtensionBufferInBytes=U32,
    pMsgExtensionSize=declare_unique_pointer(U32),
    ppConnectorType=declare_unique_pointer(declare_unique_pointer(GUID)),
    pulBodyType=declare_unique_pointer(U32),
    pulVersion=declare_unique_pointer(U32),
)


def build_zeroed_transfer_buffer() -> dict[str, Any]:
    """Return a CACTransferBufferV1 with zero fields and NULL pointers, as Windows sends it (MS-MQMP <29>)."""
    zero: dict[str, Any] = {
        name: 0 if isinstance(kind, UnsignedIntegerType) else None for name, kind in CACTRANSFERBUFFERV1.fields.items()
    }
    return {**zero, "union": dict.fromkeys(_SEND_STRUCT.fields)}
