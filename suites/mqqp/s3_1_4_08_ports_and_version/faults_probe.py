"""Faults of MS-MQQP 3.1.4.8 and 3.1.4.9, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-version-major-0-before-first-open-queue", breaks="MQQP-3.1.4.9-D02", blind=True)
class ServerVersionMajor0BeforeFirstOpenQueue(RemoteOpening):
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
