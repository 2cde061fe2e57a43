"""Faults of MS-MQQP 3.1.4.1 that only special values of dwRequestID reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.statuses import Status

LARGEST_REQUEST_ID = 0xFFFFFFFF


@fault("server-start-receive-dwrequestid-0-refused", breaks="MQQP-3.1.4.1-D08")
class ServerStartReceiveDwrequestid0Refused(RemoteStarting):
    """The server refuses a read whose dwRequestID is 0."""

    def check_request_id(self, desc: Desc) -> Status:
        return super().check_request_id(desc) if desc["dwRequestID"] else Status.MQ_ERROR_INVALID_PARAMETER


@fault("server-duplicate-dwrequestid-0-accepted", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"))
class ServerDuplicateDwrequestid0Accepted(RemoteStarting):
    """The server accepts a read with dwRequestID 0 while another read of the same handle uses this dwRequestID."""

    def check_request_id(self, desc: Desc) -> Status:
        return super().check_request_id(desc) if desc["dwRequestID"] else Status.MQ_OK
