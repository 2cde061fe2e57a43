"""Declares the methods of qmcomm that remote reading needs, and the method that describes queues. Spec: MS-MQMP
3.1.4, 6.

This module reads the document as follows. Clients of R_QMCreateRemoteCursor "pass NULL" for ptb1 (MS-MQMP 3.1.4.4).
But ptb1 is a top-level pointer without a pointer attribute. So it is a [ref] pointer, which cannot be NULL. Windows
sends a zeroed structure (<29>), as declared here.
"""

from __future__ import annotations

from reference_qm.rpc.interfaces.method import (
    declare_in_out_parameter,
    declare_in_parameter,
    declare_interface,
    declare_method,
    declare_out_parameter,
)
from reference_qm.rpc.interfaces.propvariant import OBJECT_FORMAT, PROPVARIANT
from reference_qm.rpc.interfaces.qmcomm_types import CACTRANSFERBUFFERV1, OPENREMOTE_HANDLE, QUEUE_FORMAT
from reference_qm.rpc.ndr import GUID, U32, ConformantArray, declare_unique_pointer

QMCOMM = declare_interface(
    "qmcomm",
    "fdb3a030-065f-11d1-bb9b-00a024ea5525",
    1,
    [
        (
            2,
            declare_method(
                "R_QMOpenRemoteQueue",
                "MS-MQMP 3.1.4.2",
                declare_out_parameter("pphContext", OPENREMOTE_HANDLE),
                declare_out_parameter("pdwContext", U32),
                declare_in_parameter("pQueueFormat", declare_unique_pointer(QUEUE_FORMAT)),
                declare_in_parameter("dwCallingProcessID", U32),
                declare_in_parameter("dwDesiredAccess", U32),
                declare_in_parameter("dwShareMode", U32),
                declare_in_parameter("pLicGuid", GUID),
                declare_in_parameter("dwMQS", U32),
                declare_out_parameter("dwpQueue", U32),
                declare_out_parameter("phQueue", U32),
                returns=U32,
            ),
        ),
        (
            3,
            declare_method(
                "R_QMCloseRemoteQueueContext",
                "MS-MQMP 3.1.4.3",
                declare_in_out_parameter("pphContext", OPENREMOTE_HANDLE),
            ),
        ),
        (
            4,
            declare_method(
                "R_QMCreateRemoteCursor",
                "MS-MQMP 3.1.4.4",
                declare_in_parameter("ptb1", CACTRANSFERBUFFERV1),
                declare_in_parameter("hQueue", U32),
                declare_out_parameter("phCursor", U32),
                returns=U32,
            ),
        ),
        (
            10,
            declare_method(
                "R_QMGetObjectProperties",
                "MS-MQMP 3.1.4.9",
                declare_in_parameter("pObjectFormat", OBJECT_FORMAT),
                declare_in_parameter("cp", U32.with_value_range(1, 128)),
                declare_in_parameter("aProp", ConformantArray(U32, "cp")),
                declare_in_out_parameter("apVar", ConformantArray(PROPVARIANT, "cp")),
                returns=U32,
            ),
        ),
        (
            31,
            declare_method("R_QMGetRTQMServerPort", "MS-MQMP 3.1.4.24", declare_in_parameter("fIP", U32), returns=U32),
        ),
    ],
)
