"""Faults of MS-MQSO 5.1.1, 5.1.1.1: states of a queue manager."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.protocol.administering import Administering
from reference_qm.core.protocol.commanding import Commands
from reference_qm.core.protocol.enterprise import DirectoryClient
from reference_qm.core.protocol.errors import CommandError
from reference_qm.core.protocol.ping import Ping
from reference_qm.core.protocol.session_opening import SessionOpening
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import DirectoryAnswered

add(
    "so-sessions-not-served",
    ("MQSO-5.1.1-01", "MQSO-6.6.1-D07"),
    "What connects gets no answer.",
    skip(SessionOpening.accept_transport),
)
add("so-pings-not-served", "MQSO-5.1.1-01", "Pings are not answered.", skip(Ping.receive_request))
add("so-never-offline", "MQSO-5.1.1.1-D05", "It stays on the network.", skip(Administering.take_offline))
add("so-offline-for-good", "MQSO-5.1.1.1-D05", "It does not come back.", skip(Administering.bring_online))


@fault("so-sent-by-what-the-directory-said", breaks="MQSO-5.1.1.1-D07")
class SentByWhatTheDirectorySaid(DirectoryClient):
    """While the directory is away, messages go where it said last."""

    def on_answered(self, event: DirectoryAnswered, now: Now) -> None:
        before = self.qm.enterprise.directory
        super().on_answered(event, now)
        if event.elements is None:
            self.qm.enterprise.directory = before

    def watch(self, now: Now) -> None:
        self.qm.enterprise.state.DirectoryOffline = False
        super().watch(now)


@fault("so-nothing-taken-without-directory", breaks="MQSO-5.1.1.1-D07")
class NothingTakenWithoutDirectory(Commands):
    """While the directory is away, no message for another queue manager is taken."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if self.qm.enterprise.state.DirectoryOffline and self.qm.destinations.find_local(request.to) is None:
            raise CommandError("nothing is sent while the directory is away")
        return super().send_message(request, token, now)


BROKEN_ELSEWHERE = {
    "MQSO-5.1.1-D01": ("so-cursors-come-back",),
    "MQSO-5.1.1.1-D06": ("so-outage-of-the-directory-not-noted",),
}
"""Faults of other sections that break rules of this one."""
