"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.securing import Securing
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now

SECURITY_DATA_PATH = "SecurityHeader.SecurityData"


def change_encrypted_message(
    changes: dict[str, Any], when: Callable[[UserMessagePacket], bool] = lambda _: True
) -> Install:
    """Make the sender change fields of an encrypted message. The argument of a function that changes a
    field is the old value.
    """

    class ChangedEncryptedMessage(Securing):
        def encrypt_body(
            self, session: Session, message: Message, packet: UserMessagePacket, now: Now
        ) -> UserMessagePacket:
            encrypted = super().encrypt_body(session, message, packet, now)
            if encrypted is packet or not when(encrypted):
                return encrypted
            changed: UserMessagePacket = set_fields(encrypted, changes)
            return changed

    return replace_part(ChangedEncryptedMessage)


def change_security_data(**items: Any) -> dict[str, Any]:
    """Return changes of the given items of SecurityData, with the padding computed again."""
    return {
        f"{SECURITY_DATA_PATH}.Padding": None,
        **{f"{SECURITY_DATA_PATH}.{name}": value for name, value in items.items()},
    }


def invert_lowest_bits(data: bytes) -> bytes:
    """Invert the lowest bit of every byte."""
    return bytes(byte ^ 1 for byte in data)
