"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.codec import UserMessagePacket

USER_MESSAGE_TYPE = UserMessagePacket
