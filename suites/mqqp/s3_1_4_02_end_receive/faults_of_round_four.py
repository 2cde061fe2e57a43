"""Faults that break rules of MS-MQQP 3.1.4.2 for repeated refusals and for reads by LookupId."""

from __future__ import annotations

from collections import Counter

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.enums import RemoteReadAck
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import LOOKUP_ACTIONS
from reference_qm.model.adm import MessagePosition
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-second-end-receive-with-rr-nack-deletes-message", breaks="MQQP-3.1.4.2-12", blind=True)
class ServerSecondEndReceiveWithRrNackDeletesMessage(RemoteReadEnding):
    """The server deletes a message when RemoteQMEndReceive reports RR_NACK for this message for the second time."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.refusals: Counter[MessagePosition] = Counter()

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        position = None if call.handle is None else call.handle.state.UserMessagePacket
        if call.handle is None or position is None or call.arguments["dwAck"] != RemoteReadAck.RR_NACK:
            super().remote_qm_end_receive(call, now)
            return
        self.refusals[position] += 1

        def answer_end(status: Status) -> None:
            self.qm.remote.carry_out_outputs(call.respond(Return=status, pphContext=None))

        self.end_remote_read(call.handle.state, self.refusals[position] > 1, answer_end)


@fault("server-end-receive-returns-context-handle-of-lookup-receive", breaks="MQQP-3.1.4.2-16", blind=True)
class ServerEndReceiveReturnsContextHandleOfLookupReceive(RemoteReadEnding):
    """The server returns the context handle in RemoteQMEndReceive instead of NULL, and keeps the handle, if
    RemoteQMStartReceiveByLookupId opened it.
    """

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is None or call.handle.state.Action not in LOOKUP_ACTIONS:
            super().remote_qm_end_receive(call, now)
            return

        def answer_end(status: Status) -> None:
            self.qm.remote.carry_out_outputs(call.respond(Return=status, pphContext=call.handle))

        self.end_remote_read(call.handle.state, self.is_message_delivered(call.arguments["dwAck"]), answer_end)
