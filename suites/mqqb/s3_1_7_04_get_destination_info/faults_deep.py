"""Faults of MS-MQQB 3.1.7.4 Get Destination Info that occur only for a second destination of the same kind."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PrivateName, PublicName, parse_format_name
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.part import QM


class _RememberingDestinations(NextHops):
    """Remember the destinations of earlier format names."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.known: dict[str, Destination] = {}

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = self.find_destination(format_name)
        if found is not None:
            self.known.setdefault(format_name, found)
        return found

    def find_destination(self, format_name: str) -> Destination | None:
        return super().get_destination_info(format_name)


@fault("initiator-second-direct-name-host-of-first", breaks="MQQB-3.1.7.4-04", blind=True)
class InitiatorSecondDirectNameHostOfFirst(_RememberingDestinations):
    """The initiator uses the host of the first direct format name for direct names of the same queue on other hosts."""

    def find_destination(self, format_name: str) -> Destination | None:
        queue = format_name.partition("\\")[2].lower()
        for known, found in self.known.items():
            if queue and known.partition("\\")[2].lower() == queue:
                return found
        return super().find_destination(format_name)


@fault("initiator-unknown-public-name-like-known-public-name", breaks="MQQB-3.1.7.4-11", blind=True)
class InitiatorUnknownPublicNameLikeKnownPublicName(_RememberingDestinations):
    """The initiator sends a message for an unknown public queue to the queue manager of an earlier public queue."""

    def find_destination(self, format_name: str) -> Destination | None:
        found = super().find_destination(format_name)
        if found is None and isinstance(parse_format_name(format_name), PublicName):
            for known, earlier in self.known.items():
                if isinstance(parse_format_name(known), PublicName):
                    return earlier
        return found


@fault("initiator-second-private-name-queue-manager-of-same-queue-number", breaks="MQQB-3.1.7.4-16", blind=True)
class InitiatorSecondPrivateNameQueueManagerOfSameQueueNumber(_RememberingDestinations):
    """For a private format name, the initiator uses the queue manager of an earlier private format name
    with the same queue number.
    """

    def find_destination(self, format_name: str) -> Destination | None:
        name = parse_format_name(format_name)
        if isinstance(name, PrivateName):
            for known, found in self.known.items():
                earlier = parse_format_name(known)
                if isinstance(earlier, PrivateName) and earlier.QueueIdentifier == name.QueueIdentifier:
                    return found
        return super().find_destination(format_name)


@fault("initiator-second-public-name-queue-manager-of-first", breaks="MQQB-3.1.7.4-13", blind=True)
class InitiatorSecondPublicNameQueueManagerOfFirst(_RememberingDestinations):
    """The initiator uses the queue manager of the first public format name for every public format name."""

    def find_destination(self, format_name: str) -> Destination | None:
        if isinstance(parse_format_name(format_name), PublicName):
            for known, found in self.known.items():
                if isinstance(parse_format_name(known), PublicName):
                    return found
        return super().find_destination(format_name)
