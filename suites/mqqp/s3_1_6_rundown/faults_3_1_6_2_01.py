"""Faults that break the rule MQQP-3.1.6.2-01."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.rpc import Call
from suites.mqqp.s3_1_6_rundown.fault_steps import RundownReceiveCounter

add(
    "server-lost-client-message-stays-locked",
    "MQQP-3.1.6.2-01",
    "The server leaves a received message locked when the connection of its client is lost.",
    omit_step(RemoteReadEnding.run_down_remote_read),
)


@fault("server-rundown-of-second-open-receive-deletes-message", breaks=("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02"))
class ServerRundownOfSecondOpenReceiveDeletesMessage(RemoteReadEnding):
    """When the connection of a client with two unfinished receives is lost, the server returns only the first of their
    messages to the queue, and deletes the other message.
    """

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        position = entry.UserMessagePacket
        if position is not None and not entry.ended:
            locked = [one for one in position.QueueReference.MessagePositionList if one.State.name == "LOCKED"]
            if len(locked) == 1 and position.QueueReference.MessagePositionList.Head is not position:
                position.QueueReference.MessagePositionList.remove(position)
                return
        super().run_down_remote_read(entry)


@fault("server-rundown-of-receive-by-cursor-keeps-message-locked", breaks="MQQP-3.1.6.2-01")
class ServerRundownOfReceiveByCursorKeepsMessageLocked(RemoteReadEnding):
    """When the connection of a client is lost, the server keeps the message of an unfinished receive by a cursor
    locked.
    """

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        desc = entry.call.arguments.get("lpRemoteReadDesc")
        desc = desc or entry.call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        if not desc["hCursor"]:
            super().run_down_remote_read(entry)


@fault("server-rundown-ends-open-receives-of-other-clients", breaks="MQQP-3.1.6.2-01")
class ServerRundownEndsOpenReceivesOfOtherClients(RemoteReadEnding):
    """When the connection of a client is lost, the server also ends the unfinished receives of other clients from the
    queue.
    """

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        position = entry.UserMessagePacket
        if position is not None:
            for one in list(position.QueueReference.MessagePositionList):
                self.qm.message_positions.unlock_message(one)
        super().run_down_remote_read(entry)


class _RundownChangerForReceivesOfOneMethod(RemoteReadEnding):
    """Do not end the unfinished receives of one method when a connection is lost."""

    method = ""

    def is_of_changed_method(self, call: Call) -> bool:
        return call.method.name == self.method

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if not self.is_of_changed_method(entry.call):
            super().run_down_remote_read(entry)


@fault("server-rundown-leaves-message-of-start-receive-locked", breaks="MQQP-3.1.6.2-01")
class ServerRundownLeavesMessageOfStartReceiveLocked(_RundownChangerForReceivesOfOneMethod):
    """When the connection of a client is lost, the server does not end the client's unfinished RemoteQMStartReceive."""

    method = "RemoteQMStartReceive"


@fault("server-rundown-leaves-message-of-start-receive2-locked", breaks="MQQP-3.1.6.2-01")
class ServerRundownLeavesMessageOfStartReceive2Locked(_RundownChangerForReceivesOfOneMethod):
    """When the connection of a client is lost, the server does not end the unfinished RemoteQMStartReceive2."""

    method = "RemoteQMStartReceive2"


@fault("server-rundown-leaves-message-of-receive-by-cursor-locked", breaks="MQQP-3.1.6.2-01")
class ServerRundownLeavesMessageOfReceiveByCursorLocked(_RundownChangerForReceivesOfOneMethod):
    """When the connection of a client is lost, the server does not end the client's unfinished receive by a cursor."""

    def is_of_changed_method(self, call: Call) -> bool:
        second = call.arguments.get("lpRemoteReadDesc2")
        desc = call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
        return bool(desc["hCursor"])


@fault("server-rundown-leaves-message-of-receive-with-ul-timeout-locked", breaks="MQQP-3.1.6.2-01")
class ServerRundownLeavesMessageOfReceiveWithUlTimeoutLocked(_RundownChangerForReceivesOfOneMethod):
    """When a connection is lost, the server does not end an unfinished receive with a nonzero ulTimeout."""

    def is_of_changed_method(self, call: Call) -> bool:
        second = call.arguments.get("lpRemoteReadDesc2")
        desc = call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
        return bool(desc["ulTimeout"])


@fault("server-rundown-leaves-message-of-second-receive-locked", breaks="MQQP-3.1.6.2-01")
class ServerRundownLeavesMessageOfSecondReceiveLocked(RundownReceiveCounter):
    """When the connection of a client is lost, the server ends only the first unfinished receive of each handle of the
    client.
    """

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if self.count(entry) == 1:
            super().run_down_remote_read(entry)


@fault("server-rundown-of-second-lost-connection-keeps-message", breaks=("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02"))
class ServerRundownOfSecondLostConnectionKeepsMessage(RemoteReadEnding):
    """The server returns the messages of unfinished receives to the queue only for the first connection
    that is lost.
    """

    lost_associations: frozenset[object] = frozenset()

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        self.lost_associations |= {entry.call.association}
        if len(self.lost_associations) < 2:
            super().run_down_remote_read(entry)
