"""MS-MQDMPR 3.1.7.1.5 Open Queue: distribution lists, and queues of other computers with similar names."""

from __future__ import annotations

import ipaddress
from functools import partial

from harness.expectations import each, holds
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.sut.sut_file import (
    GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE,
    GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE,
    PEER_PUBLIC_QUEUE,
)
from suites.mqdmpr.steps import openings
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqdmpr.steps.distribution_lists import create_distribution_list
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.opening import PEER_QUEUE_BY_HOST_NAME
from suites.mqqb.steps.sender import Sender

GUID_OF_UNKNOWN_LIST_MEMBER = "6d71636f-6e66-4f72-8d00-0000000000d9"
"""An identifier that no object has."""
MISSING_PRIVATE_QUEUE_NUMBER = 0xFFF0_0001
"""A number that no private queue has."""
IPV6_ADDRESSES = ("2001:db8::5:7", "2001:db8::5:8")
"""Addresses that no computer has. Spec: RFC 3849."""
MESSAGE_LIFETIME_S = 20
TAG_OF_MESSAGE_TO_HOST_NAME = 0x4111


def _read_identifier_of_public_queue(enterprise, queue):
    """Return the Identifier in the directory object of a public queue."""
    return str(enterprise.read_directory_object(queue)["identifier"])


@needs("open_to_send", "queue_control", "several_queues", "directory", "environment")
@covers("MQDMPR-3.1.7.1.5-05", "MQDMPR-3.1.7.1.5-12", "MQDMPR-3.1.7.1.5-30")
def test_distribution_list_is_opened_completely_or_not(peer, sut, judge):
    """A distribution list of two local queues can be opened for sending with DenyNone, but not with DenyReceive. The
    SUT opens neither a list with a public queue that exists only as a directory object, nor a list that contains a list
    with an unknown member.
    """
    enterprise = Enterprise(peer, sut)
    identifiers = [_read_identifier_of_public_queue(enterprise, enterprise.create_queue()) for _ in range(2)]
    missing = f"mqc-{sut.own}-gone"
    peer.call_at_end_of_test(partial(sut.change_directory_object, queue=missing, present=False))
    gone = sut.change_directory_object(queue=missing, present=True)
    members = [*identifiers, *([] if gone is None else [str(gone["identifier"])])]
    _, partly = create_distribution_list(peer, sut, "partly", members)
    broken_identifier, _ = create_distribution_list(peer, sut, "broken", [GUID_OF_UNKNOWN_LIST_MEMBER])
    _, outer = create_distribution_list(peer, sut, "outer", [*identifiers, broken_identifier])
    _, fine = create_distribution_list(peer, sut, "fine", identifiers)
    listed = sut.change_directory_object(distribution_list=f"mqc-{sut.own}-broken") or {}

    def is_list_of_existing_queues_opened() -> bool:
        return openings.open_to_send(sut, fine) == Outcome.DONE

    opened = peer.eventually(is_list_of_existing_queues_opened)
    judge(
        "MQDMPR-3.1.7.1.5-12",
        expected={"DenyNone": True, "DenyReceive": Outcome.REFUSED},
        observed={"DenyNone": opened, "DenyReceive": openings.open_to_send(sut, fine, deny_receive=True)},
        case="whether the list can be opened",
    )
    if gone is None:
        judge.mark_not_exercised("MQDMPR-3.1.7.1.5-30", reason="the directory did not create the object of a queue")
    else:
        judge(
            "MQDMPR-3.1.7.1.5-30",
            expected=Outcome.REFUSED,
            observed=openings.open_to_send(sut, partly),
            case="open of a list with a missing queue",
        )
    if [str(one).lower() for one in listed.get("members", [])] != [GUID_OF_UNKNOWN_LIST_MEMBER]:
        reason = "the directory contains no distribution list with an unknown member"
        judge.mark_not_exercised("MQDMPR-3.1.7.1.5-05", reason=reason)
        return
    judge(
        "MQDMPR-3.1.7.1.5-05",
        expected=Outcome.REFUSED,
        observed=openings.open_to_send(sut, outer),
        case="open of a list that contains a list with an unknown member",
    )


