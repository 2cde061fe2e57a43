"""MS-MQDMPR 3.1.7.3.8 Expand Format Name: distribution lists that the directory resolves."""

from __future__ import annotations

import pytest

from harness.expectations import any_order, each, none
from harness.run.marks import covers, needs, sut_survives
from harness.sut.outcomes import Outcome
from harness.sut.sut_file import GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, PEER_PUBLIC_QUEUE
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqdmpr.steps.distribution_lists import (
    create_distribution_list,
    send_and_receive_copies,
    send_until_directory_name_is_known,
)
from suites.mqdmpr.steps.opened_descriptors import list_format_names_of_descriptor
from suites.mqmq.steps.layout import Layout

EXPECTED_ATTRIBUTE_OF_SEVERAL_QUEUES_BY_RULE = {
    "MQDMPR-3.1.7.1.5-15": ("AccessType", "SendAccess"),
    "MQDMPR-3.1.7.1.5-16": ("ShareMode", "DenyNone"),
    "MQDMPR-3.1.7.1.5-18": ("Multiple", True),
    "MQDMPR-3.1.7.1.5-19": ("QueueReference", None),
    "MQDMPR-3.1.7.1.5-20": ("RemoteReadState", "None"),
}
"""For each rule, an attribute of the descriptor for several queues, and the value of the attribute."""
DISTRIBUTION_LIST_TYPE = 6
"""FormatType of a distribution list in a MultiQueueFormatHeader. Spec: MS-MQMQ 2.2.18.1.7."""
QUEUE_NAMES = ("first", "second", "third")
GUID_OF_UNKNOWN_LIST_MEMBER = "6d71636f-6e66-4f72-8d00-0000000000d7"
"""An identifier that no object has."""


def _count_copies(sut, queues, label):
    """Return the number of messages with a label in each queue."""
    return [sut.labels(queue).count(label) for queue in queues]


@needs("send", "queue_control", "receive", "several_queues", "directory", "environment")
@covers(
    "MQDMPR-3.1.7.3.8-08",
    "MQDMPR-3.1.7.3.8-09",
    "MQDMPR-3.1.7.3.8-13",
    "MQDMPR-3.1.7.3.8-16",
    "MQMQ-2.1.5-01",
)
def test_send_to_distribution_list_stores_copy_in_each_queue(peer, sut, judge):
    """A format name contains a distribution list as its only element, as one of several elements, or nested in another
    list. A send to this format name stores one copy in each queue of the list, and in no other queue.
    """
    enterprise = Enterprise(peer, sut)
    queues = [enterprise.create_queue() for _ in QUEUE_NAMES]
    identifiers = [str(enterprise.read_directory_object(queue)["identifier"]) for queue in queues]
    third = f"PUBLIC={identifiers[2]}"
    _, pair = create_distribution_list(peer, sut, "pair", identifiers[:2])
    single, single_name = create_distribution_list(peer, sut, "single", identifiers[:1])
    _, nested = create_distribution_list(peer, sut, "nested", [single, *identifiers[1:]])
    _, triple = create_distribution_list(peer, sut, "triple", identifiers)
    expected_counts = {
        pair: [1, 1, 0],
        single_name: [1, 0, 0],
        nested: [1, 1, 1],
        triple: [1, 1, 1],
        f"{third},{pair}": [1, 1, 1],
        f"{single_name},{third}": [1, 0, 1],
        f"{single_name},{pair}": [1, 1, 0],
    }
    observed = {
        name: {
            "send": send_until_directory_name_is_known(peer, sut, name, name),
            "copies in each queue": _count_copies(sut, queues, name),
        }
        for name in expected_counts
    }

    def judge_copies_for_names(rule, names):
        expected = {name: {"send": Outcome.DONE, "copies in each queue": expected_counts[name]} for name in names}
        judge(rule, expected=expected, observed={name: observed[name] for name in names})

    beside = sut.new_queue("beside")
    private = sut.private_format_name(beside)
    for name in (f"{pair},{private}", f"{private},{nested}"):
        outcome = send_until_directory_name_is_known(peer, sut, name, name)
        judge(
            "MQDMPR-3.1.7.3.8-16",
            expected={"send": Outcome.DONE, "copies in each queue": [1, 1, int(nested in name), 1]},
            observed={"send": outcome, "copies in each queue": _count_copies(sut, [*queues, beside], name)},
            case=name,
        )
    in_braces = f"DL={{{pair.removeprefix('DL=')}}}"
    malformed = {
        name: sut.attempt(sut.send, name, label="malformed")
        for name in (f"{pair}@", f"{pair}@a b", f"{pair};x", f"{pair};JOURNAL", in_braces)
    }
    judge("MQMQ-2.1.5-01", expected=each(Outcome.REFUSED, "send"), observed=malformed)
    judge_copies_for_names(
        "MQDMPR-3.1.7.3.8-08", [nested, f"{third},{pair}", f"{single_name},{third}", f"{single_name},{pair}"]
    )
    judge_copies_for_names("MQDMPR-3.1.7.3.8-09", [pair, single_name, nested, triple])
    judge_copies_for_names("MQDMPR-3.1.7.3.8-13", list(expected_counts))
    judge_copies_for_names("MQDMPR-3.1.7.3.8-16", list(expected_counts))


