"""Faults of round five that break rules of MS-MQSO 5.1.1.2 Queues and Queue States."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PrivateName, parse_format_name
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.model.adm import OutgoingQueue
from reference_qm.surface.clock import Now


@fault("sender-outgoing-queue-shared-by-private-names-of-a-machine", breaks="MQSO-5.1.1.2-D07", blind=True)
class SenderOutgoingQueueSharedByPrivateNamesOfAMachine(DestinationResolving):
    """The sender puts the messages for all private format names with the same ComputerGuid into one outgoing queue."""

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        name = parse_format_name(text)
        if isinstance(name, PrivateName) and text.lower() not in self.qm.adm.OutgoingQueues:
            for queue in self.qm.adm.OutgoingQueues.values():
                known = parse_format_name(queue.DestinationFormatName)
                if isinstance(known, PrivateName) and known.ComputerGuid == name.ComputerGuid:
                    return queue
        return super().open_outgoing_queue(text, now)
