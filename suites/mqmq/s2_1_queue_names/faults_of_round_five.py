"""Faults of the fifth round that break rules of MS-MQMQ 2.1 Queue names."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatName, MachineQueuePath, PrivateName
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destinations import Destinations, parse_format_name_of_command
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.model.adm import Queue
from reference_qm.model.enums import QueueAccessType

_HIGHEST_SIGNED_NUMBER = 0x7FFFFFFF


@fault("sender-private-format-name-with-number-above-7fffffff-refused", breaks="MQMQ-2.1.4-D01", blind=True)
class SenderPrivateFormatNameWithNumberAbove7fffffffRefused(Destinations):
    """The sender refuses a message for a private format name with a queue number above 0x7FFFFFFF."""

    def find_local_queue(self, text: str) -> Queue | None:
        name = parse_format_name_of_command(text)
        if isinstance(name, PrivateName) and name.QueueIdentifier > _HIGHEST_SIGNED_NUMBER:
            raise CommandError(f"{text!a} has a negative queue number")
        return super().find_local_queue(text)


@fault("sender-system-queue-of-other-computer-in-multiple-name-accepted", breaks="MQMQ-2.1.7-D01", blind=True)
class SenderSystemQueueOfOtherComputerInMultipleNameAccepted(QueueOpening):
    """The sender accepts a multiple-element format name that contains the direct format name of a system queue of
    another computer.
    """

    def admits_access(self, name: FormatName, required_access: QueueAccessType) -> bool:
        if isinstance(name, MachineQueuePath) and not self.qm.queue_names.is_direct_name_of_own_host(name):
            return True
        return super().admits_access(name, required_access)
