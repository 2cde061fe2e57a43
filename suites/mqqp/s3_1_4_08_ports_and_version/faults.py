"""Faults that break rules of MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort (Opnum 7) and of 3.1.4.9."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from harness.faults.rpc_calls import (
    call_on_unbound_context,
    change_answer_values,
    change_qm2qm_request_stub,
    serve_interfaces_at_separate_ports,
)
from reference_qm.core.part import QM
from reference_qm.core.remote.enums import PortType
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.enums import RemoteReadState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now

add(
    "client-get-server-port-on-unknown-context",
    "MQQP-3.1.4.8-01",
    "The client calls RemoteQMGetQMQMServerPort on a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMGetQMQMServerPort"),
)


add(
    "server-get-server-port-unlisted-type-accepted",
    ("MQQP-3.1.4.8-02", "MQQP-3.1.4.8-03"),
    "RemoteQMGetQMQMServerPort returns a port for every dwPortType.",
    change_qm2qm_request_stub("RemoteQMGetQMQMServerPort", 4, lambda stub: bytes([stub[0] & 1, 0, 0, 0])),
)


@fault(
    "server-get-server-port-one-too-high",
    breaks=("MQQP-3.1.4.8-04", "MQQP-3.1.4.8-D01", "MQQP-3.1.4.8-D02", "MQQP-3.1.3-01"),
)
class ServerGetServerPortOneTooHigh(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort returns a port that is greater by 1 than the right port."""

    def get_server_port(self, port_type: int) -> int:
        port = super().get_server_port(port_type)
        return port + 1 if port else 0


class _PortTypeSwapper(RemoteQueueOpening):
    def get_server_port(self, port_type: int) -> int:
        return super().get_server_port(port_type ^ 1)


add(
    "server-get-server-port-ports-swapped",
    ("MQQP-3.1.4.8-D01", "MQQP-3.1.4.8-D02", "MQQP-3.1.3-01"),
    "RemoteQMGetQMQMServerPort returns the port of qmcomm for qm2qm, and the port of qm2qm for qmcomm.",
    combine_installers(serve_interfaces_at_separate_ports, replace_part(_PortTypeSwapper)),
)


