"""Faults in the answers of RemoteQMGetQMQMServerPort to single types of ports: MQQP-3.1.4.8-02 to MQQP-3.1.4.8-D04."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import change_qm2qm_request_stub
from reference_qm.core.part import QM
from reference_qm.core.remote.enums import PortType
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening

_STUB_SIZE_BYTES = 4
_LOW_16_BITS_MASK = 0xFFFF
_HIGHEST_U32 = 0xFFFFFFFF


def _misread_port_type(change: Callable[[int], int]) -> Install:
    """Let the server read a dwPortType that differs from the dwPortType that the client sent."""
    return change_qm2qm_request_stub(
        "RemoteQMGetQMQMServerPort",
        _STUB_SIZE_BYTES,
        lambda stub: change(int.from_bytes(stub, "little")).to_bytes(_STUB_SIZE_BYTES, "little"),
    )


for _name, _says, _change in (
    (
        "server-get-server-port-type-4-answered-with-read-port",
        "RemoteQMGetQMQMServerPort with dwPortType 4 returns the port of IP_READ.",
        lambda kind: int(PortType.IP_READ) if kind == PortType.IPX_READ + 1 else kind,
    ),
    (
        "server-get-server-port-type-in-low-16-bits",
        "RemoteQMGetQMQMServerPort reads only the low 16 bits of dwPortType.",
        lambda kind: kind & _LOW_16_BITS_MASK,
    ),
    (
        "server-get-server-port-largest-type-answered-with-port",
        "RemoteQMGetQMQMServerPort with dwPortType 0xFFFFFFFF returns the port of IP_READ.",
        lambda kind: int(PortType.IP_READ) if kind == _HIGHEST_U32 else kind,
    ),
):
    add(_name, "MQQP-3.1.4.8-02", _says, _misread_port_type(_change), blind=True)


@fault(
    "server-get-server-port-ipx-read-answered-with-0xffffffff",
    breaks="MQQP-3.1.4.8-D04",
    blind=True,
)
class ServerGetServerPortIpxReadAnsweredWith0xffffffff(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort with IPX_READ returns 0xFFFFFFFF."""

    def get_server_port(self, port_type: int) -> int:
        return _HIGHEST_U32 if port_type == PortType.IPX_READ else super().get_server_port(port_type)


@fault(
    "server-get-server-port-second-ipx-read-answered-with-0xffffffff",
    breaks="MQQP-3.1.4.8-D04",
    blind=True,
)
class ServerGetServerPortSecondIpxReadAnsweredWith0xffffffff(RemoteQueueOpening):
    """The second RemoteQMGetQMQMServerPort with IPX_READ returns 0xFFFFFFFF."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.asked = False

    def get_server_port(self, port_type: int) -> int:
        if port_type != PortType.IPX_READ:
            return super().get_server_port(port_type)
        again, self.asked = self.asked, True
        return _HIGHEST_U32 if again else super().get_server_port(port_type)


@fault("server-second-ip-handshake-answered-with-0", breaks="MQQP-3.1.4.8-D01", blind=True)
class ServerSecondIpHandshakeAnsweredWith0(RemoteQueueOpening):
    """The second RemoteQMGetQMQMServerPort with IP_HANDSHAKE returns 0."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.asked = False

    def get_server_port(self, port_type: int) -> int:
        if port_type != PortType.IP_HANDSHAKE:
            return super().get_server_port(port_type)
        again, self.asked = self.asked, True
        return 0 if again else super().get_server_port(port_type)


@fault("server-ip-handshake-while-queue-is-open-returns-next-port", breaks="MQQP-3.1.4.8-D01", blind=True)
class ServerIpHandshakeWhileQueueIsOpenReturnsNextPort(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort with IP_HANDSHAKE returns a port that is 1 too high while a queue is open."""

    def get_server_port(self, port_type: int) -> int:
        opened = bool(list(self.qm.remote.OpenQueueEntryCollection))
        return super().get_server_port(port_type) + int(opened and port_type == PortType.IP_HANDSHAKE)
