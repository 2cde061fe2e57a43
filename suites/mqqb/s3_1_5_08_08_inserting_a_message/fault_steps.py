"""Steps that several fault files of this section share."""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.registry import Install
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.model.adm import (
    Message,
    Queue,
)
from reference_qm.model.statuses import EnqueueStatus


def ignore_quota_kind(exceeded: EnqueueStatus) -> Install:
    """Make the receiver ignore one kind of quota."""

    class QuotaIgnored(QueueQuotas):
        def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
            status = super().check_room_for_message(queue, message)
            return EnqueueStatus.NO_ERROR if status is exceeded else status

    return replace_part(QuotaIgnored)


OVER_QUOTA_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA
