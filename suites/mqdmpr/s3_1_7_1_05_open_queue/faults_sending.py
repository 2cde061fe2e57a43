"""Faults of MS-MQDMPR 3.1.7.1.5 Open Queue: what can be opened to send."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import DirectName, PrivateName, PrivateQueuePath, PublicName, PublicQueuePath
from reference_qm.codec.format_names import DistributionListName, MachineName, MultipleElementName
from reference_qm.core.commands.commands import Commands
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destinations import Destinations, parse_name
from reference_qm.core.names.queue_names import OWN_COMPUTER_NAMES, QueueNames
from reference_qm.core.queueing.queue_opening import Opened, QueueOpening
from reference_qm.model.adm import Queue
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.transactions import Transaction
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


def _lost() -> Result:
    """Answer as if a message had been sent that went nowhere."""
    return Result({"message_id": "{00000000-0000-0000-0000-000000000000}\\0"})


@fault("open-unknown-list-is-empty", breaks=("MQDMPR-3.1.7.1.5-05", "MQDMPR-3.1.7.3.8-15"))
class UnknownListIsEmpty(Commands):
    """A distribution list that cannot be resolved counts as one of no queues."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        name = parse_name(request.to)
        elements = name.Elements if isinstance(name, MultipleElementName) else (name,)
        known = [str(one) for one in elements if not isinstance(one, DistributionListName)]
        if not known:
            return _lost()
        to = request.to if len(known) == len(elements) else ",".join(known)
        return super().send_message(replace(request, to=to), token, now)


@fault("open-machine-to-send", breaks="MQDMPR-3.1.7.1.5-42")
class MachineToSend(Commands):
    """A message for a machine is taken, and thrown away."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        return _lost() if isinstance(parse_name(request.to), MachineName) else super().send_message(request, token, now)


@fault(
    "open-own-name-not-known",
    breaks=("MQDMPR-3.1.7.1.5-55", "MQDMPR-3.1.7.1.5-59", "MQDMPR-3.1.7.1.5-61"),
)
class OwnNameNotKnown(QueueNames):
    """A direct name is of another computer unless it has an address."""

    def is_here(self, name: DirectName) -> bool:
        return name.Protocol != "OS" and super().is_here(name)


@fault(
    "open-name-without-domain-not-known",
    breaks=("MQDMPR-3.1.7.1.5-59", "MQDMPR-3.1.7.1.5-61", "MQMQ-2.1.2-D01"),
)
class NameWithoutDomainNotKnown(QueueNames):
    """A direct name with ComputerName is of another computer: only the one with the domain is known."""

    def is_own_host(self, protocol: str, address: str) -> bool:
        return address.lower() != self.qm.adm.ComputerName.lower() and super().is_own_host(protocol, address)


@fault("open-localhost-not-known", breaks=("MQDMPR-3.1.7.1.5-59", "MQMQ-2.1.2-D01"))
class LocalhostNotKnown(QueueNames):
    """A direct name with what every computer calls itself is of a computer of that name."""

    def is_own_host(self, protocol: str, address: str) -> bool:
        return address.lower() not in OWN_COMPUTER_NAMES and super().is_own_host(protocol, address)


@fault("open-every-name-is-own", breaks=("MQDMPR-3.1.7.1.5-55", "MQDMPR-3.1.7.1.5-59"))
class EveryNameIsOwn(QueueNames):
    """A direct name with the name of any computer is one of this computer."""

    def is_here(self, name: DirectName) -> bool:
        return name.Protocol == "OS" or super().is_here(name)


@fault("open-own-queue-that-is-not-there", breaks="MQDMPR-3.1.7.1.5-61")
class OwnQueueThatIsNotThere(Destinations):
    """A message for a queue of this computer that is not there waits, by its direct name."""

    def find_local(self, text: str) -> Queue | None:
        try:
            return super().find_local(text)
        except CommandError:
            if isinstance(parse_name(text), PrivateQueuePath | PublicQueuePath):
                return None
            raise


@fault("open-own-number-that-is-not-there", breaks="MQDMPR-3.1.7.1.5-77")
class OwnNumberThatIsNotThere(Destinations):
    """A message for a queue of this computer that is not there waits, by its number."""

    def find_local(self, text: str) -> Queue | None:
        try:
            return super().find_local(text)
        except CommandError:
            if isinstance(parse_name(text), PrivateName):
                return None
            raise


@fault("open-own-public-queue-that-is-not-there", breaks="MQDMPR-3.1.7.1.5-73")
class OwnPublicQueueThatIsNotThere(Destinations):
    """A message for a public queue of this computer that is not there waits."""

    def find_local(self, text: str) -> Queue | None:
        try:
            return super().find_local(text)
        except CommandError:
            if isinstance(parse_name(text), PublicName):
                return None
            raise


@fault("journals-are-sent-to", breaks="MQDMPR-3.1.7.1.5-48")
class JournalsAreSentTo(Destinations):
    """What is sent by the name of a journal comes into the queue that the journal is of."""

    def find_local(self, text: str) -> Queue | None:
        return super().find_local(text.removesuffix(";JOURNAL"))


@fault("open-several-but-those-not-there", breaks="MQDMPR-3.1.7.1.5-30")
class SeveralButThoseNotThere(Commands):
    """Of several queues those that are not there are left out."""

    def _send_to_several(
        self,
        request: commands.SendMessage,
        several: MultipleElementName,
        transaction: Transaction | None,
        now: Now,
    ) -> Result:
        there = tuple(one for one in several.Elements if self._is_there(str(one)))
        several = MultipleElementName(there)
        return super()._send_to_several(replace(request, to=str(several)), several, transaction, now)

    def _is_there(self, text: str) -> bool:
        try:
            self.qm.destinations.find_local(text)
        except CommandError:
            return False
        return True


@fault("open-several-alone", breaks="MQDMPR-3.1.7.1.5-12")
class SeveralAlone(QueueOpening):
    """Several queues are opened to send, whatever sharing mode is asked for."""

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        return super()._open_several(name, required_access, QueueShareMode.DENY_NONE, now)


@fault("open-several-once", breaks=("MQDMPR-3.1.7.1.5-21", "MQDMPR-3.1.7.1.5-34"))
class SeveralOnce(QueueOpening):
    """Several queues that are open together already are not opened anew."""

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        known = (one for one in self.qm.descriptors.values() if one.Multiple and one.FormatName == str(name))
        first = next(known, None)
        if first is not None:
            return super()._open_several(name, required_access, shared_mode, now)[0], first
        return super()._open_several(name, required_access, shared_mode, now)
