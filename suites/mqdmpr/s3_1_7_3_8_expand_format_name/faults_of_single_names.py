"""Faults in the expansion of a format name of a single queue (MQDMPR-3.1.7.3.8-05)."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import FormatName, PrivateName, PrivateQueuePath
from reference_qm.core.names.queue_names import QueueNames


@fault("queue-manager-host-name-of-own-computer-expanded-to-address", breaks="MQDMPR-3.1.7.3.8-05", blind=True)
class QueueManagerHostNameOfOwnComputerExpandedToAddress(QueueNames):
    """A direct format name with the host name of the local computer is expanded to a direct format name with the
    computer's address.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        name = super().expand_format_name(text)
        if isinstance(name, PrivateQueuePath) and name.Protocol == "OS" and self.is_direct_name_of_own_host(name):
            return replace(name, Protocol="TCP", ProtocolAddressSpecification=self.qm.config.addresses[0])
        return name


@fault("queue-manager-private-name-of-own-queue-expanded-to-direct-name", breaks="MQDMPR-3.1.7.3.8-05", blind=True)
class QueueManagerPrivateNameOfOwnQueueExpandedToDirectName(QueueNames):
    """The private format name of a local queue is expanded to the direct format name of the queue."""

    def expand_format_name(self, text: str) -> FormatName | None:
        name = super().expand_format_name(text)
        queue = self.find_queue_by_format_name(name) if isinstance(name, PrivateName) and not name.Journal else None
        if queue is None:
            return name
        return PrivateQueuePath("TCP", self.qm.config.addresses[0], queue.Pathname.partition("\\")[2])
