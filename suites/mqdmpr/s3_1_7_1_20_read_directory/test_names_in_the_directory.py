"""MS-MQDMPR 3.1.7.1.20 to 3.1.7.1.22: queue names and routes that the queue manager reads from the directory (MS-MQSO
4.3.1.3).
"""

from __future__ import annotations

import pytest

from harness.expectations import facts, holds, in_queue
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.sut.sut_file import (
    GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE,
    GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE,
    PEER_PUBLIC_QUEUE,
)
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.sender import Sender
from suites.mqqp.steps.reader import Reader

RULES_OF_NAME_LOOKUP = (
    "MQDMPR-3.1.7.1.20-02",
    "MQDMPR-3.1.7.1.20-05",
    "MQDMPR-3.1.7.1.20-23",
    "MQDMPR-3.1.7.1.20-29",
    "MQDMPR-3.1.7.1.20-30",
)
ROUTING_RULES = (
    "MQDMPR-3.1.7.1.21-02",
    "MQDMPR-3.1.7.1.21-03",
    "MQDMPR-3.1.7.1.21-05",
    "MQDMPR-3.1.7.1.22-02",
    "MQSO-3.3.4.5-01",
    "MQSO-4.3.1.3-03",
    "MQSO-4.3.1.3-D02",
)
UNKNOWN_QUEUE_GUID = "6d71636f-6e66-4f72-8d00-0000000000bf"
"""An identifier that no queue has."""
MISSING_PRIVATE_QUEUE_NUMBER = 0xFFF0_0000
"""A number that no private queue has."""


@needs("directory", "send")
@covers(*RULES_OF_NAME_LOOKUP)
def test_message_to_public_name_is_sent_to_host_from_directory(peer, sut, judge):
    """A message to a public format name arrives at the queue manager that the directory names as the host of
    the queue.
    """
    observed, frames = await_destination_of_queue(peer, sut, PEER_PUBLIC_QUEUE)
    judge.all(
        expected={"DestinationQueue": str(PEER_PUBLIC_QUEUE), "QueueManagerAddress": str(peer.identifier)},
        observed=observed,
        evidence=frames,
    )


@needs("directory", "send")
@covers(*RULES_OF_NAME_LOOKUP, *ROUTING_RULES)
def test_message_to_other_site_is_sent_to_site_gate(peer, sut, judge):
    """A message to a public queue of another site arrives at the gate on the route to that site, and is addressed to
    the queue manager of the queue.
    """
    observed, frames = await_destination_of_queue(peer, sut, GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE)
    judge.all(
        expected={
            "DestinationQueue": str(GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE),
            "QueueManagerAddress": str(GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE),
        },
        observed=observed,
        evidence=frames,
    )


@needs("directory", "remote_read")
@covers(*RULES_OF_NAME_LOOKUP)
@pytest.mark.parametrize("kind", ["public", "private"])
def test_remote_reader_opens_queue_at_host_from_directory(peer, sut, judge, kind):
    """When an application of the SUT opens a queue for remote reading by a public or private format name, the SUT
    contacts the host that the directory names for the GUID in the format name.
    """
    names = {"public": f"PUBLIC={PEER_PUBLIC_QUEUE}", "private": private_name(peer.identifier)}
    reader = Reader(peer, sut)
    reader.begin("remote_open", queue=names[kind])
    opened = reader.server.wait("R_QMOpenRemoteQueue")
    expected = holds("the SUT opens the queue at the peer")
    judge.all(expected=expected, observed=bool(opened), evidence=opened)


def await_destination_of_queue(peer, sut, queue):
    """Let the SUT send to a public queue; return the queue and the queue manager to which the arriving message is
    addressed.
    """
    sender = Sender(peer, sut, f"PUBLIC={queue}")
    sender.send(1)
    session = sender.poll_session()
    frames = [] if session is None else sender.collect_messages(session, 1)
    if session is None or not frames:
        return "the peer received no message", []
    session.acknowledge_all()
    address = Layout(frames[-1]).of("UserHeader.DestinationQueue", "UserHeader.QueueManagerAddress")
    return {name.rpartition(".")[2]: str(value) for name, value in address.items()}, frames


LABELS_OF_MESSAGES_SENT_OFFLINE = ("first", "second")
"""The labels of the messages that the SUT sends to each of its queues without the directory."""


