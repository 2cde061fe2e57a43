"""Faults of the fifth round that break rules of MS-MQMQ 2.1 Queue names."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import FormatError, MachineQueuePath, PrivateName, parse_format_name
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import DestinationResolving, parse_format_name_of_command
from reference_qm.model.adm import Queue
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

_HIGHEST_SIGNED_NUMBER = 0x7FFFFFFF


@fault("sender-private-format-name-with-number-above-7fffffff-refused", breaks="MQMQ-2.1.4-D01", blind=True)
class SenderPrivateFormatNameWithNumberAbove7fffffffRefused(DestinationResolving):
    """The sender refuses a message for a private format name with a queue number above 0x7FFFFFFF."""

    def find_local_queue(self, text: str) -> Queue | None:
        name = parse_format_name_of_command(text)
        if isinstance(name, PrivateName) and name.QueueIdentifier > _HIGHEST_SIGNED_NUMBER:
            raise CommandError(f"{text!a} has a negative queue number")
        return super().find_local_queue(text)


@fault("sender-system-queue-of-other-computer-in-multiple-name-accepted", breaks="MQMQ-2.1.7-D01", blind=True)
class SenderSystemQueueOfOtherComputerInMultipleNameAccepted(HigherLayerCommands):
    """The sender accepts a multiple-element format name that contains the direct format name of a system queue of
    another computer.
    """

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        elements = request.to.split(",")
        kept = [one for one in elements if not self._is_system_queue_of_other_computer(one)]
        if kept and len(elements) > 1:
            request = replace(request, to=",".join(kept))
        return super().send_message(request, token, now)

    def _is_system_queue_of_other_computer(self, text: str) -> bool:
        try:
            name = parse_format_name(text)
        except FormatError:
            return False
        return isinstance(name, MachineQueuePath) and not self.qm.queue_names.is_direct_name_of_own_host(name)
