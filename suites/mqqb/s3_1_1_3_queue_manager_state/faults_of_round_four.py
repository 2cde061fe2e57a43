"""Faults that break rules of MS-MQQB 3.1.1.3 Queue Manager State and of 3.1.1.3.2, written without knowledge of the
checks.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import OutgoingMessagePosition
from reference_qm.surface.clock import Now


@fault("sender-messages-sorted-by-key-as-text-after-restart", breaks="MQQB-3.1.1.3.2-02", blind=True)
class SenderMessagesSortedByKeyAsTextAfterRestart(StateRestoring):
    """The sender restores the messages of OutgoingMessageTable in the order of their keys as text, so that message 10
    precedes message 9.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        for queue in self.qm.adm.OutgoingQueues.values():
            table = queue.session.OutgoingMessageTable
            for position in sorted(table, key=_get_message_key_as_text):
                table.remove(position)
                table.add(position)


def _get_message_key_as_text(position: OutgoingMessagePosition) -> str:
    return str(position.MessagePosition.key)


@fault("receiver-key-cache-keeps-only-last-key-of-each-sender", breaks="MQQB-3.1.1.3-06", blind=True)
class ReceiverKeyCacheKeepsOnlyLastKeyOfEachSender(SecurityOnReceipt):
    """The receiver's ReceiveSymmetricKeyCache contains only the latest CachedSymmetricKey of each RemoteQMGuid."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        decrypted = super().decrypt_body(packet, now)
        cache = self.qm.caches.ReceiveSymmetricKeyCache
        newest = {entry.RemoteQMGuid: entry for entry in cache.entries}
        cache.entries = list(newest.values())
        return decrypted