@needs("directory", "environment", "set_timers", "queue_control", "send", "receive")
@covers(
    "MQDMPR-3.1.7.1.20-09",
    "MQDMPR-3.1.7.1.20-13",
    "MQDMPR-3.1.7.1.20-14",
    "MQDMPR-3.1.7.1.20-17",
    "MQDMPR-3.1.7.1.20-18",
)
def test_own_queue_is_found_without_directory(peer, sut, judge):
    """While the directory is unavailable, the SUT stores two messages to each of its three public queues, one of them
    transactional, and to its own private queue whose format name contains the SUT's GUID. The SUT still finds the path
    names of these queues.
    """
    enterprise = Enterprise(peer, sut)
    public_queues = [enterprise.make_new_path_name() for _ in range(3)]
    by_guid = [
        sut.control.call("create_queue", name=one, transactional=one == public_queues[-1])["format_names"]["public"]
        for one in public_queues
    ]
    private = sut.new_queue("own")
    enterprise.go_offline()
    public_rules = ("MQDMPR-3.1.7.1.20-09", "MQDMPR-3.1.7.1.20-13", "MQDMPR-3.1.7.1.20-14")
    for name, queue, rules in (
        *((name, queue, public_rules) for name, queue in zip(by_guid, public_queues, strict=True)),
        (sut.private_format_name(private), private, ("MQDMPR-3.1.7.1.20-17", "MQDMPR-3.1.7.1.20-18")),
    ):
        delivery = "transactional" if queue == public_queues[-1] else "express"
        outcomes = [
            sut.attempt(sut.send, name, body="offline", label=word, delivery=delivery)
            for word in LABELS_OF_MESSAGES_SENT_OFFLINE
        ]
        peer.eventually(lambda queue=queue: len(sut.labels(queue)) >= len(LABELS_OF_MESSAGES_SENT_OFFLINE))
        judge(
            *rules,
            expected=facts(sends=[Outcome.DONE] * 2, queue=in_queue(*LABELS_OF_MESSAGES_SENT_OFFLINE)),
            observed={"sends": outcomes, "queue": sut.labels(queue)},
            case=queue,
        )
        if sut.has("get_queue_path"):
            path = sut.control.call("get_queue_path", format_name=name)["path"]
            found = path.lower().endswith(f"\\{queue}".lower()) or f"the path name {path}"
            judge(*rules, expected=holds("the path name is found"), observed=found, case=queue)
    sut.change_environment(directory=True)
    for queue in public_queues:
        sut.attempt(sut.delete_queue, queue)


FORMAT_NAME_OF_REMOTE_QUEUE_BY_RULE = {
    "MQDMPR-3.1.7.1.20-11": f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}",
    "MQDMPR-3.1.7.1.20-20": f"PRIVATE={GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE}\\00000001",
}
"""Two format names that only the directory can resolve: the name of a queue, and the name of a queue manager."""


@needs("directory", "environment", "set_timers", "queues", "send", "inspect")
@covers(*FORMAT_NAME_OF_REMOTE_QUEUE_BY_RULE, "MQDMPR-3.1.7.1.20-25", "MQDMPR-3.1.7.1.20-26", "MQDMPR-3.1.7.1.20-27")
def test_remote_queue_is_not_found_without_directory(peer, sut, judge):
    """While the directory is unavailable, the SUT sets DirectoryOffline and sends no messages to queues of other queue
    managers; it sends them when the directory is available again.
    """
    enterprise = Enterprise(peer, sut)
    sut.change_environment(directory=False)
    sut.attempt(sut.send, f"PUBLIC={UNKNOWN_QUEUE_GUID}", body="a name that the SUT has not read before")
    offline = peer.eventually(enterprise.is_directory_offline)
    judge(
        "MQDMPR-3.1.7.1.20-25",
        expected=holds("offline", otherwise="online"),
        observed=bool(offline),
        case="state of the directory according to the SUT",
    )
    sender = Sender(peer, sut)
    accepted = 0
    for rule, name in FORMAT_NAME_OF_REMOTE_QUEUE_BY_RULE.items():
        accepted += sut.attempt(sut.send, name, body="waits") == Outcome.DONE
        is_connected = peer.await_session(sut.quiet_ms) is not None
        not_sent = holds("no message is sent", otherwise="a session is opened")
        judge(rule, "MQDMPR-3.1.7.1.20-27", expected=not_sent, observed=not is_connected, case=name)
    sut.change_environment(directory=True)
    online = enterprise.await_directory_online()
    judge(
        "MQDMPR-3.1.7.1.20-26",
        expected=holds("online again", otherwise="offline"),
        observed=bool(online),
        case="state of the directory according to the SUT",
    )
    while accepted and (session := sender.poll_session()) is not None:
        sender.collect_messages(session, 1)
        session.acknowledge_all()
        accepted -= 1


