"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.codec import MessageClass

ACK_RECEIVE_CLASS = MessageClass.MQMSG_CLASS_ACK_RECEIVE


NACK_PURGED_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_PURGED


NACK_DELETED_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_DELETED


NACK_RECEIVE_TIMEOUT_CLASS = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
