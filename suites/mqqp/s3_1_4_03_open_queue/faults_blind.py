"""Faults of MS-MQQP 3.1.4.3 RemoteQMOpenQueue, by an author who had not seen the checks."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.part import QM
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-second-open-of-descriptor-returns-first-context-handle", breaks="MQQP-3.1.4.3-16", blind=True)
class ServerSecondOpenOfDescriptorReturnsFirstContextHandle(RemoteOpening):
    """A second RemoteQMOpenQueue of an open descriptor creates no entry, and returns the context handle of the first
    call.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.handles: dict[tuple[int, int], Any] = {}

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        opened = call.arguments["dwpContext"]
        key = (id(call.association.groups), opened)
        if key in self.handles and self.qm.remote.OpenQueueEntryCollection.of(opened):
            self.qm.remote.note(call.respond(Return=Status.MQ_OK, phContext=self.handles[key]))
            return

        def keep_first_handle(handle: Any) -> Any:
            self.handles[key] = handle
            return handle

        super().remote_qm_open_queue(change_answer_values(call, phContext=keep_first_handle), now)


@fault("server-later-entry-has-client-id-of-first-entry", breaks="MQQP-3.1.4.3-18", blind=True)
class ServerLaterEntryHasClientIdOfFirstEntry(RemoteOpening):
    """RemoteQMOpenQueue sets ClientId of a later entry to the ClientId of the first open entry."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        first = next(iter(self.qm.remote.OpenQueueEntryCollection), None)
        if first is not None:
            call.arguments["pLicGuid"] = first.ClientId
        super().remote_qm_open_queue(call, now)


@fault("server-open-queue-dwmqs-16-refused", breaks="MQQP-3.1.4.3-D01", blind=True)
class ServerOpenQueueDwmqs16Refused(RemoteOpening):
    """RemoteQMOpenQueue refuses dwMQS 16, the greatest value of its range."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        if call.arguments["dwMQS"] == 16:
            self.qm.remote.note(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER, phContext=None))
        else:
            super().remote_qm_open_queue(call, now)