@needs("directory", "environment", "set_timers", "queues", "queue_control", "send", "inspect")
@pytest.mark.parametrize(
    ("rule", "queue", "queue_manager"),
    [
        pytest.param(rule, queue, queue_manager, marks=covers(rule), id=name)
        for rule, queue, queue_manager, name in (
            ("MQDMPR-3.1.7.1.20-23", PEER_PUBLIC_QUEUE, None, "same site"),
            (
                "MQDMPR-3.1.7.1.21-05",
                GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE,
                GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE,
                "other site",
            ),
        )
    ],
)
def test_directory_is_read_again_after_outage(peer, sut, judge, rule, queue, queue_manager):
    """Without its directory, the SUT has sent a message to a public queue in the peer's site or in another site. When
    the directory is available again, a message to the queue arrives at the peer, addressed to the queue manager of the
    queue.
    """
    enterprise = Enterprise(peer, sut)
    enterprise.go_offline()
    sut.attempt(sut.send, f"PUBLIC={queue}", body="without the directory")
    sut.change_environment(directory=True)
    enterprise.await_directory_online()
    observed, frames = await_destination_of_queue(peer, sut, queue)
    judge(
        rule,
        expected={"DestinationQueue": str(queue), "QueueManagerAddress": str(queue_manager or peer.identifier)},
        observed=observed,
        evidence=frames,
    )


@needs("directory", "environment", "set_timers", "send", "inspect")
@covers("MQDMPR-3.1.7.1.20-25", "MQDMPR-3.1.7.1.20-26")
def test_each_outage_is_noticed_by_a_read(peer, sut, judge):
    """In each of two outages, a send to an unknown public queue makes the SUT read the directory. The SUT sets
    DirectoryOffline, and clears it when its timer has expired and the directory is available again.
    """
    enterprise = Enterprise(peer, sut)
    for outage in (1, 2):
        sut.change_environment(directory=False)
        sut.attempt(
            sut.send, f"PUBLIC={UNKNOWN_QUEUE_GUID[:-1]}{outage}", body="a name that the SUT has not read before"
        )
        offline = peer.eventually(enterprise.is_directory_offline)
        case = f"state of the directory according to the SUT in outage {outage}"
        noticed = holds("offline", otherwise="online")
        judge("MQDMPR-3.1.7.1.20-25", expected=noticed, observed=bool(offline), case=case)
        sut.change_environment(directory=True)
        back = holds("online again", otherwise="offline")
        case = f"state of the directory according to the SUT after outage {outage}"
        judge(
            "MQDMPR-3.1.7.1.20-26",
            expected=back,
            observed=bool(enterprise.await_directory_online() and offline),
            case=case,
        )


@needs("directory", "environment", "set_timers", "queue_control", "get_queue_path")
@covers("MQDMPR-3.1.7.1.20-09", "MQDMPR-3.1.7.1.20-11", "MQDMPR-3.1.7.1.20-20", "MQDMPR-3.1.7.1.20-27")
def test_remote_queue_found_before_is_not_found_without_directory(peer, sut, judge):
    """Before and after each of two outages of the directory, but not during them, the SUT finds the path names of two
    public queues of other queue managers, and the computer of another queue manager's private queue.
    """
    enterprise = Enterprise(peer, sut)
    names = {
        f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}": (
            "MQDMPR-3.1.7.1.20-09",
            "MQDMPR-3.1.7.1.20-11",
            "MQDMPR-3.1.7.1.20-27",
        ),
        f"PUBLIC={PEER_PUBLIC_QUEUE}": ("MQDMPR-3.1.7.1.20-09", "MQDMPR-3.1.7.1.20-11", "MQDMPR-3.1.7.1.20-27"),
        rf"PRIVATE={GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE}\00000001": ("MQDMPR-3.1.7.1.20-20", "MQDMPR-3.1.7.1.20-27"),
    }

    def is_queue_found():
        answers = {name: sut.control.call("get_queue_path", format_name=name) for name in names}
        return {name: answer["status"] == "MQ_OK" for name, answer in answers.items()}

    for outage in (1, 2):
        before = is_queue_found()
        enterprise.go_offline()
        offline = is_queue_found()
        sut.change_environment(directory=True)
        enterprise.await_directory_online()
        after = is_queue_found()
        for name, rules in names.items():
            judge(
                *rules,
                expected={
                    "queue is found before": True,
                    "queue is found while the directory is offline": False,
                    "queue is found afterwards": True,
                },
                observed={
                    "queue is found before": before[name],
                    "queue is found while the directory is offline": offline[name],
                    "queue is found afterwards": after[name],
                },
                case=f"outage {outage}, {name}",
            )


