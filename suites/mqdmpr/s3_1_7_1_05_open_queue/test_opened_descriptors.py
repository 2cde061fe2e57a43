"""MS-MQDMPR 3.1.7.1.5 Open Queue: the attributes of OpenQueueDescriptors and outgoing queues."""

from __future__ import annotations

from uuid import UUID, uuid5

import pytest

from harness.expectations import any_order, distinct_values, each, holds, none
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.sut_file import (
    BASE_PRIORITY_OF_QUEUE_IN_OTHER_SITE,
    GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE,
    PEER_PUBLIC_QUEUE,
)
from harness.wire import PublicQueueFormatName
from suites.mqdmpr.steps import openings
from suites.mqdmpr.steps.opened_descriptors import list_format_names_of_descriptor, map_opened_descriptors_by_handle
from suites.mqqb.steps.sender import Sender

EXPECTED_ATTRIBUTE_OF_SEVERAL_QUEUES_BY_RULE = {
    "MQDMPR-3.1.7.1.5-15": ("AccessType", "SendAccess"),
    "MQDMPR-3.1.7.1.5-16": ("ShareMode", "DenyNone"),
    "MQDMPR-3.1.7.1.5-18": ("Multiple", True),
    "MQDMPR-3.1.7.1.5-19": ("QueueReference", None),
    "MQDMPR-3.1.7.1.5-20": ("RemoteReadState", "None"),
}
"""For each rule, an attribute of the descriptor for several queues, and the value of the attribute."""
MULTICAST_FORMAT_NAMES = (
    "MULTICAST=234.1.1.1:1801",
    "MULTICAST=239.255.255.255:65535",
    "MULTICAST=224.0.1.2:80",
    "MULTICAST=234.1.1.2:1801",
    "MULTICAST=234.1.1.1:1802",
)
MESSAGE_LIFETIME_S = 20
UNKNOWN_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f6")
MISSING_PRIVATE_QUEUE_NUMBER = 0xFFF0_0000
"""A number that no private queue has."""


@needs("open_to_send", "inspect", "queues")
@covers(
    "MQDMPR-3.1.7.1.5-14",
    "MQDMPR-3.1.7.1.5-17",
    "MQDMPR-3.1.7.1.5-29",
    "MQDMPR-3.1.7.1.5-32",
    "MQDMPR-3.1.7.1.5-119",
    "MQDMPR-3.1.7.1.5-120",
    "MQDMPR-3.1.7.1.6-07",
    "MQDMPR-3.1.7.3.8-17",
    "MQDMPR-3.1.7.3.8-23",
    *EXPECTED_ATTRIBUTE_OF_SEVERAL_QUEUES_BY_RULE,
)
@varied("queue journaling", "queue quota", "queue privacy")
def test_descriptor_of_several_queues_contains_single_descriptors(peer, sut, judge):
    """Six queues that are opened together have one descriptor with the sorted, expanded name, SendAccess, and the
    descriptors of the six queues. When this descriptor is closed, all seven descriptors are closed. A failed attempt to
    open queues leaves no descriptor.
    """
    local_name = sut.direct_name(sut.new_queue("here"))
    first, last = (peer.direct_name(f"{letter}-{sut.own}") for letter in "aZ")
    between = [peer.direct_name(f"{letter}-{sut.own}") for letter in "bcd"]
    names = sorted(one.lower() for one in (local_name, first, *between, last))
    openings_before = set(map_opened_descriptors_by_handle(sut))
    to = ",".join((last, local_name, *between, first, last.upper()))
    handle = int(sut.control.call("open_to_send", to=to)["handle"])
    opened = {
        number: one
        for number, one in map_opened_descriptors_by_handle(sut).items()
        if _does_descriptor_contain_format_name(one, names)
    }
    whole = opened.get(handle, {})
    judge(
        "MQDMPR-3.1.7.1.5-14",
        expected=holds(
            "it contains the descriptor of the handle", otherwise="it does not contain the descriptor of the handle"
        ),
        observed=bool(whole),
        case="OpenQueueDescriptorCollection",
    )
    for rule, (attribute, value) in EXPECTED_ATTRIBUTE_OF_SEVERAL_QUEUES_BY_RULE.items():
        judge(
            rule,
            expected={f"{attribute} of the OpenQueueDescriptor": value},
            observed={f"{attribute} of the OpenQueueDescriptor": whole.get(attribute, "missing")},
        )
    listed = list_format_names_of_descriptor(whole) if whole else []
    judge("MQDMPR-3.1.7.3.8-17", expected=names, observed=listed, case="queues to which the descriptor refers")
    judge(
        "MQDMPR-3.1.7.1.5-17",
        "MQDMPR-3.1.7.3.8-23",
        expected=any_order(*names),
        observed=listed,
        case="queues to which the descriptor refers",
    )
    parts = [opened[one] for one in whole.get("OpenQueueDescriptorCollection", ()) if one in opened]
    observed = [name for one in parts for name in list_format_names_of_descriptor(one)]
    judge(
        "MQDMPR-3.1.7.1.5-32",
        "MQDMPR-3.1.7.1.5-119",
        expected=any_order(*names),
        observed=observed,
        case="queues to which the single descriptors refer",
    )
    judge(
        "MQDMPR-3.1.7.1.5-120",
        expected=[False] * len(names),
        observed=[one["Multiple"] for one in parts],
        case="Multiple of the single descriptors",
    )
    sut.control.call("close_queue", handle=handle)
    judge(
        "MQDMPR-3.1.7.1.6-07",
        expected=none("descriptor that is still open"),
        observed=_list_format_names_of_new_descriptors(sut, names, openings_before),
    )
    missing, also_missing = f"{local_name}-not-there", sut.direct_name(f"private$\\zz-{sut.own}-not-there")
    second_name = sut.direct_name(sut.new_queue("here-too"))
    missing_number = rf"PRIVATE={sut.guid}\{MISSING_PRIVATE_QUEUE_NUMBER:08X}"  # the last of the sorted names
    names.append(second_name.lower())
    outcomes = [
        openings.open_to_send(sut, ",".join(several))
        for several in (
            (first, local_name, missing),
            (last, missing),
            (local_name, second_name, also_missing),
            (first, last, local_name, missing_number),
        )
    ]
    judge(
        "MQDMPR-3.1.7.1.5-29",
        expected={
            "opens_with_a_missing_queue": [Outcome.REFUSED] * 4,
            "descriptors_that_are_still_open": none("descriptor"),
        },
        observed={
            "opens_with_a_missing_queue": outcomes,
            "descriptors_that_are_still_open": _list_format_names_of_new_descriptors(sut, names, openings_before),
        },
    )