@fault("server-get-server-port-in-upper-16-bits", breaks=("MQQP-3.1.4.8-D05", "MQQP-3.1.4.8-D02"))
class ServerGetServerPortInUpper16Bits(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort returns the port in the upper 16 bits."""

    def get_server_port(self, port_type: int) -> int:
        return super().get_server_port(port_type) << 16


@fault(
    "server-get-server-port-for-spx-gives-fault", breaks=("MQQP-3.1.4.8-D03", "MQQP-3.1.4.8-D04", "MQQP-3.1.4.8-D07")
)
class ServerGetServerPortForSpxGivesFault(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort answers an SPX port type with a fault."""

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        if call.arguments["dwPortType"] in (PortType.IPX_HANDSHAKE, PortType.IPX_READ):
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().remote_qm_get_qmqm_server_port(call, now)


@fault("server-get-server-port-for-spx-returns-error", breaks=("MQQP-3.1.4.8-D03", "MQQP-3.1.4.8-D04"))
class ServerGetServerPortForSpxReturnsError(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort returns an HRESULT instead of 0 for a protocol that the server does not support."""

    def get_server_port(self, port_type: int) -> int:
        return super().get_server_port(port_type) or Status.MQ_ERROR


@fault("server-get-server-port-returns-zero", breaks="MQQP-3.1.4.8-D05")
class ServerGetServerPortReturnsZero(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort returns 0 for every port type."""

    def get_server_port(self, port_type: int) -> int:
        return 0


@fault("server-get-server-port-returns-0-after-third-call", breaks=("MQQP-3.1.4.8-D05", "MQQP-3.1.4.8-D06"))
class ServerGetServerPortReturns0AfterThirdCall(RemoteQueueOpening):
    """After three calls, RemoteQMGetQMQMServerPort returns 0."""

    call_count = 0

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        self.call_count += 1
        if self.call_count > 3:
            call = change_answer_values(call, Return=0)
        super().remote_qm_get_qmqm_server_port(call, now)


@fault("server-get-server-port-returns-0-while-read-waits", breaks=("MQQP-3.1.4.8-D05", "MQQP-3.1.4.8-D06"), blind=True)
class ServerGetServerPortReturns0WhileReadWaits(RemoteQueueOpening):
    """While a read waits for a message, RemoteQMGetQMQMServerPort returns 0."""

    def get_server_port(self, port_type: int) -> int:
        return 0 if self.qm.readers else super().get_server_port(port_type)


@fault(
    "server-get-server-port-returns-0-after-close-of-queue", breaks=("MQQP-3.1.4.8-D05", "MQQP-3.1.4.8-D06"), blind=True
)
class ServerGetServerPortReturns0AfterCloseOfQueue(RemoteQueueOpening):
    """After the last remote reader has closed its queue, RemoteQMGetQMQMServerPort returns 0."""

    def get_server_port(self, port_type: int) -> int:
        is_open = len(self.qm.remote.OpenQueueEntryCollection) > 0
        self.__dict__["was_open"] = is_open or self.__dict__.get("was_open", False)
        closed = self.__dict__["was_open"] and not is_open
        return 0 if closed else super().get_server_port(port_type)


@fault("server-get-server-port-changes-with-open-queue", breaks="MQQP-3.1.4.8-D06")
class ServerGetServerPortChangesWithOpenQueue(RemoteQueueOpening):
    """While a queue is open, RemoteQMGetQMQMServerPort returns ports other than those that it returned before."""

    def get_server_port(self, port_type: int) -> int:
        return super().get_server_port(port_type ^ bool(len(self.qm.remote.OpenQueueEntryCollection)))


@fault("server-get-server-port-returns-0-while-queue-is-open", breaks="MQQP-3.1.4.8-D06")
class ServerGetServerPortReturns0WhileQueueIsOpen(RemoteQueueOpening):
    """While a queue is open for remote reading, RemoteQMGetQMQMServerPort returns 0."""

    def get_server_port(self, port_type: int) -> int:
        return 0 if len(self.qm.remote.OpenQueueEntryCollection) else super().get_server_port(port_type)


@fault("server-get-server-port-faults-with-open-queue", breaks="MQQP-3.1.4.8-D07")
class ServerGetServerPortFaultsWithOpenQueue(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort answers with a fault while a queue is open."""

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        if len(self.qm.remote.OpenQueueEntryCollection):
            self.qm.remote.carry_out_outputs(call.fault(Status.MQ_ERROR))
        else:
            super().remote_qm_get_qmqm_server_port(call, now)


@fault("server-get-server-port-raises-exception-while-read-waits", breaks="MQQP-3.1.4.8-D07", blind=True)
class ServerGetServerPortRaisesExceptionWhileReadWaits(RemoteQueueOpening):
    """While a read waits for a message, RemoteQMGetQMQMServerPort raises an RPC exception."""

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        if self.qm.readers:
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().remote_qm_get_qmqm_server_port(call, now)


add(
    "client-get-version-on-unknown-context",
    "MQQP-3.1.4.9-01",
    "The client calls RemoteQmGetVersion on a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQmGetVersion"),
)


@fault("server-get-version-major-below-6", breaks="MQQP-3.1.4.9-02")
class ServerGetVersionMajorBelow6(RemoteQueueOpening):
    """RemoteQmGetVersion returns version 5.2.3790."""

    def get_remote_version(self) -> tuple[int, int, int]:
        return 5, 2, 3790


@fault("server-get-version-build-zero", breaks="MQQP-3.1.4.9-03")
class ServerGetVersionBuildZero(RemoteQueueOpening):
    """RemoteQmGetVersion returns version 6.1 with build number 0."""

    def get_remote_version(self) -> tuple[int, int, int]:
        return 6, 1, 0


@fault("server-get-version-minor-zero", breaks="MQQP-3.1.4.9-D01")
class ServerGetVersionMinorZero(RemoteQueueOpening):
    """RemoteQmGetVersion returns version 6.0.6531."""

    def get_remote_version(self) -> tuple[int, int, int]:
        return 6, 0, 6531


@fault("server-get-version-faults-without-open-queue", breaks=("MQQP-3.1.4.9-D02", "MQQP-3.1.4.9-D03"))
class ServerGetVersionFaultsWithoutOpenQueue(RemoteQueueOpening):
    """RemoteQmGetVersion answers with a fault while no queue is open."""

    def remote_qm_get_version(self, call: Call, now: Now) -> None:
        if len(self.qm.remote.OpenQueueEntryCollection):
            super().remote_qm_get_version(call, now)
        else:
            self.qm.remote.carry_out_outputs(call.fault(Status.MQ_ERROR_INVALID_HANDLE))


@fault("server-version-differs-while-queue-is-open", breaks="MQQP-3.1.4.9-D02")
class ServerVersionDiffersWhileQueueIsOpen(RemoteQueueOpening):
    """While a queue is open for remote reading, RemoteQmGetVersion returns a different build number."""

    def get_remote_version(self) -> tuple[int, int, int]:
        major, minor, build = super().get_remote_version()
        return major, minor, build + bool(len(self.qm.remote.OpenQueueEntryCollection))


@fault(
    "server-get-version-raises-exception-before-remote-qm-open-queue", breaks=("MQQP-3.1.4.9-D02", "MQQP-3.1.4.9-D03")
)
class ServerGetVersionRaisesExceptionBeforeRemoteQmOpenQueue(RemoteQueueOpening):
    """After R_QMOpenRemoteQueue and before RemoteQMOpenQueue, RemoteQmGetVersion raises an RPC exception."""

    def remote_qm_get_version(self, call: Call, now: Now) -> None:
        if any(one.RemoteReadState is RemoteReadState.OPENED for one in self.qm.descriptors.values()):
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().remote_qm_get_version(call, now)


@fault("server-version-while-read-waits-differs", breaks="MQQP-3.1.4.9-D02", blind=True)
class ServerVersionWhileReadWaitsDiffers(RemoteQueueOpening):
    """While a read waits for a message, RemoteQmGetVersion returns a different build number."""

    def get_remote_version(self) -> tuple[int, int, int]:
        major, minor, build = super().get_remote_version()
        return major, minor, build + bool(self.qm.readers)


@fault(
    "server-get-version-raises-exception-after-close-of-queue",
    breaks=("MQQP-3.1.4.9-D02", "MQQP-3.1.4.9-D03"),
    blind=True,
)
class ServerGetVersionRaisesExceptionAfterCloseOfQueue(RemoteQueueOpening):
    """After the last remote reader has closed its queue, RemoteQmGetVersion raises an RPC exception."""

    def remote_qm_get_version(self, call: Call, now: Now) -> None:
        is_open = len(self.qm.remote.OpenQueueEntryCollection) > 0
        if is_open:
            self.__dict__["was_open"] = True
        if self.__dict__.get("was_open") and not is_open:
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().remote_qm_get_version(call, now)


@fault("server-version-major-0-before-first-open-queue", breaks="MQQP-3.1.4.9-D02", blind=True)
class ServerVersionMajor0BeforeFirstOpenQueue(RemoteQueueOpening):
    """RemoteQmGetVersion returns 0 for pMajor until a client has opened a queue with RemoteQMOpenQueue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.opened = False

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_open_queue(call, now)
        self.opened = self.opened or len(self.qm.remote.OpenQueueEntryCollection) > 0

    def get_remote_version(self) -> tuple[int, int, int]:
        major, minor, build = super().get_remote_version()
        return major if self.opened else 0, minor, build


add(
    "server-interfaces-on-separate-ports-tolerated",
    (),
    "Tolerated: the server offers qmcomm and qm2qm on separate ports.",
    serve_interfaces_at_separate_ports,
)


class _SpxPortReturner(RemoteQueueOpening):
    def get_server_port(self, port_type: int) -> int:
        return super().get_server_port(port_type) or 2103


add(
    "server-get-server-port-for-spx-returns-port-tolerated",
    (),
    "Tolerated: RemoteQMGetQMQMServerPort returns a port for SPX, as Windows 2000 does.",
    replace_part(_SpxPortReturner),
)


@fault("server-get-port-returns-0-for-ip-handshake-at-qm2qm-port", breaks="MQQP-3.1.4.8-D05", blind=True)
class ServerGetPortReturns0ForIpHandshakeAtQm2qmPort(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort returns 0 for IP_HANDSHAKE if the client calls it at the port of qm2qm."""

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        listening = self.qm.rpc_listening
        at_read_port = listening is not None and call.association.sec_addr == str(listening.read.port)
        if at_read_port and call.arguments["dwPortType"] == PortType.IP_HANDSHAKE:
            self.qm.remote.carry_out_outputs(call.respond(Return=0))
        else:
            super().remote_qm_get_qmqm_server_port(call, now)
