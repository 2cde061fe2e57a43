"""Faults that break rules of MS-MQSO 5.3.1 Member Protocol Roles."""

from __future__ import annotations

from collections.abc import Set

from harness.faults.parts import fault
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.adm import Queue
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.statuses import Status
from reference_qm.security.sid import Sid


@fault("server-rejects-qm2qm-read-of-queue-opened-by-qmcomm", breaks=("MQSO-5.3.1-01", "MQSO-5.3.1-02"))
class ServerRejectsQm2qmReadOfQueueOpenedByQmcomm(RemoteQueueOpening):
    """The interface qm2qm rejects a queue that was opened through qmcomm."""

    def check_open_handle_values(self, p_queue: int, dwp_context: int) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER


@fault("open-by-qmcomm-always-fails", breaks="MQSO-5.3.1-01")
class OpenByQmcommAlwaysFails(QmcommMethods):
    """The interface qmcomm refuses to open queues for remote readers."""

    def check_rights_of_reader(self, queue: Queue, access: QueueAccessType, reader: Set[Sid]) -> Status:
        return Status.MQ_ERROR_ACCESS_DENIED