def _does_descriptor_contain_format_name(opening, names):
    return not set(list_format_names_of_descriptor(opening)).isdisjoint(names)


def _list_format_names_of_new_descriptors(sut, names, before):
    """Return the format names of the new OpenQueueDescriptors."""
    opened = map_opened_descriptors_by_handle(sut).items()
    return [
        one["FormatName"]
        for number, one in opened
        if number not in before and _does_descriptor_contain_format_name(one, names)
    ]


@needs("open_to_send", "management", "queue_control")
@covers("MQDMPR-3.1.7.1.5-79", "MQDMPR-3.1.7.1.5-82", "MQDMPR-3.1.7.1.5-83", "MQDMPR-3.1.7.1.5-84")
def test_remote_queue_opened_to_send_has_one_outgoing_queue(peer, sut, judge):
    """Remote queues are opened for sending by direct and private names: alone, together, again, and in capital letters.
    Then messages are sent to them. Each remote queue has one outgoing queue with the format name of the remote queue.
    Before the messages are sent, this outgoing queue is inactive and has no next hops.
    """
    names = [peer.direct_name(f"{letter}-{sut.own}") for letter in "abcd"]
    queues_before = [sut.control.call("get_outgoing_queue", to=name)["outgoing"] for name in names]
    opened = [names[0], names[1], names[0], names[0].upper(), ",".join(names[1:])]
    outcomes = [openings.open_to_send(sut, name) for name in opened]
    others = [
        name for name in list_format_names_of_remote_queues(sut) if openings.open_to_send(sut, name) == Outcome.DONE
    ]
    queues_after = [sut.control.call("get_outgoing_queue", to=name)["outgoing"] for name in (*names, *others)]
    queues = [one for group in queues_after for one in group]
    for rule, attribute, values in (
        ("MQDMPR-3.1.7.1.5-82", "DestinationFormatName", [name.lower() for name in (*names, *others)]),
        ("MQDMPR-3.1.7.1.5-83", "NextHops", [[]] * len(queues_after)),
        ("MQDMPR-3.1.7.1.5-84", "State", ["inactive"] * len(queues_after)),
    ):
        observed = [one[attribute] for one in queues]
        shown = [one.lower() if isinstance(one, str) else one for one in observed]
        judge(rule, expected=values, observed=shown, case=f"{attribute} of the outgoing queues")
    if sut.has("send"):
        for name in (names[0].upper(), names[0], *([",".join(names)] if sut.has("several_queues") else [])):
            outcomes.append(sut.attempt(sut.send, name, time_to_reach_queue_s=MESSAGE_LIFETIME_S))
    listed = [one["format_name"].lower() for one in sut.control.call("list")["outgoing"]]
    found = [sut.control.call("get_outgoing_queue", to=name)["outgoing"] for name in names]
    judge(
        "MQDMPR-3.1.7.1.5-79",
        expected={
            "outgoing queues of each name before the opens": [[]] * len(names),
            "opens": each(Outcome.DONE),
            "number of outgoing queues of each name after the opens": [1] * len(names),
            "number of listed outgoing queues of each name": [1] * len(names),
        },
        observed={
            "outgoing queues of each name before the opens": queues_before,
            "opens": outcomes,
            "number of outgoing queues of each name after the opens": [len(one) for one in found],
            "number of listed outgoing queues of each name": [listed.count(name.lower()) for name in names],
        },
    )


