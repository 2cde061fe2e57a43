"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.codec import (
    ConnectionParametersPacket,
    SessionAckPacket,
    UserMessagePacket,
)

CONNECTION_PARAMETERS_TYPE = ConnectionParametersPacket


SESSION_ACK_TYPE = SessionAckPacket


USER_MESSAGE_TYPE = UserMessagePacket


SECONDS_PER_HOUR = 3600
