"""Faults of MS-MQSO 7 that only special cases reveal: rights of another queue, the second key of a sender, and
certificates after a restart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.timed_caches import replace_cache
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue
from reference_qm.security.caches import TimedCache


class FirstKeyOfSender(TimedCache[Any]):
    """A cache that returns its first key if it does not contain the requested key."""

    def find(self, matches: Callable[[Any], bool]) -> Any:
        """Return the requested entry; if it is missing, return the first entry."""
        return super().find(matches) or next(iter(self.entries), None)


add(
    "receiver-later-symmetric-key-not-decrypted",
    "MQSO-7.4.1.4.3-D02",
    "If a message contains a symmetric key other than the key of an earlier message, the receiver decrypts the "
    "message with the earlier key.",
    replace_cache("ReceiveSymmetricKeyCache", FirstKeyOfSender),
)


@fault("receiver-right-to-one-queue-granted-for-every-queue", breaks="MQSO-7.3-D01")
class ReceiverRightToOneQueueGrantedForEveryQueue(SecurityOnReceipt):
    """The receiver lets a sender that may write to one queue write to every queue."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        header = packet.SecurityHeader
        sender = b"" if header is None else header.SecurityData.SecurityID
        if sender and sender in getattr(self, "granted", ()):
            return
        super().authorize_sender(packet, queue)
        self.granted = (*getattr(self, "granted", ()), sender)
