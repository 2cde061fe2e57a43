"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.codec import MessageClass

ACK_RECEIVE = MessageClass.MQMSG_CLASS_ACK_RECEIVE


PURGED = MessageClass.MQMSG_CLASS_NACK_Q_PURGED


DELETED = MessageClass.MQMSG_CLASS_NACK_Q_DELETED


TIMEOUT = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
