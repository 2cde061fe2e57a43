"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.codec import (
    ConnectionParametersPacket,
    SessionAckPacket,
    UserMessagePacket,
)

PARAMETERS_PACKET_TYPE = ConnectionParametersPacket


SESSION_ACK_PACKET_TYPE = SessionAckPacket


MESSAGE_PACKET_TYPE = UserMessagePacket


SECONDS_PER_HOUR = 3600
