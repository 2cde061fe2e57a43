"""The methods of qm2qm and qmcomm as impacket's NDR classes, whose marshalling is independent of this project."""

from enum import Enum

from impacket.dcerpc.v5.dtypes import GUID, LPWSTR, ULONG, ULONGLONG
from impacket.dcerpc.v5.ndr import (
    NDRCALL,
    NDRENUM,
    NDRPOINTER,
    NDRSTRUCT,
    NDRUNION,
    NDRUSHORT,
    NDRUSMALL,
    NDRUniConformantVaryingArray,
)


class HANDLE(NDRSTRUCT):
    align = 4
    structure = (("Attributes", ULONG), ("Uuid", GUID))


class REMOTEREADACK(NDRENUM):
    class enumItems(Enum):
        RR_UNKNOWN = 0
        RR_NACK = 1
        RR_ACK = 2


class OCTETS(NDRUniConformantVaryingArray):
    item = "c"


class POCTETS(NDRPOINTER):
    referent = (("Data", OCTETS),)


class REMOTEREADDESC(NDRSTRUCT):
    structure = (
        ("hRemoteQueue", ULONG),
        ("hCursor", ULONG),
        ("ulAction", ULONG),
        ("ulTimeout", ULONG),
        ("dwSize", ULONG),
        ("dwQueue", ULONG),
        ("dwRequestID", ULONG),
        ("Reserved", ULONG),
        ("dwArriveTime", ULONG),
        ("eAckNack", REMOTEREADACK),
        ("lpBuffer", POCTETS),
    )


class PREMOTEREADDESC(NDRPOINTER):
    referent = (("Data", REMOTEREADDESC),)


class REMOTEREADDESC2(NDRSTRUCT):
    structure = (("pRemoteReadDesc", PREMOTEREADDESC), ("SequentialId", ULONGLONG))


class FORMAT_UNION(NDRUNION):
    commonHdr = (("tag", NDRUSMALL),)  # noqa: N815 - impacket reads these names
    union = {3: ("m_pDirectID", LPWSTR), 1: ("m_gPublicID", GUID)}  # noqa: RUF012


class QUEUE_FORMAT(NDRSTRUCT):
    structure = (
        ("m_qft", NDRUSMALL),
        ("m_SuffixAndFlags", NDRUSMALL),
        ("m_reserved", NDRUSHORT),
        ("Union", FORMAT_UNION),
    )


class PQUEUE_FORMAT(NDRPOINTER):
    referent = (("Data", QUEUE_FORMAT),)


class RemoteQMStartReceive(NDRCALL):
    opnum = 0
    structure = (("lpRemoteReadDesc", REMOTEREADDESC),)


class RemoteQMStartReceiveResponse(NDRCALL):
    structure = (("pphContext", HANDLE), ("lpRemoteReadDesc", REMOTEREADDESC), ("ErrorCode", ULONG))


class RemoteQMEndReceive(NDRCALL):
    opnum = 1
    structure = (("pphContext", HANDLE), ("dwAck", ULONG))


class RemoteQMEndReceiveResponse(NDRCALL):
    structure = (("pphContext", HANDLE), ("ErrorCode", ULONG))


class RemoteQMOpenQueue(NDRCALL):
    opnum = 2
    structure = (
        ("pLicGuid", GUID),
        ("dwMQS", ULONG),
        ("hQueue", ULONG),
        ("pQueue", ULONG),
        ("dwpContext", ULONG),
    )


class RemoteQMOpenQueueResponse(NDRCALL):
    structure = (("phContext", HANDLE), ("ErrorCode", ULONG))


class RemoteQMCloseQueue(NDRCALL):
    opnum = 3
    structure = (("pphContext", HANDLE),)


class RemoteQMCloseQueueResponse(NDRCALL):
    structure = (("pphContext", HANDLE), ("ErrorCode", ULONG))


class RemoteQMCancelReceive(NDRCALL):
    opnum = 5
    structure = (("hQueue", ULONG), ("pQueue", ULONG), ("dwRequestID", ULONG))


class RemoteQMCancelReceiveResponse(NDRCALL):
    structure = (("ErrorCode", ULONG),)


class RemoteQMPurgeQueue(NDRCALL):
    opnum = 6
    structure = (("hQueue", ULONG),)


class RemoteQMPurgeQueueResponse(NDRCALL):
    structure = (("ErrorCode", ULONG),)


class RemoteQMGetQMQMServerPort(NDRCALL):
    opnum = 7
    structure = (("dwPortType", ULONG),)


class RemoteQMGetQMQMServerPortResponse(NDRCALL):
    structure = (("Port", ULONG),)


class RemoteQmGetVersion(NDRCALL):
    opnum = 8
    structure = ()


class RemoteQmGetVersionResponse(NDRCALL):
    structure = (("pMajor", NDRUSMALL), ("pMinor", NDRUSMALL), ("pBuildNumber", NDRUSHORT))


class RemoteQMStartReceive2(NDRCALL):
    opnum = 9
    structure = (("lpRemoteReadDesc2", REMOTEREADDESC2),)


class RemoteQMStartReceive2Response(NDRCALL):
    structure = (("pphContext", HANDLE), ("lpRemoteReadDesc2", REMOTEREADDESC2), ("ErrorCode", ULONG))


class NoSuchMethod(NDRCALL):
    opnum = 11
    structure = ()


class R_QMOpenRemoteQueue(NDRCALL):
    opnum = 2
    structure = (
        ("pQueueFormat", PQUEUE_FORMAT),
        ("dwCallingProcessID", ULONG),
        ("dwDesiredAccess", ULONG),
        ("dwShareMode", ULONG),
        ("pLicGuid", GUID),
        ("dwMQS", ULONG),
    )


class R_QMOpenRemoteQueueResponse(NDRCALL):
    structure = (
        ("pphContext", HANDLE),
        ("pdwContext", ULONG),
        ("dwpQueue", ULONG),
        ("phQueue", ULONG),
        ("ErrorCode", ULONG),
    )
