"""Faults that break the rules MQQB-3.1.5.2.1-23 to MQQB-3.1.5.2.1-37."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.made_up import MADE_UP_GUID, UNUSED_ADDRESS
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import Install, add
from reference_qm.codec import (
    NULL_GUID,
    ConnectionParametersPacket,
    PublicName,
    parse_format_name,
)
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import OutgoingQueue, Session
from reference_qm.surface.clock import Now


@fault("initiator-next-hops-keep-earlier-addresses", breaks="MQQB-3.1.5.2.1-23")
class InitiatorNextHopsKeepEarlierAddresses(SessionAddressResolving):
    """The initiator's NextHops keeps the addresses of earlier attempts."""

    def resolve_host_address(self, session: Session, now: Now) -> None:
        queue = get_outgoing_queue(session)
        earlier = list(queue.NextHops)
        super().resolve_host_address(session, now)
        queue.NextHops[:0] = earlier


@fault("initiator-next-hops-address-without-prefix", breaks="MQQB-3.1.5.2.1-27")
class InitiatorNextHopsAddressWithoutPrefix(SessionAddressResolving):
    """The initiator's NextHops lists addresses without the prefix IP= or IPv6=."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        hops = get_outgoing_queue(session).NextHops
        hops[:] = [hop.partition("=")[2] for hop in hops]


_earlier_next_hops_by_queue_id: dict[int, list[str]] = {}


@fault("initiator-next-hops-of-earlier-attempt-kept", breaks="MQQB-3.1.5.2.1-27", blind=True)
class InitiatorNextHopsOfEarlierAttemptKept(SessionAddressResolving):
    """The initiator keeps the addresses of earlier attempts in NextHops, so each retry adds a further copy of each
    address.
    """

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        queue = get_outgoing_queue(session)
        old = list(_earlier_next_hops_by_queue_id.get(id(queue), []))
        super().connect_to_resolved_addresses(session, now)
        queue.NextHops[:0] = old
        _earlier_next_hops_by_queue_id[id(queue)] = list(queue.NextHops)


@fault("initiator-next-hops-without-last-address", breaks="MQQB-3.1.5.2.1-27", blind=True)
class InitiatorNextHopsWithoutLastAddress(SessionAddressResolving):
    """The initiator does not put the last of several addresses into NextHops."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        hops = get_outgoing_queue(session).NextHops
        if len(hops) > 1:
            hops.pop()


@fault("initiator-next-hop-collection-contains-last-hop-twice", breaks=("MQQB-3.1.5.2.1-28", "MQQB-3.1.5.2.1-32"))
class InitiatorNextHopCollectionContainsLastHopTwice(SessionAddressResolving):
    """The initiator's NextHopCollection contains its last NextHop twice."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        session.NextHopCollection += session.NextHopCollection[-1:]


@fault("initiator-next-hops-without-third-address-of-host", breaks="MQQB-3.1.5.2.1-28", blind=True)
class InitiatorNextHopsWithoutThirdAddressOfHost(SessionAddressResolving):
    """The initiator creates a NextHop only for the first two addresses of a host name."""

    def store_addresses(self, session: Session, host: str, addresses: tuple[str, ...], now: Now) -> None:
        super().store_addresses(session, host, addresses[:2], now)


@fault("initiator-third-address-never-used", breaks=("MQQB-3.1.5.2.1-28", "MQQB-3.1.5.2.1-32"), blind=True)
class InitiatorThirdAddressNeverUsed(SessionAddressResolving):
    """The initiator creates a NextHop only for the first two addresses of a host."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        session.addresses = {host: found[:2] for host, found in session.addresses.items()}
        super().connect_to_resolved_addresses(session, now)


def _change_next_hops(**changes: Any) -> Install:
    """Change attributes of each next hop."""

    class NextHopChanged(SessionAddressResolving):
        def select_next_hop(self, session: Session) -> None:
            session.NextHopCollection[:] = [replace(hop, **changes) for hop in session.NextHopCollection]
            super().select_next_hop(session)

    return replace_part(NextHopChanged)


add(
    "initiator-next-hop-host-name-wrong",
    "MQQB-3.1.5.2.1-29",
    "HostName of the initiator's NextHop is not the name of that hop.",
    _change_next_hops(HostName="elsewhere.invalid"),
)


add(
    "initiator-next-hop-qm-guid-wrong",
    "MQQB-3.1.5.2.1-30",
    "QMGuid of the initiator's NextHop is not the Identifier of that hop.",
    _change_next_hops(QMGuid=MADE_UP_GUID),
)