@needs("send", "open_to_send", "management", "queue_control")
@covers("MQDMPR-3.1.7.1.5-83", "MQDMPR-3.1.7.1.5-84")
def test_outgoing_queue_opened_beside_connected_queue_is_inactive(peer, sut, judge):
    """While an outgoing queue to the peer is connected, another queue of the peer is opened for sending. Its outgoing
    queue is inactive and has no next hops.
    """
    connected = Sender(peer, sut)
    connected.send(1)
    connected.collect_messages(connected.await_session(), 1)
    name = peer.direct_name(f"beside-{sut.own}")
    openings.open_to_send(sut, name)
    queues = sut.control.call("get_outgoing_queue", to=name)["outgoing"]
    for rule, attribute, value in (
        ("MQDMPR-3.1.7.1.5-83", "NextHops", []),
        ("MQDMPR-3.1.7.1.5-84", "State", "inactive"),
    ):
        observed = [one[attribute] for one in queues]
        shown = [one.lower() if isinstance(one, str) else one for one in observed]
        judge(rule, expected=[value], observed=shown, case=f"{attribute} of the outgoing queue")


def list_format_names_of_remote_queues(sut):
    """Return format names of remote queues that no other check uses, by host name and by the GUIDs of unknown queue
    managers. The SUT may refuse them.
    """
    guids = [uuid5(UNKNOWN_QUEUE_GUID, f"{sut.own}-{number}") for number in range(2)]
    return [
        rf"DIRECT=OS:mqc-{sut.own}.example\private$\a-{sut.own}",
        *(rf"PRIVATE={guid}\{number:08x}" for guid in guids for number in (0x1234, 0x1235)),
    ]


@needs("open_to_send", "inspect")
@covers("MQDMPR-3.1.7.1.5-80", "MQDMPR-3.1.7.1.5-81", "MQDMPR-3.1.7.1.5-99")
def test_outgoing_queue_shows_identifier_label_and_multicast(peer, sut, judge):
    """Each outgoing queue has a unique Identifier, and its format name is its Label. Multicast is True only for
    multicast addresses; these are opened alone and together with other names.
    """
    names = [peer.direct_name(f"{letter}-{sut.own}") for letter in "ab"]
    names += [
        name for name in list_format_names_of_remote_queues(sut) if openings.open_to_send(sut, name) == Outcome.DONE
    ]
    for name in names:
        openings.open_to_send(sut, name)
    multicast = openings.open_to_send(sut, MULTICAST_FORMAT_NAMES[0])
    queues = _list_outgoing_queues(sut)
    observed = [queues.get(name.lower(), {}) for name in names]
    identifiers = [one.get("Identifier") for one in observed]
    null_identifiers = [None, str(UUID(int=0))]
    judge(
        "MQDMPR-3.1.7.1.5-80",
        expected=distinct_values("identifiers", len(names), unlike=null_identifiers),
        observed=identifiers,
    )
    labels = [str(one.get("Label")).lower() for one in observed]
    judge(
        "MQDMPR-3.1.7.1.5-81",
        expected=[name.lower() for name in names],
        observed=labels,
        case="labels of the outgoing queues",
    )
    if multicast == Outcome.REFUSED:
        judge.mark_not_exercised("MQDMPR-3.1.7.1.5-99", reason="the SUT does not send to multicast addresses")
        return
    several = ",".join((names[0], *MULTICAST_FORMAT_NAMES[-2:]))
    together = openings.open_to_send(sut, several) == Outcome.DONE  # the SUT may not open several queues
    opened = MULTICAST_FORMAT_NAMES[:-2]
    for name in opened:
        openings.open_to_send(sut, name)
    queues = _list_outgoing_queues(sut)
    expected = {**dict.fromkeys(names, False), **dict.fromkeys(MULTICAST_FORMAT_NAMES if together else opened, True)}
    multicast_values = {name: queues.get(name.lower(), {}).get("Multicast") for name in expected}
    judge("MQDMPR-3.1.7.1.5-99", expected=expected, observed=multicast_values, case="Multicast of the outgoing queues")


