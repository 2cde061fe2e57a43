"""MS-MQDMPR 3.1.7.1.5 Open Queue: OpenQueueDescriptors of several queues, while other queues are open."""

from __future__ import annotations

from harness.expectations import any_order, distinct_values, each
from harness.run.marks import covers, needs
from harness.wire.rpc_qmcomm import DENY_RECEIVE
from suites.mqdmpr.steps import openings
from suites.mqdmpr.steps.opened_descriptors import list_format_names_of_descriptor, map_opened_descriptors_by_handle

EXPECTED_ATTRIBUTE_OF_SEVERAL_QUEUES_BY_RULE = {
    "MQDMPR-3.1.7.1.5-15": ("AccessType", "SendAccess"),
    "MQDMPR-3.1.7.1.5-16": ("ShareMode", "DenyNone"),
    "MQDMPR-3.1.7.1.5-18": ("Multiple", True),
    "MQDMPR-3.1.7.1.5-19": ("QueueReference", None),
    "MQDMPR-3.1.7.1.5-20": ("RemoteReadState", "None"),
}
"""For each rule, an attribute of the descriptor for several queues, and the value of the attribute."""


@needs("open_to_send", "inspect", "queues")
@covers(
    "MQDMPR-3.1.7.1.5-14",
    "MQDMPR-3.1.7.1.5-17",
    "MQDMPR-3.1.7.1.5-21",
    "MQDMPR-3.1.7.1.5-32",
    "MQDMPR-3.1.7.1.5-34",
    *EXPECTED_ATTRIBUTE_OF_SEVERAL_QUEUES_BY_RULE,
)
def test_each_opening_of_several_queues_has_its_own_descriptor(peer, sut, judge):
    """Two local queues, two remote queues, and two local queues with a remote queue are opened together, each
    combination twice, while a local queue is open for reading. Each opening has its own descriptor, which contains the
    descriptors of its queues.
    """
    path = sut.new_queue("here")
    local = [sut.direct_name(path), sut.direct_name(sut.new_queue("here-too"))]
    remote = [peer.direct_name(f"{letter}-{sut.own}") for letter in "ab"]
    reading = []
    if sut.has("receive") and sut.has("queue_control"):
        reading = [
            sut.control.call("open_queue", queue=path, access=access)["handle"] for access in ("receive", "peek")
        ]
    before = set(map_opened_descriptors_by_handle(sut))
    handles: dict[int, list[str]] = {}
    returned: list[int] = []
    for names in (local, remote, [*local, remote[0]]) * 2:
        returned.append(int(sut.control.call("open_to_send", to=",".join(names))["handle"]))
        handles[returned[-1]] = sorted(name.lower() for name in names)
    found = map_opened_descriptors_by_handle(sut)
    opened = {handle: found.get(handle, {}) for handle in returned}
    wanted = {name for names in handles.values() for name in names}
    new = {
        handle: one
        for handle, one in found.items()
        if handle not in before and not wanted.isdisjoint(list_format_names_of_descriptor(one))
    }
    together = [handle for handle, one in new.items() if len(list_format_names_of_descriptor(one)) > 1]
    judge(
        "MQDMPR-3.1.7.1.5-14",
        expected=any_order(*returned),
        observed=together,
        case="handles of the descriptors for several queues",
    )
    for rule, (attribute, value) in EXPECTED_ATTRIBUTE_OF_SEVERAL_QUEUES_BY_RULE.items():
        judge(
            rule,
            expected=each(value, f"{attribute} of a descriptor"),
            observed=[one.get(attribute, "missing") for one in opened.values()],
        )
    names_of_descriptors = [list_format_names_of_descriptor(one) for one in opened.values()]
    judge(
        "MQDMPR-3.1.7.1.5-17",
        expected=[handles[handle] for handle in opened],
        observed=[sorted(one) for one in names_of_descriptors],
        case="FormatName of each descriptor",
    )
    parts = [handle for one in opened.values() for handle in one.get("OpenQueueDescriptorCollection", ())]
    judge(
        "MQDMPR-3.1.7.1.5-21",
        expected=distinct_values("handles", len(reading) + len(returned) + len(parts)),
        observed=[*reading, *returned, *parts],
    )
    judge(
        "MQDMPR-3.1.7.1.5-32",
        expected=distinct_values("handles", sum(len(handles[handle]) for handle in returned)),
        observed=parts,
        case="handles in the collections of the descriptors",
    )
    collected = {
        handle: sorted(
            name
            for part in one.get("OpenQueueDescriptorCollection", ())
            for name in list_format_names_of_descriptor(found.get(part, {}))
        )
        for handle, one in opened.items()
    }
    judge(
        "MQDMPR-3.1.7.1.5-32",
        "MQDMPR-3.1.7.1.5-34",
        expected=handles,
        observed=collected,
        case="queues of the descriptor of each returned handle",
    )
    for handle in (*opened, *reading):
        sut.attempt("close_queue", handle=handle)


@needs("open_to_send", "inspect", "qm2qm", "queues")
@covers("MQDMPR-3.1.7.1.5-24")
def test_local_queue_among_several_is_open_only_for_sending(peer, remote, sut, judge):
    """Two local queues and a remote queue are opened together. Each queue is open with SendAccess and DenyNone, and a
    remote reader can open one of the local queues exclusively.
    """
    names = [sut.direct_name(sut.queue()), sut.direct_name(sut.new_queue("here")), peer.direct_name(f"a-{sut.own}")]
    handle = int(sut.control.call("open_to_send", to=",".join(names))["handle"])
    found = map_opened_descriptors_by_handle(sut)
    parts = [found.get(part, {}) for part in found.get(handle, {}).get("OpenQueueDescriptorCollection", ())]
    call = openings.open_and_close_queue(remote, remote.associate(), share=DENY_RECEIVE)
    judge(
        "MQDMPR-3.1.7.1.5-24",
        expected={
            "AccessType of each queue": ["SendAccess"] * len(names),
            "ShareMode of each queue": ["DenyNone"] * len(names),
            "exclusive open by a remote reader": openings.OPENED_OUTCOME,
        },
        observed={
            "AccessType of each queue": [one.get("AccessType") for one in parts],
            "ShareMode of each queue": [one.get("ShareMode") for one in parts],
            "exclusive open by a remote reader": openings.get_opening_outcome(call),
        },
        evidence=call,
    )
    sut.control.call("close_queue", handle=handle)
