"""Faults with which a client ends a receive by lookup identifier that has failed."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_steps import RemoteError
from suites.mqqp.s3_1_4_01_start_receive.faults_of_failed_receives import (
    FailedReceiveEnder,
    LaterFailedReceiveEnder,
    is_thrown_failure,
)


@fault("client-calls-end-receive-after-lookup-receive-rpc-fault", breaks="MQQP-3.1.4.11-04", blind=True)
class ClientCallsEndReceiveAfterLookupReceiveRpcFault(FailedReceiveEnder):
    """A client calls RemoteQMEndReceive after a RemoteQMStartReceiveByLookupId that failed with an RPC fault."""

    def is_failed_receive_ended(self, method: str, error: RemoteError) -> bool:
        return method == "RemoteQMStartReceiveByLookupId" and is_thrown_failure(error)


@fault("client-calls-end-receive-after-second-failed-lookup-receive", breaks="MQQP-3.1.4.11-04", blind=True)
class ClientCallsEndReceiveAfterSecondFailedLookupReceive(LaterFailedReceiveEnder):
    """A client calls RemoteQMEndReceive after the second RemoteQMStartReceiveByLookupId that failed, but not after the
    first.
    """

    method = "RemoteQMStartReceiveByLookupId"
