"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import replace_part
from harness.faults.registry import Install
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


def change_after_update(change: Callable[[Session, OutgoingMessagePosition], None]) -> Install:
    """Change the session and the position of a message after the message was updated."""

    class Updated(Sending):
        def update_user_message(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_user_message(session, position, now)
            change(session, position)
            return packet

    return replace_part(Updated)
