"""MS-MQDMPR 3.1.7.1.5 Open Queue: format names that can and cannot be opened for sending."""

from __future__ import annotations

from uuid import UUID, uuid5

from harness.expectations import any_order, distinct_values, holds, none
from harness.run.marks import covers, needs, sut_survives, varied
from harness.sut.outcomes import Outcome
from harness.sut.sut_file import GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, PEER_PUBLIC_QUEUE
from suites.mqdmpr.steps import openings
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.sender import Sender

MACHINE_FORMAT_NAME_SUFFIXES = ("", ";JOURNAL", ";DEADLETTER", ";DEADXACT")
"""The endings of machine format names. Spec: MS-MQMQ 2.1.4."""
UNKNOWN_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f5")
MISSING_PRIVATE_QUEUE_NUMBER = 0xFFF0_0000
"""A number that no private queue has."""
MESSAGE_LIFETIME_S = 20
KNOWN_QUEUE_MESSAGE_TAG, UNKNOWN_QUEUE_MESSAGE_TAG, LATER_KNOWN_QUEUE_MESSAGE_TAG = 0x4101, 0x4102, 0x4103
"""The tags of messages to a known public queue, to an unknown public queue, and after an outage of the directory."""
DIRECT_ADDRESSES_OF_OTHER_COMPUTERS = ("OS:nowhere.example", "TCP:192.0.2.9")
"""The protocol and the address in direct names of other computers."""


def _judge_opening_outcomes(judge, rules, outcomes, case="outcome of the send to each format name"):
    """Judge rules by the expected and the observed outcome for each format name."""
    expected = {name: expected_outcome for name, (expected_outcome, _) in outcomes.items()}
    observed = {name: outcome for name, (_, outcome) in outcomes.items()}
    judge(*rules, expected=expected, observed=observed, case=case)


@sut_survives()
@needs("send", "queues")
@covers(
    "MQDMPR-3.1.7.1.5-05",
    "MQDMPR-3.1.7.1.5-42",
    "MQDMPR-3.1.7.1.5-55",
    "MQDMPR-3.1.7.1.5-59",
    "MQDMPR-3.1.7.1.5-61",
    "MQDMPR-3.1.7.1.5-77",
    "MQDMPR-3.1.7.3.8-15",
)
@varied("queue journaling", "queue quota", "queue privacy")
def test_send_to_name_succeeds_only_for_existing_or_remote_queue(sut, judge):
    """A send to an existing local queue and a send to a queue of another computer succeed. The SUT refuses a send to a
    missing local queue, to a machine name, and to an unknown distribution list. Messages to another computer, by its
    name or its IP address, do not arrive in the local queue with the same name.
    """
    queue = sut.new_queue("named")
    host = sut.control.call("identity")["name"]
    private = sut.private_format_name(queue)
    own_computer = rf"DIRECT=OS:{host}"
    lifetime = {"time_to_reach_queue_s": MESSAGE_LIFETIME_S}
    existing_name, missing_name = rf"{own_computer}\{queue}", rf"{own_computer}\{queue}-not-there"
    in_capitals = rf"DIRECT=OS:{host.upper()}\{queue}-not-there"
    remote_name = rf"DIRECT=OS:mqc-{sut.own}.example\{queue}-not-there"
    direct = {
        existing_name: (Outcome.DONE, sut.attempt(sut.send, existing_name)),
        missing_name: (Outcome.REFUSED, sut.attempt(sut.send, missing_name)),
        in_capitals: (Outcome.REFUSED, sut.attempt(sut.send, in_capitals)),
    }
    _judge_opening_outcomes(judge, ["MQDMPR-3.1.7.1.5-61"], direct)
    direct[remote_name] = (Outcome.DONE, sut.attempt(sut.send, remote_name, **lifetime))
    _judge_opening_outcomes(judge, ["MQDMPR-3.1.7.1.5-55", "MQDMPR-3.1.7.1.5-59"], direct)
    if sut.has("receive"):
        labels_before = sut.labels(queue)
        for computer in DIRECT_ADDRESSES_OF_OTHER_COMPUTERS:
            sut.attempt(sut.send, rf"DIRECT={computer}\{queue}", label=computer, **lifetime)
        judge(
            "MQDMPR-3.1.7.1.5-55",
            "MQDMPR-3.1.7.1.5-59",
            expected=labels_before,
            observed=sut.labels(queue),
            case="labels in the local queue after the sends to other computers",
        )
    wrong_number = private.rpartition("\\")[0] + f"\\{MISSING_PRIVATE_QUEUE_NUMBER:08X}"
    numbers = {
        private: (Outcome.DONE, sut.attempt(sut.send, private)),
        wrong_number: (Outcome.REFUSED, sut.attempt(sut.send, wrong_number)),
    }
    if sut.has("queue_control"):  # the number of a deleted queue, beside the number of a queue that exists
        deleted = sut.new_queue("deleted")
        old_number = sut.private_format_name(deleted)
        sut.new_queue("later")  # has a higher number in many systems
        sut.delete_queue(deleted)
        numbers[old_number] = (Outcome.REFUSED, sut.attempt(sut.send, old_number))
    _judge_opening_outcomes(judge, ["MQDMPR-3.1.7.1.5-77"], numbers)
    machines = {
        name: (Outcome.REFUSED, sut.attempt(sut.send, name))
        for name in (
            f"MACHINE={UNKNOWN_GUID}",
            *(f"MACHINE={sut.guid}{suffix}" for suffix in MACHINE_FORMAT_NAME_SUFFIXES),
        )
    }
    _judge_opening_outcomes(judge, ["MQDMPR-3.1.7.1.5-42"], machines)
    if sut.has("open_to_send"):
        for alone in (False, True):
            opened = {
                name: (Outcome.REFUSED, openings.open_to_send(sut, name, deny_receive=alone)) for name in machines
            }
            case = f"outcome of the open of each format name{' with DenyReceive' if alone else ''}"
            _judge_opening_outcomes(judge, ["MQDMPR-3.1.7.1.5-42"], opened, case=case)
        opened = {name: (expected, openings.open_to_send(sut, name)) for name, (expected, _) in numbers.items()}
        _judge_opening_outcomes(judge, ["MQDMPR-3.1.7.1.5-77"], opened, case="outcome of the open of each format name")
    lists = (
        f"DL={UNKNOWN_GUID}",
        f"{existing_name},DL={UNKNOWN_GUID}",
        f"DL={UNKNOWN_GUID},{existing_name}",
    )
    unknown = {name: (Outcome.REFUSED, sut.attempt(sut.send, name)) for name in lists}
    _judge_opening_outcomes(judge, ["MQDMPR-3.1.7.1.5-05", "MQDMPR-3.1.7.3.8-15"], unknown)