RULES_OF_OBJECT_LOOKUP = (
    "MQDMPR-3.1.7.1.20-02",
    "MQDMPR-3.1.7.1.20-05",
    "MQDMPR-3.1.7.1.20-23",
    "MQDMPR-3.1.7.1.20-29",
    "MQDMPR-3.1.7.1.20-30",
)


@needs("directory", "environment", "queue_control", "get_queue_path", "send")
@covers(*RULES_OF_OBJECT_LOOKUP)
def test_each_name_has_path_of_its_own_object(peer, sut, judge):
    """At each request for the path of a format name, the SUT returns the path names of its two public queues, the
    computers of two queues of other queue managers and of its own private queue, and an error for a public and a
    private format name with an unknown GUID. When an administrator has deleted the directory object of one of the SUT's
    own queues, the SUT also returns an error for the name of this queue.
    """
    enterprise = Enterprise(peer, sut)
    own = [enterprise.make_new_path_name() for _ in range(2)]
    names = {one: sut.control.call("create_queue", name=one)["format_names"]["public"] for one in own}
    names |= {
        "queue of the peer": f"PUBLIC={PEER_PUBLIC_QUEUE}",
        "far queue": f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}",
        "far private queue": rf"PRIVATE={GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE}\00000001",
        "own private queue": sut.private_format_name(sut.new_queue("own")),
        "unknown public queue": f"PUBLIC={UNKNOWN_QUEUE_GUID}",
        "private queue of an unknown computer": rf"PRIVATE={UNKNOWN_QUEUE_GUID}\00000001",
    }

    def find_paths_of_format_names():
        answers = {word: sut.control.call("get_queue_path", format_name=name) for word, name in names.items()}
        return {
            word: (one["path"] or one["machine"]).lower() if one["status"] == "MQ_OK" else one["status"]
            for word, one in answers.items()
        }

    def describe_paths_of_format_names(paths):
        peer_computer, far = paths["queue of the peer"].partition("\\")[0], paths["far queue"].partition("\\")[0]
        own_computer = paths["own private queue"].partition("\\")[0]
        return {
            "own public queues": [paths[one].partition("\\")[2] for one in own],
            "three computers": len({peer_computer, far, own_computer}),
            "computer of the own public queues": {paths[one].partition("\\")[0] for one in own} == {own_computer},
            "far private queue": paths["far private queue"] == far,
            "unknown names": [paths[word] for word in names if "unknown" in word],
        }

    sender = Sender(peer, sut)
    addresses, frames = [], []
    for queue in (PEER_PUBLIC_QUEUE, GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE):
        sut.send(f"PUBLIC={queue}", body="to a public queue")
        session = sender.poll_session()
        frames += [] if session is None else sender.collect_messages(session, 1)
        if session is not None:
            session.acknowledge_all()
        addresses.append(str(frames[-1]["UserHeader"].QueueManagerAddress) if frames else "no message")
    judge(
        "MQDMPR-3.1.7.1.20-30",
        expected=[str(peer.identifier), str(GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE)],
        observed=addresses,
        evidence=frames,
        case="QueueManagerAddress of a message to the queue of the peer and of a message to the far queue",
    )
    for time in ("first", "second"):
        judge(
            *RULES_OF_OBJECT_LOOKUP,
            expected={
                "own public queues": [one.lower() for one in own],
                "three computers": 3,
                "computer of the own public queues": True,
                "far private queue": True,
                "unknown names": ["MQ_ERROR_ILLEGAL_FORMATNAME"] * 2,
            },
            observed=describe_paths_of_format_names(find_paths_of_format_names()),
            evidence=frames,
            case=f"{time} request for each name",
        )
    try:
        enterprise.change_directory_object_of_queue(own[0], present=False)
    except ControlRefused:
        return
    peer.eventually(lambda: find_paths_of_format_names()[own[0]] == "MQ_ERROR_ILLEGAL_FORMATNAME")
    paths = find_paths_of_format_names()
    judge(
        "MQDMPR-3.1.7.1.20-23",
        "MQDMPR-3.1.7.1.20-29",
        "MQDMPR-3.1.7.1.20-30",
        expected=["MQ_ERROR_ILLEGAL_FORMATNAME", own[1].lower()],
        observed=[paths[own[0]], paths[own[1]].partition("\\")[2]],
        evidence=frames,
        case="path names of a queue without an object and of the other queue",
    )


