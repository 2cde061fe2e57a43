"""Faults that break the rules MQQP-3.1.4.8-03 and MQQP-3.1.4.8-D03 only under certain conditions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.enums import PortType
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

_SPX_PORT_TYPES = (PortType.IPX_HANDSHAKE, PortType.IPX_READ)


@fault("server-get-port-returns-port-above-16-bits-for-ipx-types", breaks="MQQP-3.1.4.8-03", blind=True)
class ServerGetPortReturnsPortAbove16BitsForIpxTypes(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort returns 0x10000 plus the port for IP for the port types of SPX."""

    def get_server_port(self, port_type: int) -> int:
        if port_type not in _SPX_PORT_TYPES:
            return super().get_server_port(port_type)
        return 0x10000 | super().get_server_port(port_type - 1)


@fault("server-get-port-refuses-ipx-types-while-queue-is-open", breaks="MQQP-3.1.4.8-03", blind=True)
class ServerGetPortRefusesIpxTypesWhileQueueIsOpen(RemoteQueueOpening):
    """While a queue is open, RemoteQMGetQMQMServerPort returns MQ_ERROR_INVALID_PARAMETER for the port types of SPX."""

    def get_server_port(self, port_type: int) -> int:
        if port_type in _SPX_PORT_TYPES and list(self.qm.remote.OpenQueueEntryCollection):
            return Status.MQ_ERROR_INVALID_PARAMETER
        return super().get_server_port(port_type)


@fault("server-get-server-port-refuses-second-ipx-read-call", breaks="MQQP-3.1.4.8-03", blind=True)
class ServerGetServerPortRefusesSecondIpxReadCall(RemoteQueueOpening):
    """From its second call with IPX_READ on, RemoteQMGetQMQMServerPort returns MQ_ERROR_INVALID_PARAMETER."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.calls = 0

    def get_server_port(self, port_type: int) -> int:
        self.calls += port_type == PortType.IPX_READ
        if port_type == PortType.IPX_READ and self.calls > 1:
            return Status.MQ_ERROR_INVALID_PARAMETER
        return super().get_server_port(port_type)


@fault("server-get-port-faults-on-second-ipx-handshake", breaks="MQQP-3.1.4.8-D03", blind=True)
class ServerGetPortFaultsOnSecondIpxHandshake(RemoteQueueOpening):
    """From its second call with IPX_HANDSHAKE on, RemoteQMGetQMQMServerPort returns an RPC fault."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.calls = 0

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        asked = call.arguments["dwPortType"] == PortType.IPX_HANDSHAKE
        self.calls += asked
        if asked and self.calls > 1:
            self.qm.remote.carry_out_outputs(call.fault(Status.MQ_ERROR_INVALID_PARAMETER))
            return
        super().remote_qm_get_qmqm_server_port(call, now)


@fault("server-get-port-faults-on-ipx-handshake-while-queue-is-open", breaks="MQQP-3.1.4.8-D03", blind=True)
class ServerGetPortFaultsOnIpxHandshakeWhileQueueIsOpen(RemoteQueueOpening):
    """While a queue is open, RemoteQMGetQMQMServerPort returns an RPC fault for IPX_HANDSHAKE."""

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        asked = call.arguments["dwPortType"] == PortType.IPX_HANDSHAKE
        if asked and list(self.qm.remote.OpenQueueEntryCollection):
            self.qm.remote.carry_out_outputs(call.fault(Status.MQ_ERROR_INVALID_PARAMETER))
            return
        super().remote_qm_get_qmqm_server_port(call, now)


@fault("server-ipx-handshake-answered-with-read-port-plus-65536", breaks="MQQP-3.1.4.8-D03", blind=True)
class ServerIpxHandshakeAnsweredWithReadPortPlus65536(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort returns a number above 65,535 for IPX_HANDSHAKE."""

    def get_server_port(self, port_type: int) -> int:
        if port_type != PortType.IPX_HANDSHAKE:
            return super().get_server_port(port_type)
        return 0x10000 + super().get_server_port(PortType.IP_READ)
