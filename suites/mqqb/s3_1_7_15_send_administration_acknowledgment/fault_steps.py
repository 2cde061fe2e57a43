"""Steps that several fault files of this section share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.admin_acks import (
    ChangeAcknowledgmentMessage,
)
from reference_qm.codec import MessageClass


def set_acknowledgment_attributes(**changes: Any) -> ChangeAcknowledgmentMessage:
    """Return a change that sets attributes of an acknowledgment message."""
    return lambda ack, message: replace(ack, **changes)


REMOVAL_ACK_CLASSES = (
    MessageClass.MQMSG_CLASS_ACK_RECEIVE,
    MessageClass.MQMSG_CLASS_NACK_Q_DELETED,
    MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
    MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT,
)
