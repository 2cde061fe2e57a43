"""Let applications send signed and encrypted messages to the peer. Spec: MS-MQQB 3.1.7.1.4, 3.1.7.1.5."""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition
from harness.model.transfer.holding import HoldTransitions

SIGNATURE_KINDS, SENDER_NAMES = ("sig10", "sig20", "sig30"), ("alice", "bob")
"""The kinds of signatures, and the registered users who sign."""
PRIVACY_LEVELS = ("base", "enhanced")
"""The privacy levels."""


class SecuredShipTransitions(HoldTransitions):
    """The transitions in which the system signs or encrypts messages."""

    @transition(
        *("MQQB-3.1.7.1.4-01", "MQMQ-2.2.20.6-23", "MQMQ-2.2.20.3-D01", "MQQB-2.4.2-D01"),
        *("MQQB-3.1.7.1.5-12", "MQQB-3.1.7.1.5-22", "MQQB-3.1.7.1.5.2-05"),
        needs=("send", "security", "private_names"),
        weight=3,
        size=0,
    )
    def ship_secured(self, message: str, sender: str | None, how: str, size: int) -> None:
        """Let an application send a message that the system signs for ``sender``, or encrypts if there is no sender.
        ``how``: the kind of the signature, or the privacy level.
        """
        if self.lost or self.silent:
            raise ImpossibleStep
        if sender is not None and self.choose_reading(f"E81: sent {how} signatures"):
            self.answers["secured"] = {"signed": "with other bytes", "sender": sender}
        elif sender is not None:
            self.answers["secured"] = {"signed": how, "sender": sender}
        else:
            self.answers["secured"] = {"level": how, "body": size}
        self.answer_with_success()
        self.settle()

    def draw_ship_secured(self, chance: Random) -> dict[str, Any]:
        if self.lost or self.silent:
            raise ImpossibleStep
        sender = draw_one_value_or_refuse_step(chance, (None, *SENDER_NAMES))
        how = chance.choice(PRIVACY_LEVELS if sender is None else SIGNATURE_KINDS)
        return {"message": f"m{self.steps}", "sender": sender, "how": how, "size": chance.choice((0, 10, 16))}
