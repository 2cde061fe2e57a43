"""Faults of MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort and 3.1.4.9 RemoteQmGetVersion."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import carried_out_unbound
from reference_qm.core.remote.opening import RemoteOpening

PORT_OF_SPX = 2103

add(
    "rpc-unbound-RemoteQMGetQMQMServerPort",
    "MQQP-3.1.4.8-01",
    "RemoteQMGetQMQMServerPort is carried out without a binding.",
    carried_out_unbound("RemoteQMGetQMQMServerPort"),
)
add(
    "rpc-unbound-RemoteQmGetVersion",
    "MQQP-3.1.4.9-01",
    "RemoteQmGetVersion is carried out without a binding.",
    carried_out_unbound("RemoteQmGetVersion"),
)


@fault("remote-port-none", breaks="MQQP-3.1.4.8-02")
class NoPort(RemoteOpening):
    """No interface has a port."""

    def get_server_port(self, port_type: int) -> int:
        return 0


@fault("remote-port-wrong", breaks=("MQQP-3.1.4.8-04", "MQQP-3.1.3-01"))
class PortWrong(RemoteOpening):
    """The port is one too high."""

    def get_server_port(self, port_type: int) -> int:
        port = super().get_server_port(port_type)
        return port + 1 if port else 0


@fault("remote-port-of-spx", breaks="MQQP-3.1.4.8-03")
class SpxHasAPort(RemoteOpening):
    """SPX has a port."""

    def get_server_port(self, port_type: int) -> int:
        return super().get_server_port(port_type) or PORT_OF_SPX


@fault("remote-version-02", breaks="MQQP-3.1.4.9-02")
class VersionBelow6(RemoteOpening):
    """The version is 5.2.3790."""

    def get_remote_version(self) -> tuple[int, int, int]:
        return 5, 2, 3790


@fault("remote-version-03", breaks="MQQP-3.1.4.9-03")
class BuildNumberZero(RemoteOpening):
    """The version is 6.1.0."""

    def get_remote_version(self) -> tuple[int, int, int]:
        return 6, 1, 0
