"""Declares the interface qm2qm. Spec: MS-MQQP 2.2, 3.1.4, 6.

This module reads the document as follows. The top-level pointers lpRemoteReadDesc, lpRemoteReadDesc2 and pLicGuid
have no pointer attribute, so they are [ref] (C706 4.2.20). Therefore a client cannot send the NULL for which
MS-MQQP 3.1.4.1 and 3.1.4.3 define an answer. REMOTEREADDESC2.pRemoteReadDesc is embedded, and so has the
pointer_default [unique]: it can be NULL.
"""

from __future__ import annotations

from reference_qm.rpc.interfaces.method import (
    declare_in_out_parameter,
    declare_in_parameter,
    declare_interface,
    declare_method,
    declare_out_parameter,
)
from reference_qm.rpc.ndr import (
    ENUM,
    GUID,
    U8,
    U16,
    U32,
    U64,
    ConformantVaryingArray,
    ContextHandleType,
    Struct,
    declare_unique_pointer,
)

MAX_BUFFER_SIZE = 4325376
"""The maximum of REMOTEREADDESC.dwSize in bytes (MS-MQQP 2.2.2.1)."""

RRSESSION_HANDLE = ContextHandleType("PCTX_RRSESSION_HANDLE_TYPE")
"""The handle type of an open queue (MS-MQQP 2.2.1.1)."""
REMOTEREAD_HANDLE = ContextHandleType("PCTX_REMOTEREAD_HANDLE_TYPE")
"""The handle type of a read session (MS-MQQP 2.2.1.2)."""

REMOTEREADDESC = Struct(
    "REMOTEREADDESC",
    "MS-MQQP 2.2.2.1",
    hRemoteQueue=U32,
    hCursor=U32,
    ulAction=U32,
    ulTimeout=U32,
    dwSize=U32.with_value_range(0, MAX_BUFFER_SIZE),
    dwQueue=U32,
    dwRequestID=U32,
    Reserved=U32,
    dwArriveTime=U32,
    eAckNack=ENUM,
    lpBuffer=declare_unique_pointer(ConformantVaryingArray(U8, size_is="dwSize", length_is="dwSize")),
)
REMOTEREADDESC2 = Struct(
    "REMOTEREADDESC2", "MS-MQQP 2.2.2.2", pRemoteReadDesc=declare_unique_pointer(REMOTEREADDESC), SequentialId=U64
)

QM2QM = declare_interface(
    "qm2qm",
    "1088a980-eae5-11d0-8d9b-00a02453c337",
    1,
    enumerate(
        [
            declare_method(
                "RemoteQMStartReceive",
                "MS-MQQP 3.1.4.1",
                declare_out_parameter("pphContext", REMOTEREAD_HANDLE),
                declare_in_out_parameter("lpRemoteReadDesc", REMOTEREADDESC),
                returns=U32,
            ),
            declare_method(
                "RemoteQMEndReceive",
                "MS-MQQP 3.1.4.2",
                declare_in_out_parameter("pphContext", REMOTEREAD_HANDLE),
                declare_in_parameter("dwAck", U32.with_value_range(1, 2)),
                returns=U32,
            ),
            declare_method(
                "RemoteQMOpenQueue",
                "MS-MQQP 3.1.4.3",
                declare_out_parameter("phContext", RRSESSION_HANDLE),
                declare_in_parameter("pLicGuid", GUID),
                declare_in_parameter("dwMQS", U32.with_value_range(0, 16)),
                declare_in_parameter("hQueue", U32),
                declare_in_parameter("pQueue", U32),
                declare_in_parameter("dwpContext", U32),
                returns=U32,
            ),
            declare_method(
                "RemoteQMCloseQueue",
                "MS-MQQP 3.1.4.4",
                declare_in_out_parameter("pphContext", RRSESSION_HANDLE),
                returns=U32,
            ),
            declare_method(
                "RemoteQMCloseCursor",
                "MS-MQQP 3.1.4.5",
                declare_in_parameter("hQueue", U32),
                declare_in_parameter("hCursor", U32),
                returns=U32,
            ),
            declare_method(
                "RemoteQMCancelReceive",
                "MS-MQQP 3.1.4.6",
                declare_in_parameter("hQueue", U32),
                declare_in_parameter("pQueue", U32),
                declare_in_parameter("dwRequestID", U32),
                returns=U32,
            ),
            declare_method("RemoteQMPurgeQueue", "MS-MQQP 3.1.4.7", declare_in_parameter("hQueue", U32), returns=U32),
            declare_method(
                "RemoteQMGetQMQMServerPort",
                "MS-MQQP 3.1.4.8",
                declare_in_parameter("dwPortType", U32.with_value_range(0, 3)),
                returns=U32,
            ),
            declare_method(
                "RemoteQmGetVersion",
                "MS-MQQP 3.1.4.9",
                declare_out_parameter("pMajor", U8),
                declare_out_parameter("pMinor", U8),
                declare_out_parameter("pBuildNumber", U16),
            ),
            declare_method(
                "RemoteQMStartReceive2",
                "MS-MQQP 3.1.4.10",
                declare_out_parameter("pphContext", REMOTEREAD_HANDLE),
                declare_in_out_parameter("lpRemoteReadDesc2", REMOTEREADDESC2),
                returns=U32,
            ),
            declare_method(
                "RemoteQMStartReceiveByLookupId",
                "MS-MQQP 3.1.4.11",
                declare_in_parameter("LookupId", U64),
                declare_out_parameter("pphContext", REMOTEREAD_HANDLE),
                declare_in_out_parameter("lpRemoteReadDesc2", REMOTEREADDESC2),
                returns=U32,
            ),
        ]
    ),
)