def _list_outgoing_queues(sut):
    """Return the outgoing queues by DestinationFormatName in lower case."""
    return {one["DestinationFormatName"].lower(): one for one in sut.inspect()["OutgoingQueues"]}


@needs("open_to_send", "inspect", "directory", "public_names")
@covers("MQDMPR-3.1.7.1.5-86", "MQDMPR-3.1.7.1.5-87", "MQDMPR-3.1.7.1.5-90", "MQDMPR-3.1.7.1.5-92")
@pytest.mark.parametrize("together", [False, True], ids=["alone", "together"])
def test_outgoing_queue_has_base_priority_of_directory(sut, judge, together):
    """Two public queues are opened alone, or together with GUIDs in capital letters. Each outgoing queue has the
    BasePriority of its public queue in the directory.
    """
    priorities = {PEER_PUBLIC_QUEUE: 0, GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE: BASE_PRIORITY_OF_QUEUE_IN_OTHER_SITE}
    expected = {f"PUBLIC={str(guid).upper() if together else guid}": value for guid, value in priorities.items()}
    for name in [",".join(expected)] if together else expected:
        openings.open_to_send(sut, name)
    queues = _list_outgoing_queues(sut)
    observed = {name: queues.get(name.lower(), {}).get("BasePriority") for name in expected}
    judge.all(expected=expected, observed=observed, case="BasePriority of the outgoing queues")


@needs("send", "inspect", "directory", "public_names", "restart")
@covers("MQDMPR-3.1.7.1.5-92")
def test_restored_outgoing_queue_has_base_priority_of_directory(peer, sut, judge):
    """A recoverable message to a public queue waits in its outgoing queue while the SUT restarts. Then the outgoing
    queue has the BasePriority of the public queue in the directory.
    """
    name = f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}"
    sender = Sender(peer, sut, name)
    sender.send(1, delivery="recoverable")
    sut.restart()
    outgoing = _list_outgoing_queues(sut).get(name.lower(), {})
    judge(
        "MQDMPR-3.1.7.1.5-92",
        expected=BASE_PRIORITY_OF_QUEUE_IN_OTHER_SITE,
        observed=outgoing.get("BasePriority"),
        case="BasePriority of the outgoing queue after the restart",
    )
    session = sender.poll_session()
    if session is not None:
        sender.collect_messages(session, 1)
        session.acknowledge_all()


@needs("inspect", "directory", "public_names")
@covers("MQDMPR-3.1.7.1.5-87", "MQDMPR-3.1.7.1.5-92")
def test_outgoing_queue_of_acknowledgment_has_base_priority_of_directory(peer, sut, judge):
    """The peer sends a message whose administration queue is a public queue of a remote computer. The outgoing queue
    that the SUT creates for the acknowledgment has the BasePriority of the public queue in the directory.
    """
    name = f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}"
    admin = PublicQueueFormatName(PublicQueueIdentifier=GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE)
    packet = peer.recoverable_message({"AQ": 5, "AdminQueue": admin}, properties={"PA": 1})
    frame = peer.open_raw().send(packet)
    peer.eventually(lambda: name.lower() in _list_outgoing_queues(sut))
    observed = _list_outgoing_queues(sut).get(name.lower(), {}).get("BasePriority")
    judge.all(
        expected=BASE_PRIORITY_OF_QUEUE_IN_OTHER_SITE,
        observed=observed,
        evidence=frame,
        case="BasePriority of the outgoing queue",
    )
