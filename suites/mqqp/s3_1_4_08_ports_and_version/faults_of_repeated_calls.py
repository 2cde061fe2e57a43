"""Faults in answers that change with later calls or after a restart (MS-MQQP 3.1.4.8, 3.1.4.9)."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart, combine_installers
from harness.faults.registry import Install, add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.enums import PortType
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening

VersionNumbers = tuple[int, int, int]


@fault(
    "server-get-port-returns-port-5-higher-from-second-call", breaks=("MQQP-3.1.4.8-04", "MQQP-3.1.4.8-D06"), blind=True
)
class ServerGetPortReturnsPort5HigherFromSecondCall(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort returns a port that is higher by 5 from its second call on."""

    count = 0

    def get_server_port(self, port_type: int) -> int:
        self.count += 1
        port = super().get_server_port(port_type)
        return port + 5 if port and self.count > 1 else port


@fault("server-get-port-returns-ip-handshake-port-one-too-high", breaks="MQQP-3.1.4.8-04", blind=True)
class ServerGetPortReturnsIpHandshakePortOneTooHigh(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort returns a port that is higher by 1 for IP_HANDSHAKE."""

    def get_server_port(self, port_type: int) -> int:
        port = super().get_server_port(port_type)
        return port + 1 if port and port_type == PortType.IP_HANDSHAKE else port


def _change_versions_from_second_call(change: Callable[[VersionNumbers], VersionNumbers]) -> Install:
    """Return an installer of a fault that changes the version from the second call of RemoteQmGetVersion on."""

    class LaterVersion(RemoteQueueOpening):
        count = 0

        def get_remote_version(self) -> VersionNumbers:
            self.count += 1
            found = super().get_remote_version()
            return change(found) if self.count > 1 else found

    return replace_part(LaterVersion)


def _change_versions_after_restart(change: Callable[[VersionNumbers], VersionNumbers]) -> Install:
    """Return an installer of a fault that changes the version after a restart."""

    class RestartedVersion(RemoteQueueOpening):
        restarted = False

        def get_remote_version(self) -> VersionNumbers:
            found = super().get_remote_version()
            return change(found) if self.restarted else found

    def note_restart(qm: QueueManager) -> None:
        qm.remote_queue_opening.restarted = True  # type: ignore[attr-defined]  # the part is the class above

    return combine_installers(replace_part(RestartedVersion), change_core_at_restart(note_restart))


for _rule, _number, _change in (
    ("MQQP-3.1.4.9-02", "major-5", lambda found: (5, found[1], found[2])),
    ("MQQP-3.1.4.9-03", "build-0", lambda found: (found[0], found[1], 0)),
    ("MQQP-3.1.4.9-D01", "minor-2", lambda found: (found[0], 2, found[2])),
):
    add(
        f"server-version-of-second-call-{_number}",
        (_rule, "MQQP-3.1.4.9-D02"),
        f"RemoteQmGetVersion returns {_number.replace('-', ' ')} from its second call on.",
        _change_versions_from_second_call(_change),
        blind=True,
    )
    add(
        f"server-version-after-restart-{_number}",
        _rule,
        f"RemoteQmGetVersion returns {_number.replace('-', ' ')} after a restart.",
        _change_versions_after_restart(_change),
        blind=True,
    )
