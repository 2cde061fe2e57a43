"""Faults that break rules of MS-MQDMPR 3.1.7.1.5 Open Queue about format names that can be opened for sending."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import DirectName, PrivateName, PrivateQueuePath, PublicName, PublicQueuePath
from reference_qm.codec.format_names import DistributionListName, MachineName, MultipleElementName
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import DestinationResolving, parse_format_name_of_command
from reference_qm.core.names.queue_names import OWN_COMPUTER_NAMES, QueueNames
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.model.adm import Queue
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.transactions import Transaction
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


def _discard_sent_message() -> Result:
    """Return success without sending the message."""
    return Result({"message_id": "{00000000-0000-0000-0000-000000000000}\\0"})


@fault("unknown-distribution-list-treated-as-empty", breaks=("MQDMPR-3.1.7.1.5-05", "MQDMPR-3.1.7.3.8-15"))
class UnknownDistributionListTreatedAsEmpty(HigherLayerCommands):
    """The queue manager treats a distribution list that it cannot resolve as an empty list."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        name = parse_format_name_of_command(request.to)
        elements = name.Elements if isinstance(name, MultipleElementName) else (name,)
        known = [str(one) for one in elements if not isinstance(one, DistributionListName)]
        if not known:
            return _discard_sent_message()
        to = request.to if len(known) == len(elements) else ",".join(known)
        return super().send_message(replace(request, to=to), token, now)


@fault("machine-format-name-opened-to-send", breaks="MQDMPR-3.1.7.1.5-42")
class MachineFormatNameOpenedToSend(HigherLayerCommands):
    """The queue manager accepts a message for a machine format name and discards it."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        return (
            _discard_sent_message()
            if isinstance(parse_format_name_of_command(request.to), MachineName)
            else super().send_message(request, token, now)
        )


@fault(
    "direct-name-of-local-computer-treated-as-remote",
    breaks=("MQDMPR-3.1.7.1.5-55", "MQDMPR-3.1.7.1.5-59", "MQDMPR-3.1.7.1.5-61"),
)
class DirectNameOfLocalComputerTreatedAsRemote(QueueNames):
    """The queue manager treats the local computer's name in a direct format name as the name of another computer."""

    def is_direct_name_of_own_host(self, name: DirectName) -> bool:
        return name.Protocol != "OS" and super().is_direct_name_of_own_host(name)


@fault(
    "direct-name-without-domain-treated-as-remote",
    breaks=("MQDMPR-3.1.7.1.5-59", "MQDMPR-3.1.7.1.5-61", "MQMQ-2.1.2-D01"),
)
class DirectNameWithoutDomainTreatedAsRemote(QueueNames):
    """The queue manager recognizes the local computer in a direct format name only by the name with the domain, not by
    ComputerName.
    """

    def is_own_host(self, protocol: str, address: str) -> bool:
        return address.lower() != self.qm.adm.ComputerName.lower() and super().is_own_host(protocol, address)


@fault("direct-name-localhost-treated-as-remote", breaks=("MQDMPR-3.1.7.1.5-59", "MQMQ-2.1.2-D01"))
class DirectNameLocalhostTreatedAsRemote(QueueNames):
    """The queue manager treats localhost and a period in a direct format name as the name of another computer."""

    def is_own_host(self, protocol: str, address: str) -> bool:
        return address.lower() not in OWN_COMPUTER_NAMES and super().is_own_host(protocol, address)


@fault("direct-name-of-any-computer-treated-as-local", breaks=("MQDMPR-3.1.7.1.5-55", "MQDMPR-3.1.7.1.5-59"))
class DirectNameOfAnyComputerTreatedAsLocal(QueueNames):
    """The queue manager treats every computer name in a direct format name as the name of the local computer."""

    def is_direct_name_of_own_host(self, name: DirectName) -> bool:
        return name.Protocol == "OS" or super().is_direct_name_of_own_host(name)


