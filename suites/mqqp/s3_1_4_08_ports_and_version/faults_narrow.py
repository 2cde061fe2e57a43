"""Faults of MS-MQQP 3.1.4.8 and 3.1.4.9 that only a waiting read, or the end of all remote reading, reveals."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault("server-port-while-read-waits-0", breaks=("MQQP-3.1.4.8-D05", "MQQP-3.1.4.8-D06"), blind=True)
class ServerPortWhileReadWaits0(RemoteOpening):
    """While a read waits for a message, RemoteQMGetQMQMServerPort returns 0."""

    def get_server_port(self, port_type: int) -> int:
        return 0 if self.qm.readers else super().get_server_port(port_type)


@fault("server-port-after-close-of-queue-0", breaks=("MQQP-3.1.4.8-D05", "MQQP-3.1.4.8-D06"), blind=True)
class ServerPortAfterCloseOfQueue0(RemoteOpening):
    """After the last remote reader has closed its queue, RemoteQMGetQMQMServerPort returns 0."""

    def get_server_port(self, port_type: int) -> int:
        is_open = len(self.qm.remote.OpenQueueEntryCollection) > 0
        self.__dict__["was_open"] = is_open or self.__dict__.get("was_open", False)
        closed = self.__dict__["was_open"] and not is_open
        return 0 if closed else super().get_server_port(port_type)


@fault("server-port-call-while-read-waits-thrown", breaks="MQQP-3.1.4.8-D07", blind=True)
class ServerPortCallWhileReadWaitsThrown(RemoteOpening):
    """While a read waits for a message, RemoteQMGetQMQMServerPort raises an RPC exception."""

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        if self.qm.readers:
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().remote_qm_get_qmqm_server_port(call, now)


@fault("server-version-while-read-waits-differs", breaks="MQQP-3.1.4.9-D02", blind=True)
class ServerVersionWhileReadWaitsDiffers(RemoteOpening):
    """While a read waits for a message, RemoteQmGetVersion returns a different build number."""

    def get_remote_version(self) -> tuple[int, int, int]:
        major, minor, build = super().get_remote_version()
        return major, minor, build + bool(self.qm.readers)


@fault("server-version-call-after-close-of-queue-thrown", breaks=("MQQP-3.1.4.9-D02", "MQQP-3.1.4.9-D03"), blind=True)
class ServerVersionCallAfterCloseOfQueueThrown(RemoteOpening):
    """After the last remote reader has closed its queue, RemoteQmGetVersion raises an RPC exception."""

    def remote_qm_get_version(self, call: Call, now: Now) -> None:
        is_open = len(self.qm.remote.OpenQueueEntryCollection) > 0
        if is_open:
            self.__dict__["was_open"] = True
        if self.__dict__.get("was_open") and not is_open:
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().remote_qm_get_version(call, now)
