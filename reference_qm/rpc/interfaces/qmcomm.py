"""Declares the methods of qmcomm that remote reading needs, and the method that describes queues. Spec: MS-MQMP
3.1.4, 6.

This module reads the document as follows. Clients of R_QMCreateRemoteCursor "pass NULL" for ptb1 (MS-MQMP 3.1.4.4).
But ptb1 is a top-level pointer without a pointer attribute. So it is a [ref] pointer, which cannot be NULL. Windows
sends a zeroed structure (<29>), as declared here.
"""

from __future__ import annotations

from reference_qm.rpc.interfaces.method import in_, in_out, interface, method, out
from reference_qm.rpc.interfaces.propvariant import OBJECT_FORMAT, PROPVARIANT
from reference_qm.rpc.interfaces.qmcomm_types import CACTRANSFERBUFFERV1, OPENREMOTE, QUEUE_FORMAT
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
                out("pphContext", OPENREMOTE),
                out("pdwContext", U32),
                in_("pQueueFormat", declare_unique_pointer(QUEUE_FORMAT)),
                in_("dwCallingProcessID", U32),
                in_("dwDesiredAccess", U32),
                in_("dwShareMode", U32),
                in_("pLicGuid", GUID),
                in_("dwMQS", U32),
                out("dwpQueue", U32),
                out("phQueue", U32),
                returns=U32,
            ),
        ),
        (3, method("R_QMCloseRemoteQueueContext", "MS-MQMP 3.1.4.3", in_out("pphContext", OPENREMOTE))),
        (
            4,
            method(
                "R_QMCreateRemoteCursor",
                "MS-MQMP 3.1.4.4",
                in_("ptb1", CACTRANSFERBUFFERV1),
                in_("hQueue", U32),
                out("phCursor", U32),
                returns=U32,
            ),
        ),
        (
            10,
            method(
                "R_QMGetObjectProperties",
                "MS-MQMP 3.1.4.9",
                in_("pObjectFormat", OBJECT_FORMAT),
                in_("cp", U32.within(1, 128)),
                in_("aProp", ConformantArray(U32, "cp")),
                in_out("apVar", ConformantArray(PROPVARIANT, "cp")),
                returns=U32,
            ),
        ),
        (31, method("R_QMGetRTQMServerPort", "MS-MQMP 3.1.4.24", in_("fIP", U32), returns=U32)),
    ],
)