@fault("initiator-next-hop-address-wrong", breaks="MQQB-3.1.5.2.1-31")
class InitiatorNextHopAddressWrong(SessionEstablishing):
    """The initiator sets Address of a NextHop to an address that is not the resolved address."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        session.NextHopCollection[:] = [replace(hop, Address=UNUSED_ADDRESS) for hop in session.NextHopCollection]
        session.RemoteQMAddress = UNUSED_ADDRESS


class _SelectionOfSecondNextHopFirst(SessionAddressResolving):
    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        session.NextHopIndexer = 1


class _RestorerOfNextHopIndexer(SessionOpening):
    """Set NextHopIndexer back to the existing NextHop before the indexer is used."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        session.NextHopIndexer = 0
        super().receive_parameters_response(session, packet, now)


add(
    "initiator-next-hop-indexer-begins-at-second",
    "MQQB-3.1.5.2.1-33",
    "The initiator's NextHopIndexer begins at the second NextHop.",
    combine_installers(replace_part(_SelectionOfSecondNextHopFirst), replace_part(_RestorerOfNextHopIndexer)),
)


@fault("initiator-next-hop-indexer-not-reset-by-new-resolution", breaks="MQQB-3.1.5.2.1-33")
class InitiatorNextHopIndexerNotResetByNewResolution(SessionAddressResolving):
    """When the initiator resolves the name again, its NextHopIndexer stays at the address that it tried last."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        self.last = session.NextHopIndexer
        super().connect_to_resolved_addresses(session, now)

    def select_next_hop(self, session: Session) -> None:
        session.NextHopIndexer = max(session.NextHopIndexer, self.last)
        super().select_next_hop(session)


@fault("initiator-connects-to-last-address-first-in-retry", breaks="MQQB-3.1.5.2.1-33", blind=True)
class InitiatorConnectsToLastAddressFirstInRetry(SessionAddressResolving):
    """When the addresses are resolved again in a retry, the initiator begins with the last address."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        for host, addresses in session.addresses.items():
            if session.is_retrying_connection:
                session.addresses[host] = tuple(reversed(addresses))
        super().connect_to_resolved_addresses(session, now)


def _replace_remote_session_element(element: str, value: object) -> Install:
    """After the request is sent, set one of the session elements that are copied from the next hop to a wrong value."""

    class RemoteElementChanged(SessionEstablishing):
        def send_establish_request(self, session: Session, now: Now) -> None:
            super().send_establish_request(session, now)
            setattr(session, element, value)

    return replace_part(RemoteElementChanged)


add(
    "initiator-session-remote-address-not-of-next-hop",
    ("MQQB-3.1.5.2.1-34", "MQQB-3.1.5.2.1-35"),
    "The initiator's RemoteQMAddress is not the Address of the NextHop.",
    _replace_remote_session_element("RemoteQMAddress", UNUSED_ADDRESS),
)


add(
    "initiator-session-remote-host-name-not-of-next-hop",
    ("MQQB-3.1.5.2.1-34", "MQQB-3.1.5.2.1-36"),
    "The initiator's RemoteQMHostName is not the HostName of the NextHop.",
    _replace_remote_session_element("RemoteQMHostName", "elsewhere.invalid"),
)


add(
    "initiator-session-remote-guid-not-of-next-hop",
    ("MQQB-3.1.5.2.1-34", "MQQB-3.1.5.2.1-37"),
    "The initiator's RemoteQMGuid is not the QMGuid of the NextHop.",
    _replace_remote_session_element("RemoteQMGuid", NULL_GUID),
)


@fault("initiator-remote-qm-guid-is-that-of-destination-behind-router", breaks="MQQB-3.1.5.2.1-37", blind=True)
class InitiatorRemoteQmGuidIsThatOfDestinationBehindRouter(SessionAddressResolving):
    """The initiator sets RemoteQMGuid to the Identifier of the destination's queue manager, even if the next hop is a
    router, which has a different Identifier.
    """

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        if session.destination != NULL_GUID:
            session.RemoteQMGuid = session.destination


class _UnknownPublicQueueRefusal(DestinationResolving):
    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        name = parse_format_name(text)
        if isinstance(name, PublicName) and name.QueueGuid not in self.qm.config.public_queues:
            raise CommandError(f"queue {text} does not exist: MQ_ERROR_QUEUE_NOT_FOUND (MS-MQDMPR 3.1.7.1.5)")
        return super().open_outgoing_queue(text, now)


add(
    "sender-message-to-unknown-public-queue-refused",
    (),
    "Tolerated: the sender refuses a message to a public queue that is in no directory (MS-MQDMPR 3.1.7.1.5).",
    replace_part(_UnknownPublicQueueRefusal),
)


@fault("initiator-next-hop-only-for-first-address-when-host-resolved-again", breaks="MQQB-3.1.5.2.1-28", blind=True)
class InitiatorNextHopOnlyForFirstAddressWhenHostResolvedAgain(SessionAddressResolving):
    """The initiator creates only one NextHop, for the first address of each host, when it resolves the host of an
    outgoing queue for the second time or later.
    """

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        if get_outgoing_queue(session).ConnectionHistory:
            session.addresses = {host: found[:1] for host, found in session.addresses.items()}
        super().connect_to_resolved_addresses(session, now)