@fault("direct-name-with-any-ip-address-treated-as-local", breaks=("MQDMPR-3.1.7.1.5-55", "MQDMPR-3.1.7.1.5-59"))
class DirectNameWithAnyIpAddressTreatedAsLocal(QueueNames):
    """The queue manager treats every IP address in a direct format name as an address of the local computer."""

    def is_direct_name_of_own_host(self, name: DirectName) -> bool:
        return name.Protocol == "TCP" or super().is_direct_name_of_own_host(name)


@fault("missing-local-queue-opened-by-direct-name", breaks="MQDMPR-3.1.7.1.5-61")
class MissingLocalQueueOpenedByDirectName(DestinationResolving):
    """The queue manager accepts a message for a missing local queue that is named by a direct format name."""

    def find_local_queue(self, text: str) -> Queue | None:
        try:
            return super().find_local_queue(text)
        except CommandError:
            if isinstance(parse_format_name_of_command(text), PrivateQueuePath | PublicQueuePath):
                return None
            raise


@fault("missing-local-queue-opened-by-private-name", breaks="MQDMPR-3.1.7.1.5-77")
class MissingLocalQueueOpenedByPrivateName(DestinationResolving):
    """The queue manager accepts a message for a missing local queue that is named by a private format name."""

    def find_local_queue(self, text: str) -> Queue | None:
        try:
            return super().find_local_queue(text)
        except CommandError:
            if isinstance(parse_format_name_of_command(text), PrivateName):
                return None
            raise


@fault("missing-local-queue-opened-by-public-name", breaks="MQDMPR-3.1.7.1.5-73")
class MissingLocalQueueOpenedByPublicName(DestinationResolving):
    """The queue manager accepts a message for a missing local public queue."""

    def find_local_queue(self, text: str) -> Queue | None:
        try:
            return super().find_local_queue(text)
        except CommandError:
            if isinstance(parse_format_name_of_command(text), PublicName):
                return None
            raise


@fault("message-to-journal-format-name-stored-in-queue-of-journal", breaks="MQDMPR-3.1.7.1.5-48")
class MessageToJournalFormatNameStoredInQueueOfJournal(DestinationResolving):
    """The queue manager stores a message to the format name of a journal in the queue to which the journal belongs."""

    def find_local_queue(self, text: str) -> Queue | None:
        return super().find_local_queue(text.removesuffix(";JOURNAL"))


@fault("missing-queue-of-several-skipped", breaks="MQDMPR-3.1.7.1.5-30")
class MissingQueueOfSeveralSkipped(HigherLayerCommands):
    """When some queues of a multiple-element format name are missing, the queue manager opens the remaining queues."""

    def _send_copy_to_each_queue(
        self,
        request: commands.SendMessage,
        several: MultipleElementName,
        transaction: Transaction | None,
        now: Now,
    ) -> Result:
        there = tuple(one for one in several.Elements if self._does_local_queue_exist(str(one)))
        several = MultipleElementName(there)
        return super()._send_copy_to_each_queue(replace(request, to=str(several)), several, transaction, now)

    def _does_local_queue_exist(self, text: str) -> bool:
        try:
            self.qm.destination_resolving.find_local_queue(text)
        except CommandError:
            return False
        return True


@fault("several-queues-opened-with-deny-receive", breaks="MQDMPR-3.1.7.1.5-12")
class SeveralQueuesOpenedWithDenyReceive(QueueOpening):
    """The queue manager opens several queues for sending with DenyReceive."""

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        return super()._open_queues_of_multiple_element_name(name, required_access, QueueShareMode.DENY_NONE, now)


@fault("second-open-of-several-queues-returns-first-handle", breaks=("MQDMPR-3.1.7.1.5-21", "MQDMPR-3.1.7.1.5-34"))
class SecondOpenOfSeveralQueuesReturnsFirstHandle(QueueOpening):
    """When several queues are opened together again, the queue manager returns the handle of the first request."""

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        known = (one for one in self.qm.descriptors.values() if one.Multiple and one.FormatName == str(name))
        first = next(known, None)
        if first is not None:
            return super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)[0], first
        return super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)