@needs("send", "several_queues", "directory", "environment")
@covers(
    "MQDMPR-3.1.7.3.8-02",
    "MQDMPR-3.1.7.3.8-10",
    "MQDMPR-3.1.7.3.8-18",
    "MQDMPR-3.1.7.1.5-03",
    "MQDMPR-3.1.7.1.5-06",
    "MQDMPR-3.1.7.1.5-65",
)
def test_message_to_list_names_its_queues_not_list(peer, sut, judge):
    """An application sends a message to two distribution lists, a direct name, a public name and, if the SUT sends to
    private names, a private name; their queues overlap. Each queue gets a copy, which lists each queue once, and lists
    no distribution list.
    """
    _, listed = create_distribution_list(peer, sut, "sent", [str(PEER_PUBLIC_QUEUE)])
    _, far = create_distribution_list(
        peer, sut, "far", [str(GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE), str(PEER_PUBLIC_QUEUE)]
    )
    direct = peer.direct_name("mqc-listed")
    private = [peer.build_private_format_name_of_peer()] if sut.has("private_names") else []
    count = 3 + len(private)
    to = ",".join((listed, direct, f"PUBLIC={PEER_PUBLIC_QUEUE}", far, *private))
    frames = send_and_receive_copies(peer, sut, to, count)
    several = [frame for frame in frames if Layout(frame).fields.get("UserHeader.Flags.MQ")]
    named = [Layout(frame).fields["MultiQueueFormatHeader.Destination.FormatNameList"] for frame in several]
    lists = [name for names in named for name in names if name[0] == DISTRIBUTION_LIST_TYPE]
    judge(
        "MQDMPR-3.1.7.1.5-65",
        "MQDMPR-3.1.7.3.8-10",
        expected={"number of copies": count},
        observed={"number of copies": len(frames)},
        evidence=frames,
    )
    judge(
        "MQDMPR-3.1.7.3.8-02",
        "MQDMPR-3.1.7.3.8-18",
        "MQDMPR-3.1.7.1.5-03",
        "MQDMPR-3.1.7.1.5-06",
        expected={
            "number_of_destinations_in_each_copy": [count] * count,
            "distribution_lists": none("distribution list in a copy"),
        },
        observed={"number_of_destinations_in_each_copy": [*map(len, named)], "distribution_lists": lists},
        evidence=frames,
    )


NAME_TEMPLATE_OF_ONE_QUEUE_BY_CASE = {
    "list": "{single}",
    "list of a list": "{nested}",
    "list and its queue": "{single},{public}",
    "two lists": "{single},{nested}",
}
"""Format names whose expansion is one queue of the peer."""


