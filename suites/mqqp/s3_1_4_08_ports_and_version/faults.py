"""Faults of MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort and 3.1.4.9 RemoteQmGetVersion."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from harness.faults.rpc_calls import called_unbound, change_request, interfaces_apart
from reference_qm.core.remote.enums import PortType
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now

add(
    "rpc-unbound-RemoteQMGetQMQMServerPort",
    "MQQP-3.1.4.8-01",
    "RemoteQMGetQMQMServerPort is called on a context that was never agreed on.",
    called_unbound("RemoteQMGetQMQMServerPort"),
)
add(
    "rpc-unbound-RemoteQmGetVersion",
    "MQQP-3.1.4.9-01",
    "RemoteQmGetVersion is called on a context that was never agreed on.",
    called_unbound("RemoteQmGetVersion"),
)


@fault("remote-port-none", breaks="MQQP-3.1.4.8-D05")
class NoPort(RemoteOpening):
    """No interface has a port."""

    def get_server_port(self, port_type: int) -> int:
        return 0


@fault("remote-port-wrong", breaks=("MQQP-3.1.4.8-04", "MQQP-3.1.4.8-D01", "MQQP-3.1.4.8-D02", "MQQP-3.1.3-01"))
class PortWrong(RemoteOpening):
    """The port is one too high."""

    def get_server_port(self, port_type: int) -> int:
        port = super().get_server_port(port_type)
        return port + 1 if port else 0


class _Swapped(RemoteOpening):
    def get_server_port(self, port_type: int) -> int:
        return super().get_server_port(port_type ^ 1)


add(
    "remote-ports-swapped",
    ("MQQP-3.1.4.8-D01", "MQQP-3.1.4.8-D02", "MQQP-3.1.3-01"),
    "The port of each interface is told for the other; each is served at its own alone.",
    both(interfaces_apart, replace_part(_Swapped)),
)


@fault("remote-port-16-bits-swapped", breaks=("MQQP-3.1.4.8-D05", "MQQP-3.1.4.8-D02"))
class BytesOfPortSwapped(RemoteOpening):
    """The port is in the upper half of the number."""

    def get_server_port(self, port_type: int) -> int:
        return super().get_server_port(port_type) << 16


@fault("remote-port-of-spx-unnamed", breaks=("MQQP-3.1.4.8-D03", "MQQP-3.1.4.8-D04", "MQQP-3.1.4.8-D07"))
class SpxFaults(RemoteOpening):
    """Whoever asks for SPX gets a fault."""

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        if call.arguments["dwPortType"] in (PortType.IPX_HANDSHAKE, PortType.IPX_READ):
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().remote_qm_get_qmqm_server_port(call, now)


@fault("remote-port-of-spx", breaks=("MQQP-3.1.4.8-D03", "MQQP-3.1.4.8-D04"))
class SpxIsAnError(RemoteOpening):
    """What is not served brings an HRESULT for a port."""

    def get_server_port(self, port_type: int) -> int:
        return super().get_server_port(port_type) or Status.MQ_ERROR


@fault("remote-port-counted-up", breaks="MQQP-3.1.4.8-D06")
class PortCountedUp(RemoteOpening):
    """The port of the other interface is told while a queue is open."""

    def get_server_port(self, port_type: int) -> int:
        return super().get_server_port(port_type ^ bool(len(self.qm.remote.OpenQueueEntryCollection)))


@fault("remote-port-thrown", breaks="MQQP-3.1.4.8-D07")
class PortThrown(RemoteOpening):
    """While a queue is open, no port is told but a fault."""

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        if len(self.qm.remote.OpenQueueEntryCollection):
            self.qm.remote.note(call.fault(Status.MQ_ERROR))
        else:
            super().remote_qm_get_qmqm_server_port(call, now)


add(
    "remote-port-of-any-type",
    ("MQQP-3.1.4.8-02", "MQQP-3.1.4.8-03"),
    "Any dwPortType has a port.",
    change_request("RemoteQMGetQMQMServerPort", 4, lambda stub: bytes([stub[0] & 1, 0, 0, 0])),
)


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


@fault("remote-version-minor", breaks="MQQP-3.1.4.9-D01")
class MinorZero(RemoteOpening):
    """The version is 6.0.6531."""

    def get_remote_version(self) -> tuple[int, int, int]:
        return 6, 0, 6531


@fault("remote-version-thrown-before", breaks=("MQQP-3.1.4.9-D02", "MQQP-3.1.4.9-D03"))
class VersionThrownBefore(RemoteOpening):
    """Before a queue is open the version is refused with a fault."""

    def remote_qm_get_version(self, call: Call, now: Now) -> None:
        if len(self.qm.remote.OpenQueueEntryCollection):
            super().remote_qm_get_version(call, now)
        else:
            self.qm.remote.note(call.fault(Status.MQ_ERROR_INVALID_HANDLE))


add("rpc-interfaces-apart", (), "Tolerated: qmcomm and qm2qm are each served at a port of their own.", interfaces_apart)


class _SpxHasAPort(RemoteOpening):
    def get_server_port(self, port_type: int) -> int:
        return super().get_server_port(port_type) or 2103


add("remote-port-of-spx-told", (), "Tolerated: SPX has a port, as with Windows 2000.", replace_part(_SpxHasAPort))