@needs("send", "queue_control", "receive", "several_queues")
@covers("MQDMPR-3.1.7.1.5-30")
@varied("queue journaling", "queue quota", "queue privacy")
def test_send_to_several_queues_fails_if_one_is_missing(sut, judge):
    """A send to two local queues stores a copy in each queue. If the format name also contains a missing queue, in any
    position, the SUT refuses the send and stores no copy.
    """
    queues = [sut.new_queue("first"), sut.new_queue("second")]
    names = [sut.direct_name(queue) for queue in queues]
    missing = f"{names[0]}-not-there"
    for position in range(3):
        several = [*names[:position], missing, *names[position:]]
        outcome = sut.attempt(sut.send, ",".join(several), label=f"missing {position}")
        judge(
            "MQDMPR-3.1.7.1.5-30",
            expected={"send": Outcome.REFUSED, "labels_in_each_queue": [[], []]},
            observed={"send": outcome, "labels_in_each_queue": [sut.labels(queue) for queue in queues]},
        )
    outcome = sut.attempt(sut.send, ",".join(names), label="both")
    judge(
        "MQDMPR-3.1.7.1.5-30",
        expected={"send": Outcome.DONE, "labels_in_each_queue": [["both"], ["both"]]},
        observed={"send": outcome, "labels_in_each_queue": [sut.labels(queue) for queue in queues]},
    )


@needs("open_to_send", "queues")
@covers("MQDMPR-3.1.7.1.5-12", "MQDMPR-3.1.7.1.5-21", "MQDMPR-3.1.7.1.5-34")
@varied("queue journaling", "queue quota", "queue privacy")
def test_several_queues_are_opened_shared_and_closed_once(peer, sut, judge):
    """Local queues, remote queues, and both together can be opened for sending, but not with DenyReceive. Each request
    returns a different handle, which can be closed once.
    """
    names = [sut.direct_name(sut.new_queue(one)) for one in ("first", "second")]
    several = ",".join(names)
    outcomes = {
        "two queues with DenyNone": (Outcome.DONE, openings.open_to_send(sut, several)),
        "two queues with DenyReceive": (
            Outcome.REFUSED,
            openings.open_to_send(sut, several, deny_receive=True),
        ),
        "one queue with DenyNone": (Outcome.DONE, openings.open_to_send(sut, names[0])),
    }
    remote = [peer.direct_name(f"mqc-{sut.own}-{number}") for number in (1, 2)]
    for case, mixed in (
        ("local and remote", [names[0], remote[0]]),
        ("remote", remote),
        ("three", [*names, remote[0]]),
    ):
        outcomes[f"{case} queues with DenyNone"] = Outcome.DONE, openings.open_to_send(sut, ",".join(mixed))
        outcomes[f"{case} queues with DenyReceive"] = (
            Outcome.REFUSED,
            openings.open_to_send(sut, ",".join(mixed), deny_receive=True),
        )
    _judge_opening_outcomes(judge, ["MQDMPR-3.1.7.1.5-12"], outcomes, case="outcomes of the opens")
    handles = [sut.control.call("open_to_send", to=several)["handle"] for _ in range(2)]
    closed = [sut.attempt("close_queue", handle=handle) for handle in (*handles, handles[0])]
    judge("MQDMPR-3.1.7.1.5-21", expected=distinct_values("handles", 2), observed=handles)
    judge(
        "MQDMPR-3.1.7.1.5-34",
        expected=[Outcome.DONE, Outcome.DONE, Outcome.REFUSED],
        observed=closed,
        case="outcomes of the three calls that close a handle",
    )