@needs("open_to_send", "queue_control", "several_queues")
@covers("MQDMPR-3.1.7.1.5-30")
def test_several_private_names_are_opened_completely_or_not(peer, sut, judge):
    """Two private names, a private name and a direct name, and a private name and a remote queue can be opened
    together. If the private name of a missing queue is added, at any position, the SUT refuses to open them.
    """
    queues = [sut.new_queue(one) for one in ("first", "second")]
    private = [sut.private_format_name(one) for one in queues]
    missing = f"PRIVATE={sut.guid}\\{MISSING_PRIVATE_QUEUE_NUMBER:08x}"
    several = (private, [private[0], sut.direct_name(queues[1])], [private[0], peer.direct_name(f"mqc-{sut.own}")])
    complete = {",".join(names): openings.open_to_send(sut, ",".join(names)) for names in several}
    partly = [",".join([*names[:at], missing, *names[at:]]) for names in several for at in range(len(names) + 1)]
    judge("MQDMPR-3.1.7.1.5-30", expected=each(Outcome.DONE, "open"), observed=complete, case="existing queues")
    judge(
        "MQDMPR-3.1.7.1.5-30",
        expected=each(Outcome.REFUSED, "open"),
        observed={to: openings.open_to_send(sut, to) for to in partly},
        case="existing queues and a missing one",
    )


@needs("send", "two_addresses")
@covers("MQDMPR-3.1.7.1.5-55")
def test_whole_host_name_is_the_address(peer, sut, judge):
    """A message to a direct name with the protocol OS and a host name with a domain arrives at the host of this
    name.
    """
    peer.listen(ignore_incoming=True)
    sut.send(PEER_QUEUE_BY_HOST_NAME, body="by name", application_tag=TAG_OF_MESSAGE_TO_HOST_NAME)
    frames = peer.inbox.wait(lambda frame: Sender.list_tags([frame]) == [TAG_OF_MESSAGE_TO_HOST_NAME])
    peer.inbox.acknowledge()
    judge(
        "MQDMPR-3.1.7.1.5-55",
        expected=holds("the message arrives at the host", otherwise="no message arrives"),
        observed=bool(frames),
        evidence=frames,
        case="message to a host name with a domain",
    )


@needs("send", "inspect")
@covers("MQDMPR-3.1.7.1.5-55")
def test_whole_ipv6_address_is_the_address(peer, sut, judge):
    """The only next hop of an outgoing queue with an IPv6 address in its direct name is this address."""
    names = {one: rf"DIRECT=TCP:{one}\private$\mqc-{sut.own}" for one in IPV6_ADDRESSES}
    outcomes = {sut.attempt(sut.send, to, time_to_reach_queue_s=MESSAGE_LIFETIME_S) for to in names.values()}
    peer.settle()
    queues = {one["DestinationFormatName"].lower(): one["NextHops"] for one in sut.inspect()["OutgoingQueues"]}
    hops = {address: queues.get(to.lower()) or [] for address, to in names.items()}
    if outcomes != {Outcome.DONE} or not all(hops.values()):
        judge.mark_not_exercised("MQDMPR-3.1.7.1.5-55", reason="the SUT does not send to IPv6 addresses")
        return
    judge(
        "MQDMPR-3.1.7.1.5-55",
        expected={one: [ipaddress.ip_address(one)] for one in IPV6_ADDRESSES},
        observed={one: [_parse_next_hop(hop) for hop in found] for one, found in hops.items()},
        case="next hops of the outgoing queues",
    )


def _parse_next_hop(text):
    """Return the address in a next hop (MS-MQMQ 2.3.12.12), or the text if it contains no address."""
    try:
        return ipaddress.ip_address(text.rpartition("=")[2])
    except ValueError:
        return text


@needs("send", "directory")
@covers("MQDMPR-3.1.7.1.5-71", "MQDMPR-3.1.7.1.5-86")
def test_each_public_queue_is_identified_by_its_guid(peer, sut, judge):
    """Two public queues of different computers have the same queue name and similar GUIDs. The SUT sends to each of
    them, in either order: each message is addressed to its queue and to the computer of this queue.
    """
    managers = {
        PEER_PUBLIC_QUEUE: peer.identifier,
        GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE: GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE,
    }
    order = (GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, PEER_PUBLIC_QUEUE, GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE)
    peer.listen(ignore_incoming=True)
    for tag, queue in enumerate(order, start=1):
        sut.send(f"PUBLIC={queue}", body=f"message {tag}", application_tag=tag)
    frames = peer.inbox.wait(lambda frame: Sender.list_tags([frame])[0] in range(1, 4), len(order))
    peer.inbox.acknowledge()
    fields = {Sender.list_tags([frame])[0]: Layout(frame).fields for frame in frames}
    judge(
        "MQDMPR-3.1.7.1.5-71",
        "MQDMPR-3.1.7.1.5-86",
        expected={tag: (str(queue), str(managers[queue])) for tag, queue in enumerate(order, start=1)},
        observed={
            tag: (str(one["UserHeader.DestinationQueue"]), str(one["UserHeader.QueueManagerAddress"]))
            for tag, one in sorted(fields.items())
        },
        evidence=frames,
        case="queue and queue manager of each message",
    )
