"""Declares the methods of qmcomm that remote reading needs, and the method that describes queues. Spec: MS-MQMP
3.1.4, 6.

This module reads the document as follows. Clients of R_QMCreateRemoteCursor "pass NULL" for ptb1 (MS-MQMP 3.1.4.4).
But ptb1 is a top-level pointer without a pointer attribute. So it is a [ref] pointer, which cannot be NULL. Windows
sends a zeroed structure (<29>), as declared here.
"""

from __future__ import annotations

from reference_qm.rpc.interfaces.method import interface, method, pass_in, pass_in_out, pass_out
from reference_qm.rpc.interfaces.propvariant import OBJECT_FORMAT, PROPVARIANT
from reference_qm.rpc.interfaces.qmcomm_types import CACTRANSFERBUFFERV1, OPENREMOTE_HANDLE, QUEUE_FORMAT
from reference_qm.rpc.ndr import GUID, U32, ConformantArray, declare_unique_pointer

QMCOMM = interface(
    "qmcomm",
    "fdb3a030-065f-11d1-bb9b-00a024ea5525",
    1,
    [
        (
            2,
            method(
                "R_QMOpenRemoteQueue",
                "MS-MQMP 3.1.4.2",
                pass_out("pphContext", OPENREMOTE_HANDLE),
                pass_out("pdwContext", U32),
                pass_in("pQueueFormat", declare_unique_pointer(QUEUE_FORMAT)),
                pass_in("dwCallingProcessID", U32),
                pass_in("dwDesiredAccess", U32),
                pass_in("dwShareMode", U32),
                pass_in("pLicGuid", GUID),
                pass_in("dwMQS", U32),
                pass_out("dwpQueue", U32),
                pass_out("phQueue", U32),
                returns=U32,
            ),
        ),
        (3, method("R_QMCloseRemoteQueueContext", "MS-MQMP 3.1.4.3", pass_in_out("pphContext", OPENREMOTE_HANDLE))),
        (
            4,
            method(
                "R_QMCreateRemoteCursor",
                "MS-MQMP 3.1.4.4",
                pass_in("ptb1", CACTRANSFERBUFFERV1),
                pass_in("hQueue", U32),
                pass_out("phCursor", U32),
                returns=U32,
            ),
        ),
        (
            10,
            method(
                "R_QMGetObjectProperties",
                "MS-MQMP 3.1.4.9",
                pass_in("pObjectFormat", OBJECT_FORMAT),
                pass_in("cp", U32.within(1, 128)),
                pass_in("aProp", ConformantArray(U32, "cp")),
                pass_in_out("apVar", ConformantArray(PROPVARIANT, "cp")),
                returns=U32,
            ),
        ),
        (31, method("R_QMGetRTQMServerPort", "MS-MQMP 3.1.4.24", pass_in("fIP", U32), returns=U32)),
    ],
)
