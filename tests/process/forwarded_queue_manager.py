"""The reference queue manager behind a forwarded port; run, it is ``mqconform serve``.

Its own address is another than the one at which it is reached, and it drops what is addressed to a name that is not its
own, as Windows does (KB306785).
"""

from __future__ import annotations

from typing import Any

from reference_qm.codec import DirectQueueFormatName, UserMessagePacket
from reference_qm.config import QueueManagerConfig
from reference_qm.core.protocol.receiving import Receiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.shell import cli, settings
from reference_qm.surface.clock import Now

OWN_ADDRESS = "10.0.2.15"
take = Receiving.take_message


def take_of_own(
    self: Receiving, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
) -> None:
    """Take what is addressed to an own name; acknowledge the rest on the session, and drop it."""
    to = packet.UserHeader.DestinationQueue
    direct = to.DirectFormatName.partition("\\")[0] if isinstance(to, DirectQueueFormatName) else None
    if direct in (None, f"TCP:{OWN_ADDRESS}"):
        take(self, session, packet, receipt, now)
    else:
        receipt.done = True


def configured(**values: Any) -> QueueManagerConfig:
    """Return a configuration with an address that nobody else knows."""
    return QueueManagerConfig(**(values | {"addresses": (OWN_ADDRESS,)}))


if __name__ == "__main__":
    Receiving.take_message = take_of_own  # type: ignore[method-assign]
    settings.QueueManagerConfig = configured  # type: ignore[assignment,misc]
    cli.main()
