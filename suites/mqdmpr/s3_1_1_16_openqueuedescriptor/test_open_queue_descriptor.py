"""MS-MQDMPR 3.1.1.16 OpenQueueDescriptor."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import any_order, distinct_values, each
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.sut_file import GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, PEER_PUBLIC_QUEUE
from harness.wire.rpc_qmcomm import DIRECT, PEEK_ACCESS, RECEIVE_ACCESS, queue_format, transfer_buffer
from suites.mqdmpr.steps import openings
from suites.mqdmpr.steps.distribution_lists import create_distribution_list

MULTICAST_NAME = "MULTICAST=234.1.1.1:1801"


@needs("qm2qm")
@covers("MQDMPR-3.1.1.16-02", "MQDMPR-3.1.1.16-03")
def test_each_opened_queue_has_unique_handle_and_context(remote, sut, judge):
    """Remote readers open two queues, to receive and to peek, six times in total, while applications have a queue open.
    The readers get six different contexts, and six different handles, which also differ from the handles of the
    applications.
    """
    own = [
        sut.control.call("open_queue", queue=sut.queue(), access=access)["handle"]
        for access in (("peek", "receive") if sut.has("receive") and sut.has("queue_control") else ())
    ]
    associations = [remote.associate(), remote.associate()]
    calls = [
        remote.open_remote(association, queue, access=access).expect_success()
        for association, queue, access in (
            (associations[0], "plain", RECEIVE_ACCESS),
            (associations[0], "plain", PEEK_ACCESS),
            (associations[1], "plain", RECEIVE_ACCESS),
            (associations[0], "admin", RECEIVE_ACCESS),
            (associations[1], "admin", PEEK_ACCESS),
            (associations[1], "plain", PEEK_ACCESS),
        )
    ]
    handles, contexts = [int(call.out.phQueue) for call in calls], [int(call.out.dwpQueue) for call in calls]
    for handle in own:
        sut.control.call("close_queue", handle=handle)
    judge(
        "MQDMPR-3.1.1.16-02",
        expected=distinct_values("handles", len(calls), unlike=[0, *own]),
        observed=handles,
        evidence=calls,
    )
    for values in (contexts, [int(call.out.pdwContext) for call in calls]):
        judge(
            "MQDMPR-3.1.1.16-03",
            expected=distinct_values("contexts", len(calls), unlike=[0]),
            observed=values,
            evidence=calls,
        )


@needs("qm2qm", "inspect", "queues")
@covers("MQDMPR-3.1.1.16-04", "MQDMPR-3.1.1.16-05", "MQDMPR-3.1.1.16-12", "MQDMPR-3.1.1.16-14")
@pytest.mark.parametrize(("access", "shown_as"), [(RECEIVE_ACCESS, "ReceiveAccess"), (PEEK_ACCESS, "PeekAccess")])
@varied("queue journaling", "queue quota", "queue privacy")
def test_descriptor_of_remote_reader_shows_access_and_state(remote, sut, judge, access, shown_as):
    """The descriptor of a remote reader shows the requested access, even while other descriptors of the queue have a
    different access. Its state is Opened, and becomes ReadyForRead when the reader starts to read, even while another
    reader reads.
    """
    queue = sut.queue()
    association = remote.associate()
    call = remote.open_remote(association, access=access).expect_success()
    opened = _read_open_queue_descriptors(sut, queue)
    reading = remote.open(association=association, access=access)
    both = _read_open_queue_descriptors(sut, queue)
    evidence = [call, reading.session]
    judge(
        "MQDMPR-3.1.1.16-12",
        expected=["Opened"],
        observed=[one["RemoteReadState"] for one in opened],
        evidence=evidence,
        case="RemoteReadState of the descriptor",
    )
    states = sorted(one["RemoteReadState"] for one in both)
    judge(
        "MQDMPR-3.1.1.16-12",
        "MQDMPR-3.1.1.16-14",
        expected=["Opened", "ReadyForRead"],
        observed=states,
        evidence=evidence,
        case="RemoteReadState of both descriptors",
    )
    judge(
        "MQDMPR-3.1.1.16-04",
        expected=[shown_as] * 2,
        observed=[one["AccessType"] for one in both],
        evidence=evidence,
        case="AccessType of both descriptors",
    )
    cursor = association.call("R_QMCreateRemoteCursor", ptb1=transfer_buffer(), hQueue=call.out.phQueue)
    judge(
        "MQDMPR-3.1.1.16-12",
        expected=["Opened", "ReadyForRead"],
        observed=sorted(one["RemoteReadState"] for one in _read_open_queue_descriptors(sut, queue)),
        evidence=[*evidence, cursor],
        case="RemoteReadState of both descriptors after a cursor was created with the first descriptor",
    )
    other_access = PEEK_ACCESS if access == RECEIVE_ACCESS else RECEIVE_ACCESS
    third = remote.open_remote(association, access=other_access).expect_success()
    other_shown_as = "PeekAccess" if access == RECEIVE_ACCESS else "ReceiveAccess"
    judge(
        "MQDMPR-3.1.1.16-04",
        expected=any_order(shown_as, shown_as, other_shown_as),
        observed=[one["AccessType"] for one in _read_open_queue_descriptors(sut, queue)],
        evidence=[*evidence, third],
        case="AccessType of the descriptors when a third reader requests a different access",
    )
    remote.open(association=association, access=access)
    judge(
        "MQDMPR-3.1.1.16-14",
        expected=any_order("Opened", "Opened", "ReadyForRead", "ReadyForRead"),
        observed=[one["RemoteReadState"] for one in _read_open_queue_descriptors(sut, queue)],
        evidence=[*evidence, third],
        case="RemoteReadState of the descriptors when a second reader reads",
    )
    single = {"Multiple": False, "OpenQueueDescriptorCollection": []}
    observed = [{name: one[name] for name in single} for one in both]
    judge("MQDMPR-3.1.1.16-05", expected=[single] * 2, observed=observed, evidence=evidence, case="both descriptors")


def _read_open_queue_descriptors(sut, queue):
    names = ("AccessType", "RemoteReadState", "Multiple", "OpenQueueDescriptorCollection")
    return [{name: one[name] for name in names} for one in sut.inspect_queue(queue)["OpenQueueDescriptorCollection"]]


@needs("inspect", "open_to_send", "queues")
@covers("MQDMPR-3.1.1.16-05")
def test_descriptor_of_single_name_contains_no_descriptors(peer, sut, judge):
    """Queues of the peer and of the SUT, and a multicast address, are opened one after the other to send. The
    OpenQueueDescriptorCollection of each descriptor is empty.
    """
    names = [peer.direct_name("mqc-single"), sut.direct_name(sut.queue())]
    if openings.open_to_send(sut, MULTICAST_NAME) == Outcome.DONE:
        names.append(MULTICAST_NAME)
    handles = [sut.control.call("open_to_send", to=name)["handle"] for name in names]
    descriptors = {one["Handle"]: one for one in sut.inspect()["OpenQueueDescriptors"]}
    for handle in handles:
        sut.control.call("close_queue", handle=handle)
    observed = [descriptors.get(handle, {}).get("OpenQueueDescriptorCollection", "not shown") for handle in handles]
    judge(
        "MQDMPR-3.1.1.16-05",
        expected=[[] for _ in names],
        observed=observed,
        case=f"OpenQueueDescriptorCollection of {len(names)} descriptors",
    )


SEVERAL_QUEUES_DESCRIPTOR_ATTRIBUTES_BY_RULE: dict[str, dict[str, str | None]] = {
    "MQDMPR-3.1.1.16-06": {"AccessType": "SendAccess"},
    "MQDMPR-3.1.1.16-07": {"RemoteReadState": "None"},
    "MQDMPR-3.1.1.16-08": {"QueueReference": None},
}


def _judge_descriptors_of_opened_names(sut, judge, names):
    """Open format names to send, while all of them stay open; judge the descriptor of each."""
    handles = {case: sut.control.call("open_to_send", to=to)["handle"] for case, to in names.items()}
    descriptors = {one["Handle"]: one for one in sut.inspect()["OpenQueueDescriptors"]}
    for handle in handles.values():
        sut.control.call("close_queue", handle=handle)
    for case, handle in handles.items():
        several = descriptors.get(handle, {})
        for rule, attributes in SEVERAL_QUEUES_DESCRIPTOR_ATTRIBUTES_BY_RULE.items():
            observed = {name: several.get(name, "not shown") for name in attributes}
            judge(rule, expected=attributes, observed=observed, case=f"descriptor of {case}")


@needs("inspect", "open_to_send", "several_queues", "queues")
@covers(*SEVERAL_QUEUES_DESCRIPTOR_ATTRIBUTES_BY_RULE)
def test_descriptor_of_several_queues_is_send_only_without_queue(peer, sut, judge):
    """Several queues are opened together: queues of the peer and of the SUT, only queues of the peer, and only queues
    of the SUT. The descriptor of each of them shows SendAccess, RemoteReadState None and no QueueReference.
    """
    remote_names = [peer.direct_name(name) for name in ("mqc-several-1", "mqc-several-2")]
    local_names = [sut.direct_name(queue) for queue in (sut.queue(), sut.new_queue("several"))]
    names = {
        "queues of the peer and the SUT": ",".join([*remote_names, local_names[0]]),
        "queues of the peer": ",".join(remote_names),
        "queues of the SUT": ",".join(local_names),
    }
    _judge_descriptors_of_opened_names(sut, judge, names)


@needs("inspect", "open_to_send", "several_queues", "directory", "environment")
@covers(*SEVERAL_QUEUES_DESCRIPTOR_ATTRIBUTES_BY_RULE)
def test_descriptor_of_distribution_list_is_send_only_without_queue(peer, sut, judge):
    """A distribution list with two members is opened, alone and together with a direct name. Both descriptors show
    SendAccess, RemoteReadState None and no QueueReference.
    """
    members = [str(PEER_PUBLIC_QUEUE), str(GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE)]
    _, to = create_distribution_list(peer, sut, "descriptors", members)
    if not peer.eventually(lambda: openings.open_to_send(sut, to) == Outcome.DONE):
        raise ConformanceFailure("the SUT does not open the distribution list")
    names = {"a distribution list": to, "a list of names": f"{to},{peer.direct_name('mqc-beside')}"}
    _judge_descriptors_of_opened_names(sut, judge, names)


@needs("qm2qm", "inspect", "open_to_send", "several_queues", "queues")
@covers("MQDMPR-3.1.1.16-07")
@pytest.mark.parametrize("access", [RECEIVE_ACCESS, PEEK_ACCESS], ids=["receive", "peek"])
def test_descriptor_of_several_queues_has_no_read_state_of_reader(peer, remote, sut, judge, access):
    """Remote readers have two queues of the SUT open, and one of them reads. An application opens these queues and a
    queue of the peer together, before and after the reads. The RemoteReadState of each of the application's descriptors
    is None.
    """
    queues = [sut.queue(), sut.new_queue("beside")]
    to = ",".join([peer.direct_name("mqc-several"), *(sut.direct_name(queue) for queue in queues)])
    handles = [sut.control.call("open_to_send", to=to)["handle"]]
    reader = remote.open(access=access)
    remote.open_remote(reader.association, access=access).expect_success()
    form = queue_format(DIRECT, sut.direct_name(queues[1]).removeprefix("DIRECT="))
    remote.open_remote(reader.association, form=form, access=access).expect_success()
    handles.append(sut.control.call("open_to_send", to=to)["handle"])
    read = reader.peek()
    handles.append(sut.control.call("open_to_send", to=to)["handle"])
    descriptors = {one["Handle"]: one for one in sut.inspect()["OpenQueueDescriptors"]}
    for handle in handles:
        sut.control.call("close_queue", handle=handle)
    states = [descriptors[handle]["RemoteReadState"] for handle in handles if handle in descriptors]
    judge.all(expected=each("None", "RemoteReadState"), observed=states, evidence=[reader.opened, read])
