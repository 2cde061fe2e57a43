"""Declares the interface qm2qm. Spec: MS-MQQP 2.2, 3.1.4, 6.

This module reads the document as follows. The top-level pointers lpRemoteReadDesc, lpRemoteReadDesc2 and pLicGuid
have no pointer attribute, so they are [ref] (C706 4.2.20). Therefore a client cannot send the NULL for which
MS-MQQP 3.1.4.1 and 3.1.4.3 define an answer. REMOTEREADDESC2.pRemoteReadDesc is embedded, and so has the
pointer_default [unique]: it can be NULL.
"""

from __future__ import annotations

from reference_qm.rpc.interfaces.method import in_, in_out, interface, method, out
from reference_qm.rpc.ndr import (
    ENUM,
    GUID,
    U8,
    U16,
    U32,
    U64,
    ConformantVaryingArray,
    HandleType,
    Struct,
    declare_unique_pointer,
)

MAX_BUFFER_SIZE = 4325376
"""The maximum of REMOTEREADDESC.dwSize in bytes (MS-MQQP 2.2.2.1)."""

RRSESSION = HandleType("PCTX_RRSESSION_HANDLE_TYPE")
"""The handle type of an open queue (MS-MQQP 2.2.1.1)."""
REMOTEREAD = HandleType("PCTX_REMOTEREAD_HANDLE_TYPE")
"""The handle type of a read session (MS-MQQP 2.2.1.2)."""

REMOTEREADDESC = Struct(
    "REMOTEREADDESC",
    "MS-MQQP 2.2.2.1",
    hRemoteQueue=U32,
    hCursor=U32,
    ulAction=U32,
    ulTimeout=U32,
    dwSize=U32.within(0, MAX_BUFFER_SIZE),
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

QM2QM = interface(
    "qm2qm",
    "1088a980-eae5-11d0-8d9b-00a02453c337",
    1,
    enumerate(
        [
            method(
                "RemoteQMStartReceive",
                "MS-MQQP 3.1.4.1",
                out("pphContext", REMOTEREAD),
                in_out("lpRemoteReadDesc", REMOTEREADDESC),
                returns=U32,
            ),
            method(
                "RemoteQMEndReceive",
                "MS-MQQP 3.1.4.2",
                in_out("pphContext", REMOTEREAD),
                in_("dwAck", U32.within(1, 2)),
                returns=U32,
            ),
            method(
                "RemoteQMOpenQueue",
                "MS-MQQP 3.1.4.3",
                out("phContext", RRSESSION),
                in_("pLicGuid", GUID),
                in_("dwMQS", U32.within(0, 16)),
                in_("hQueue", U32),
                in_("pQueue", U32),
                in_("dwpContext", U32),
                returns=U32,
            ),
            method("RemoteQMCloseQueue", "MS-MQQP 3.1.4.4", in_out("pphContext", RRSESSION), returns=U32),
            method("RemoteQMCloseCursor", "MS-MQQP 3.1.4.5", in_("hQueue", U32), in_("hCursor", U32), returns=U32),
            method(
                "RemoteQMCancelReceive",
                "MS-MQQP 3.1.4.6",
                in_("hQueue", U32),
                in_("pQueue", U32),
                in_("dwRequestID", U32),
                returns=U32,
            ),
            method("RemoteQMPurgeQueue", "MS-MQQP 3.1.4.7", in_("hQueue", U32), returns=U32),
            method("RemoteQMGetQMQMServerPort", "MS-MQQP 3.1.4.8", in_("dwPortType", U32.within(0, 3)), returns=U32),
            method(
                "RemoteQmGetVersion", "MS-MQQP 3.1.4.9", out("pMajor", U8), out("pMinor", U8), out("pBuildNumber", U16)
            ),
            method(
                "RemoteQMStartReceive2",
                "MS-MQQP 3.1.4.10",
                out("pphContext", REMOTEREAD),
                in_out("lpRemoteReadDesc2", REMOTEREADDESC2),
                returns=U32,
            ),
            method(
                "RemoteQMStartReceiveByLookupId",
                "MS-MQQP 3.1.4.11",
                in_("LookupId", U64),
                out("pphContext", REMOTEREAD),
                in_out("lpRemoteReadDesc2", REMOTEREADDESC2),
                returns=U32,
            ),
        ]
    ),
)
