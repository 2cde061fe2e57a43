"""Faults of MS-MQMQ 2.2.20.4 SessionHeader that only some values reveal."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import override_method, replace_part
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session

HIGHEST_U32 = 0xFFFF_FFFF


def _make_uncounted(original: Any) -> Any:
    def transmit_uncounted(
        qm: QM, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket
    ) -> None:
        original(qm, session, position, packet)
        if packet.DebugHeader is not None and packet.MessagePropertiesHeader.ApplicationTag == HIGHEST_U32:
            session.MessageSentCount -= 1

    return transmit_uncounted


add(
    "sender-traced-message-with-highest-application-tag-not-counted",
    "MQMQ-2.2.20.4-01",
    "The sender does not count a traced message whose ApplicationTag is 0xFFFFFFFF.",
    replace_part(override_method(Sending.transmit, _make_uncounted)),
)