@needs("directory", "environment", "set_timers", "queue_control", "get_queue_path")
@covers("MQDMPR-3.1.7.1.20-09")
def test_deleted_public_queue_is_not_found_without_directory(peer, sut, judge):
    """The SUT deletes one of two public queues; then the directory becomes unavailable. The SUT finds only the path
    name of the queue that it still has.
    """
    enterprise = Enterprise(peer, sut)
    queues = {word: enterprise.make_new_path_name() for word in ("kept", "deleted")}
    names = {word: sut.control.call("create_queue", name=one)["format_names"]["public"] for word, one in queues.items()}
    statuses_before = [sut.control.call("get_queue_path", format_name=name)["status"] for name in names.values()]
    sut.control.call("delete_queue", name=queues["deleted"])
    enterprise.go_offline()
    statuses = {word: sut.control.call("get_queue_path", format_name=name)["status"] for word, name in names.items()}
    sut.change_environment(directory=True)
    enterprise.await_directory_online()
    sut.attempt("delete_queue", name=queues["kept"])
    judge(
        "MQDMPR-3.1.7.1.20-09",
        expected=facts(before=["MQ_OK", "MQ_OK"], kept_queue="MQ_OK", deleted_queue="MQ_ERROR_ILLEGAL_FORMATNAME"),
        observed={"before": statuses_before, "kept_queue": statuses["kept"], "deleted_queue": statuses["deleted"]},
        case="statuses of Get Queue Path before the deletion and while the directory is offline",
    )


@needs("directory", "environment", "set_timers", "queue_control", "get_queue_path")
@covers("MQDMPR-3.1.7.1.20-17", "MQDMPR-3.1.7.1.20-18")
def test_own_computer_is_found_without_directory(peer, sut, judge):
    """While the directory is unavailable, the SUT still finds its own computer for private format names with its own
    GUID, whether the number in the name is that of an existing queue, of a deleted queue, or of no queue. The answer
    for the journal of the existing queue is the same as with the directory.
    """
    enterprise = Enterprise(peer, sut)
    queues = {word: sut.new_queue(word) for word in ("kept", "deleted")}
    names = {word: sut.private_format_name(queue) for word, queue in queues.items()}
    names["missing"] = rf"PRIVATE={sut.guid}\{MISSING_PRIVATE_QUEUE_NUMBER:08x}"
    sut.control.call("delete_queue", name=queues["deleted"])

    def find_names_of_computers():
        answers = {word: sut.control.call("get_queue_path", format_name=name) for word, name in names.items()}
        return {f"{word} queue": [one["status"], one["machine"].lower()] for word, one in answers.items()}

    def find_computer_of_journal():
        answer = sut.control.call("get_queue_path", format_name=f"{names['kept']};JOURNAL")
        return [answer["status"], answer["machine"].lower()]

    before, journal_before = find_names_of_computers(), find_computer_of_journal()
    enterprise.go_offline()
    offline = find_names_of_computers()
    journal_offline = find_computer_of_journal()
    sut.change_environment(directory=True)
    enterprise.await_directory_online()
    computer = before["kept queue"][1] or "the name of the SUT's computer"
    found = {word: ["MQ_OK", computer] for word in before}
    judge(
        "MQDMPR-3.1.7.1.20-17",
        "MQDMPR-3.1.7.1.20-18",
        expected={"with the directory": found, "without the directory": found},
        observed={"with the directory": before, "without the directory": offline},
        case="status and computer of each name",
    )
    judge(
        "MQDMPR-3.1.7.1.20-18",
        expected=journal_before,
        observed=journal_offline,
        case="status and computer of the journal without the directory",
    )