@needs("send", "several_queues", "directory", "environment")
@covers("MQDMPR-3.1.7.3.8-20", "MQDMPR-3.1.7.3.8-21")
@pytest.mark.parametrize("name", NAME_TEMPLATE_OF_ONE_QUEUE_BY_CASE.values(), ids=NAME_TEMPLATE_OF_ONE_QUEUE_BY_CASE)
def test_list_of_one_queue_is_expanded_to_single_name(peer, sut, judge, name):
    """The only queue in a distribution list is a public queue of the peer. A format name contains this list within
    another list, both lists, or the list and the queue. The queue gets one message, which lists a single destination.
    """
    identifier, single = create_distribution_list(peer, sut, "single", [str(PEER_PUBLIC_QUEUE)])
    _, nested = create_distribution_list(peer, sut, "nested", [identifier])
    copies = send_and_receive_copies(
        peer, sut, name.format(single=single, nested=nested, public=f"PUBLIC={PEER_PUBLIC_QUEUE}"), 1
    )
    destinations = [Layout(frame).of("UserHeader.DestinationQueue", "UserHeader.Flags.MQ") for frame in copies]
    observed = [
        {
            "queue": str(one["UserHeader.DestinationQueue"]),
            "message lists several queues": bool(one["UserHeader.Flags.MQ"]),
        }
        for one in destinations
    ]
    expected = [{"queue": str(PEER_PUBLIC_QUEUE), "message lists several queues": False}]
    judge.all(expected=expected, observed=observed, evidence=copies, case="copies")


@needs("send", "open_to_send", "inspect", "queue_control", "several_queues", "directory", "environment")
@covers(
    "MQDMPR-3.1.7.1.5-17",
    "MQDMPR-3.1.7.3.8-17",
    "MQDMPR-3.1.7.3.8-23",
    *EXPECTED_ATTRIBUTE_OF_SEVERAL_QUEUES_BY_RULE,
)
def test_descriptor_of_distribution_list_is_multiple(peer, sut, judge):
    """An application opens a distribution list of three queues: alone, together with a private queue, and together with
    the private name of one queue and the direct name of another. It also opens the private queue together with one
    public queue. Each descriptor has the sorted names of the queues, not of the list, and the attributes of a
    descriptor for several queues.
    """
    enterprise = Enterprise(peer, sut)
    queues = [enterprise.create_queue() for _ in QUEUE_NAMES]
    identifiers = [str(enterprise.read_directory_object(one)["identifier"]).lower() for one in queues]
    _, listed = create_distribution_list(peer, sut, "opened", identifiers)
    beside = sut.private_format_name(sut.new_queue("beside"))
    direct = sut.direct_name(sut.new_queue("direct"))
    send_until_directory_name_is_known(peer, sut, listed, "known")
    for name in (listed, f"{listed},{beside}", f"{beside},{direct},{listed}", f"PUBLIC={identifiers[0]},{beside}"):
        members = identifiers if listed in name else identifiers[:1]
        others = [one.lower() for one in (beside, direct) if one in name]
        handle = sut.control.call("open_to_send", to=name)["handle"]
        opened = {one["Handle"]: one for one in sut.inspect()["OpenQueueDescriptors"]}.get(handle, {})
        sut.control.call("close_queue", handle=handle)
        for rule, (attribute, value) in EXPECTED_ATTRIBUTE_OF_SEVERAL_QUEUES_BY_RULE.items():
            judge(rule, expected=value, observed=opened.get(attribute, "missing"), case=f"{attribute} for {name}")
        judge(
            "MQDMPR-3.1.7.1.5-17",
            "MQDMPR-3.1.7.3.8-23",
            expected=any_order(*(f"public={one}" for one in members), *others),
            observed=list_format_names_of_descriptor(opened),
            case=f"FormatName for {name}",
        )
        expanded = sorted([*(f"public={one}" for one in members), *others])
        judge(
            "MQDMPR-3.1.7.3.8-17",
            expected=expanded,
            observed=list_format_names_of_descriptor(opened),
            case=f"names in FormatName for {name}",
        )


