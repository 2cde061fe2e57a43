"""Faults in the state Stopped, in cursors and in DirectoryOffline, after one cause or for one kind of request."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.commands.input_dispatching import InputDispatching
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    DirectoryAnswered,
    Input,
    TransportAccepted,
)


@fault("stopped-queue-manager-opens-session", breaks="MQSO-5.1.1.1-D01")
class StoppedQueueManagerOpensSession(InputDispatching):
    """The Stopped queue manager accepts connections and handles the packets of its sessions."""

    def refuse_input_while_stopped(self, event: Input, now: Now) -> None:
        if isinstance(event, TransportAccepted):
            self.qm.session_opening.accept_transport(event, now)
        elif isinstance(event, BytesReceived):
            self.on_transport_event(event, now)
        else:
            super().refuse_input_while_stopped(event, now)


@fault("queue-manager-with-failed-initialization-creates-queues", breaks="MQSO-5.1.1.1-01")
class QueueManagerWithFailedInitializationCreatesQueues(InputDispatching):
    """The queue manager creates queues for applications although its initialization has failed."""

    def on_command(self, event: Command, now: Now) -> None:
        halted = self.qm.halted
        if isinstance(event.request, commands.CreateQueue):
            self.qm.halted = None
        super().on_command(event, now)
        self.qm.halted = self.qm.halted or halted


@fault("stopped-queue-manager-loses-journal-at-next-start", breaks="MQSO-5.1.1.1-D01")
class StoppedQueueManagerLosesJournalAtNextStart(StateRestoring):
    """After a stop and a start, the queue manager does not have the messages of its system journal."""

    def restore(self, entries: Any) -> None:
        super().restore(entries)
        positions = self.qm.adm.SystemJournalQueue.MessagePositionList
        for position in list(positions):
            positions.remove(position)


@fault("queue-manager-directory-offline-reset-at-first-timer-expiry", breaks="MQSO-5.1.1.1-D06")
class QueueManagerDirectoryOfflineResetAtFirstTimerExpiry(DirectoryClient):
    """The queue manager sets DirectoryOffline to FALSE when the Directory Online Timer expires for the first time."""

    def on_directory_online_timer(self, now: Now) -> None:
        super().on_directory_online_timer(now)
        self.qm.enterprise.state.DirectoryOffline = False

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        online = self.qm.enterprise.state.DirectoryOffline is False
        super().on_directory_answered(event, now)
        if online and self.qm.begun:
            self.qm.enterprise.state.DirectoryOffline = False