@needs("send", "queue_control")
@covers("MQDMPR-3.1.7.1.5-64", "MQDMPR-3.1.7.1.5-70", "MQDMPR-3.1.7.1.5-94")
@varied("priority", "positive journaling", "negative journaling", "response queue", "label")
def test_send_to_unknown_public_queue_is_refused_or_waits(peer, sut, judge):
    """The SUT sends a message to a public queue of the peer, and then to public queues that the directory does not
    contain. The SUT refuses these sends, or keeps each message in an outgoing queue, and opens no session for them. The
    GUID in one of the unknown names ends like that of the peer's queue.
    """
    _judge_sends_to_unknown_public_queues(peer, sut, judge)


@needs("send", "queue_control", "receive", "directory", "environment")
@covers("MQDMPR-3.1.7.1.5-64", "MQDMPR-3.1.7.1.5-68", "MQDMPR-3.1.7.1.5-70", "MQDMPR-3.1.7.1.5-94")
def test_send_to_queue_that_directory_does_not_contain_is_refused_or_waits(peer, sut, judge):
    """The SUT has a directory and a public queue. It sends a message to a public queue of the peer, and then to public
    queues that the directory does not contain. The SUT refuses these sends, or keeps each message in an outgoing queue.
    No message arrives at the peer or in the local queue, although GUIDs in the unknown names end like those of existing
    queues.
    """
    _judge_sends_to_unknown_public_queues(peer, sut, judge, Enterprise(peer, sut).create_queue())


def _judge_sends_to_unknown_public_queues(peer, sut, judge, local=None):
    """Let the SUT send to unknown public queues, and judge all rules. ``local`` is a public queue of the SUT."""
    guids = [uuid5(UNKNOWN_GUID, sut.own)]  # of this attempt alone: what waits there is what it sent
    if sut.has("public_names"):
        known = Sender(peer, sut, peer.format_name_of_public_queue)
        known.send(KNOWN_QUEUE_MESSAGE_TAG)
        known.collect_messages(known.await_session(), 1)
        guids.append(UUID(bytes=guids[0].bytes[:8] + PEER_PUBLIC_QUEUE.bytes[8:]))
    else:
        peer.listen(ignore_incoming=True)
    if local is not None:
        identifier = UUID(sut.format_names(local)["public"].partition("=")[2])
        guids.append(UUID(bytes=guids[0].bytes[:8] + identifier.bytes[8:]))
    names = [f"PUBLIC={guid}" for guid in guids]
    unknown = {"application_tag": UNKNOWN_QUEUE_MESSAGE_TAG, "time_to_reach_queue_s": MESSAGE_LIFETIME_S}
    outcomes = {name: sut.attempt(sut.send, name, **unknown) for name in names}
    connected = peer.await_session(sut.quiet_ms) is not None
    counts = {one["format_name"].lower(): one["count"] for one in sut.control.call("list")["outgoing"]}
    lost = [name for name in names if outcomes[name] != Outcome.REFUSED and counts.get(name.lower()) != 1]
    judge.all(
        expected={
            "messages that are neither refused nor waiting": none("format name"),
            "SUT_has_opened_a_connection": False,
            "messages at the peer": none("message to an unknown queue"),
            "messages in the local queue": none("message"),
        },
        observed={
            "messages that are neither refused nor waiting": lost,
            "SUT_has_opened_a_connection": connected,
            "messages at the peer": peer.inbox.find(
                lambda frame: Sender.list_tags([frame]) == [UNKNOWN_QUEUE_MESSAGE_TAG]
            ),
            "messages in the local queue": [] if local is None else sut.labels(local),
        },
    )