@sut_survives()
@needs("send", "queue_control", "several_queues", "directory", "environment")
@covers("MQDMPR-3.1.7.3.8-15", "MQDMPR-3.1.7.1.5-05", "MQMQ-2.1.7-D02")
def test_send_to_distribution_list_is_refused_without_directory(peer, sut, judge):
    """While the directory is unavailable, the SUT refuses a send to a distribution list, even if the format name also
    contains the direct name of a queue. A send to only the direct name succeeds.
    """
    enterprise = Enterprise(peer, sut)
    queue = sut.new_queue("beside")
    direct_name = rf"DIRECT=TCP:{sut.address}\{queue}"
    public = enterprise.create_queue()
    _, listed = create_distribution_list(
        peer, sut, "away", [str(enterprise.read_directory_object(public)["identifier"])]
    )
    names = (listed, f"{listed},{direct_name}", f"{direct_name},{listed}")
    outcomes_before = {name: send_until_directory_name_is_known(peer, sut, name, "before") for name in names}
    enterprise.go_offline()
    outcomes_after = {name: sut.attempt(sut.send, name) for name in names}
    judge.all(
        expected={
            "sends_with_the_directory": each(Outcome.DONE),
            "sends_without_the_directory": each(Outcome.REFUSED),
            "send_to_the_queue_only": Outcome.DONE,
        },
        observed={
            "sends_with_the_directory": outcomes_before,
            "sends_without_the_directory": outcomes_after,
            "send_to_the_queue_only": sut.attempt(sut.send, direct_name),
        },
    )


@sut_survives()
@needs("send", "queue_control", "receive", "several_queues", "directory", "environment")
@covers("MQDMPR-3.1.7.3.8-15")
def test_send_to_list_with_unknown_member_is_refused(peer, sut, judge):
    """A distribution list has a member that is not in the directory. The SUT refuses a send to this list, to a second
    list that contains this list and a queue, to a third list that contains the second, and to such a list together with
    a direct name. No queue gets a copy. A send to a list without such a member succeeds.
    """
    enterprise = Enterprise(peer, sut)
    queue = enterprise.create_queue()
    identifier = str(enterprise.read_directory_object(queue)["identifier"])
    broken_identifier, broken = create_distribution_list(peer, sut, "broken", [GUID_OF_UNKNOWN_LIST_MEMBER])
    outer_identifier, outer = create_distribution_list(peer, sut, "outer", [identifier, broken_identifier])
    _, outermost = create_distribution_list(peer, sut, "outermost", [outer_identifier, identifier])
    fine_identifier, _ = create_distribution_list(peer, sut, "fine", [identifier])
    _, nested = create_distribution_list(peer, sut, "nested", [fine_identifier])
    listed = sut.change_directory_object(distribution_list=f"mqc-{sut.own}-broken") or {}
    if [str(one).lower() for one in listed.get("members", [])] != [GUID_OF_UNKNOWN_LIST_MEMBER]:
        reason = "the directory contains no distribution list with an unknown member"
        judge.mark_not_exercised("MQDMPR-3.1.7.3.8-15", reason=reason)
        return
    sent = send_until_directory_name_is_known(peer, sut, nested, "sent")
    beside = rf"DIRECT=TCP:{sut.address}\{sut.new_queue('beside')}"
    names = (broken, outer, outermost, f"{outer},{beside}", f"{beside},{outermost}")
    outcomes = [sut.attempt(sut.send, name, label="refused") for name in names]
    peer.pass_time(sut.quiet_ms)
    judge(
        "MQDMPR-3.1.7.3.8-15",
        expected={"send to the list of a list": Outcome.DONE, "other sends": each(Outcome.REFUSED), "copies": [1, 0]},
        observed={
            "send to the list of a list": sent,
            "other sends": outcomes,
            "copies": [sut.labels(queue).count(label) for label in ("sent", "refused")],
        },
    )
