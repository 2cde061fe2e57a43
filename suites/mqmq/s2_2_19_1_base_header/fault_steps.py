"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.codec import (
    ConnectionParametersPacket,
    SessionAckPacket,
    UserMessagePacket,
)

PARAMETERS = ConnectionParametersPacket


ACK = SessionAckPacket


MESSAGE = UserMessagePacket


SECONDS_PER_HOUR = 3600