@needs("send", "queue_control", "directory", "environment")
@covers("MQDMPR-3.1.7.1.5-65", "MQDMPR-3.1.7.1.5-94")
def test_messages_to_public_queue_without_directory_are_refused_or_kept(peer, sut, judge):
    """The SUT sends to a public queue of the peer. While the directory is unavailable, it refuses or keeps messages to
    another public queue and to an unknown public queue. When the directory is available again, the kept messages and a
    new message to the other public queue arrive at the peer. No message to the unknown queue arrives.
    """
    enterprise = Enterprise(peer, sut)
    sender = Sender(peer, sut, peer.format_name_of_public_queue)
    sender.send(KNOWN_QUEUE_MESSAGE_TAG)
    sender.collect_messages(sender.await_session(), 1)
    peer.inbox.acknowledge()
    enterprise.go_offline()
    far, unknown = f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}", f"PUBLIC={uuid5(UNKNOWN_GUID, f'{sut.own}-offline')}"
    tags = {tag: sut.attempt(sut.send, far, application_tag=tag) for tag in (1, 2, 3)}
    sut.attempt(sut.send, unknown, application_tag=UNKNOWN_QUEUE_MESSAGE_TAG, time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    peer.pass_time(sut.quiet_ms)
    sut.change_environment(directory=True)

    def list_tags_of_arrived_messages() -> list[int]:
        peer.inbox.acknowledge()
        return [tag for frame in peer.inbox.find(lambda frame: True) for tag in Sender.list_tags([frame])]

    later = [0]

    def is_later_message_sent() -> bool:
        if not later[0] and sut.attempt(sut.send, far, application_tag=LATER_KNOWN_QUEUE_MESSAGE_TAG) == Outcome.DONE:
            later[0] = LATER_KNOWN_QUEUE_MESSAGE_TAG
        return bool(later[0]) and later[0] in list_tags_of_arrived_messages()

    arrived_later = enterprise.wait_for_condition_during_online_timers(is_later_message_sent, timers=2)
    kept = [tag for tag, outcome in tags.items() if outcome == Outcome.DONE]
    enterprise.wait_for_condition_during_online_timers(lambda: set(kept) <= set(list_tags_of_arrived_messages()))
    arrived = list_tags_of_arrived_messages()
    judge(
        "MQDMPR-3.1.7.1.5-65",
        expected=holds("the message arrives at the peer", otherwise="the message does not arrive"),
        observed=arrived_later,
        case="message to the public queue after the directory is back",
    )
    judge(
        "MQDMPR-3.1.7.1.5-94",
        expected={"kept messages": any_order(*kept), "messages to the unknown queue": 0},
        observed={
            "kept messages": [tag for tag in arrived if tag in tags],
            "messages to the unknown queue": arrived.count(UNKNOWN_QUEUE_MESSAGE_TAG),
        },
        case="messages that arrive at the peer",
    )


@needs("send", "queue_control", "directory", "environment")
@covers("MQDMPR-3.1.7.1.5-73")
def test_send_to_missing_local_public_queue_is_refused(peer, sut, judge):
    """The SUT accepts a send to its own existing public queue. It refuses a send to a public queue that exists only as
    a directory object, also together with the existing queue.
    """
    existing, missing = (f"mqc-{sut.own}-{one}" for one in ("there", "gone"))
    peer.call_at_end_of_test(lambda: sut.change_directory_object(queue=missing, present=False))
    directory_object = sut.change_directory_object(queue=missing, present=True)
    if directory_object is None:
        judge.end_unobservable("the directory of the SUT did not create the object of a queue")
        return
    sut.create_queue(existing)

    name = f"PUBLIC={directory_object['identifier']}"

    def is_refused() -> bool:
        outcomes = [sut.attempt(sut.send, name, time_to_reach_queue_s=MESSAGE_LIFETIME_S)]
        if sut.has("open_to_send"):
            outcomes.append(openings.open_to_send(sut, name))
        return set(outcomes) == {Outcome.REFUSED}

    existing_name = sut.format_names(existing).get("public", "")
    outcome = sut.attempt(sut.send, existing_name)
    observed = (
        Outcome.REFUSED if peer.eventually(is_refused) else Outcome.DONE
    )  # what the directory has now may be known a little later
    judge(
        "MQDMPR-3.1.7.1.5-73",
        expected={existing: Outcome.DONE, missing: Outcome.REFUSED},
        observed={existing: outcome, missing: observed},
        case="outcome of the send to each public queue",
    )
    if sut.has("open_to_send") and sut.has("several_queues") and existing_name:
        judge(
            "MQDMPR-3.1.7.1.5-73",
            expected=Outcome.REFUSED,
            observed=openings.open_to_send(sut, f"{existing_name},{name}"),
            case="outcome of the opening of both public queues",
        )
