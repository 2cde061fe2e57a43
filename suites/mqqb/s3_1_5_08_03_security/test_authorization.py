"""MS-MQQB 3.1.5.8.3 Security: the right of a sender to write to a queue.

The queue "restricted" grants writing to a group and to Carol. Erin, in the group, is denied; Dave owns the queue, which
grants no right to write.
"""

from __future__ import annotations

import base64

from harness.expectations import holds
from harness.run.marks import covers, malforms, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE, BOB, CAROL, DAVE, ERIN, MALLORY
from harness.wire.protection import SIG20
from suites.mqdmpr.steps.descriptors import descriptor
from suites.mqqb.steps.secured import BY_QUEUE_MANAGER, Secured, judge_dispositions, sign

ARRIVED, DENIED = "ACK_REACH_QUEUE", "NACK_ACCESS_DENIED"
NEEDS = needs("security", "receive")
NEEDS_OF_RESTRICTED = needs("security", "receive", "queue_control")
"""Only its owner may read a restricted queue: the check needs a control channel, not a remote reader."""
RESTRICTED = (
    ("MQQB-3.1.5.8.3-90", "Carol, with the right to write", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-91", "Carol, with the right to write", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-98", "Carol, with the right to write", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-99", "Carol, with the right to write", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-105", "Carol, with the right to write", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-110", "Carol, with the right to write", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-117", "Carol, with the right to write", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-120", "Carol, with the right to write", "kept", "in its queue"),
    ("MQQB-3.1.5.8.3-99", "Bob, by the right of his group", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-114", "Bob, by the right of his group", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-115", "Bob, by the right of his group", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-116", "Bob, by the right of his group", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-01", "Alice, who may only peek", "answer", DENIED),
    ("MQQB-3.1.5.8.3-89", "Alice, who may only peek", "answer", DENIED),
    ("MQQB-3.1.5.8.3-90", "Alice, who may only peek", "answer", DENIED),
    ("MQQB-3.1.5.8.3-91", "Alice, who may only peek", "answer", DENIED),
    ("MQQB-3.1.5.8.3-98", "Alice, who may only peek", "answer", DENIED),
    ("MQQB-3.1.5.8.3-99", "Alice, who may only peek", "answer", DENIED),
    ("MQQB-3.1.5.8.3-117", "Alice, who may only peek", "answer", DENIED),
    ("MQQB-3.1.5.8.3-119", "Alice, who may only peek", "answer", DENIED),
    ("MQQB-3.1.5.8.3-120", "Alice, who may only peek", "answer", DENIED),
    ("MQQB-3.1.5.8.3-121", "Alice, who may only peek", "answer", DENIED),
    ("MQDMPR-3.1.1.12-D14", "Alice, who may only peek", "answer", DENIED),
    ("MQQB-3.1.5.8.3-89", "Alice, who may only peek", "kept", "not in its queue"),
    ("MQQB-3.1.5.8.3-127", "Alice, who may only peek", "kept", "not in its queue"),
    ("MQQB-3.1.5.8.3-89", "Dave, the owner without the right to write", "answer", DENIED),
    ("MQQB-3.1.5.8.3-99", "Dave, the owner without the right to write", "answer", DENIED),
    ("MQQB-3.1.5.8.3-115", "Dave, the owner without the right to write", "answer", DENIED),
    ("MQQB-3.1.5.8.3-119", "Dave, the owner without the right to write", "answer", DENIED),
    ("MQQB-3.1.5.8.3-120", "Dave, the owner without the right to write", "answer", DENIED),
    ("MQQB-3.1.5.8.3-121", "Dave, the owner without the right to write", "answer", DENIED),
    ("MQDMPR-3.1.1.12-D14", "Dave, the owner without the right to write", "answer", DENIED),
    ("MQQB-3.1.5.8.3-127", "Dave, the owner without the right to write", "kept", "not in its queue"),
    ("MQQB-3.1.5.8.3-99", "Erin, denied although in the group", "answer", DENIED),
    ("MQQB-3.1.5.8.3-115", "Erin, denied although in the group", "answer", DENIED),
    ("MQQB-3.1.5.8.3-120", "Erin, denied although in the group", "kept", "not in its queue"),
    ("MQQB-3.1.5.8.3-89", "Alice, signed", "answer", DENIED),
    ("MQQB-3.1.5.8.3-120", "Alice, signed", "answer", DENIED),
    ("MQQB-3.1.5.8.3-97", "a queue manager, as Everyone", "answer", DENIED),
    ("MQQB-3.1.5.8.3-99", "a queue manager, as Everyone", "answer", DENIED),
    ("MQQB-3.1.5.8.3-121", "Alice, without NA", "answer", "silence"),
    ("MQSO-7.3-01", "Alice, who may only peek", "answer", DENIED),
    ("MQSO-7.3-02", "Dave, the owner without the right to write", "answer", DENIED),
    ("MQSO-7.3-D01", "Carol, with the right to write", "kept", "in its queue"),
    ("MQSO-7.3-D01", "Alice, who may only peek", "kept", "not in its queue"),
    ("MQDMPR-3.1.1.12-D14", "Alice, without NA", "answer", "silence"),
)


@NEEDS_OF_RESTRICTED
@covers(*(rule for rule, *_ in RESTRICTED))
def test_message_to_a_restricted_queue_needs_the_right_to_write(peer, sut, judge):
    """Messages of users with the right to write, by themselves or by a group, arrive; those of users without it are
    refused.
    """
    secured = Secured(peer, sut)
    secured.agree_on_signatures(ALICE)

    def message_of(user, **fields):
        return secured.message(user, queue="restricted", **fields)

    dispositions = secured.dispositions(
        {
            "Carol, with the right to write": message_of(CAROL),
            "Bob, by the right of his group": message_of(BOB),
            "Alice, who may only peek": message_of(ALICE),
            "Dave, the owner without the right to write": message_of(DAVE),
            "Erin, denied although in the group": message_of(ERIN),
            "Alice, signed": sign(message_of(ALICE), SIG20, ALICE.key),
            "a queue manager, as Everyone": message_of(ALICE, security=_queue_manager_security(peer)),
            "Alice, without NA": message_of(ALICE, NA=0),
        },
        "restricted",
    )
    judge_dispositions(judge, secured, dispositions, RESTRICTED)


def _queue_manager_security(peer):
    return {"ST": BY_QUEUE_MANAGER, "SecurityID": peer.identifier.bytes_le}


OPEN = (
    ("MQQB-3.1.5.8.3-89", "Alice", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-90", "Alice", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-91", "Alice", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-99", "Alice", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-105", "Alice", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-110", "Alice", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-97", "a queue manager, as Everyone", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-97", "a queue manager, as Everyone", "kept", "in its queue"),
    ("MQQB-3.1.5.8.3-98", "a SID without account", "answer", DENIED),
    ("MQQB-3.1.5.8.3-102", "a SID without account", "answer", DENIED),
    ("MQQB-3.1.5.8.3-105", "a SID without account", "answer", DENIED),
    ("MQQB-3.1.5.8.3-110", "a SID without account", "answer", DENIED),
    ("MQQB-3.1.5.8.3-120", "a SID without account", "answer", DENIED),
    ("MQQB-3.1.5.8.3-127", "a SID without account", "kept", "not in its queue"),
    ("MQQB-3.1.5.8.3-102", "a malformed SID", "answer", DENIED),
)


@malforms("MQMQ-2.2.20.6-03", "MQMQ-2.2.20.6-14")
@NEEDS
@covers(*(rule for rule, *_ in OPEN))
def test_message_to_an_open_queue_needs_an_account(peer, sut, judge):
    """Messages of a user and of a queue manager arrive in a queue for Everyone; those of a SID without account are
    refused.
    """
    secured = Secured(peer, sut)
    dispositions = secured.dispositions(
        {
            "Alice": secured.message(),
            "a queue manager, as Everyone": secured.message(security=_queue_manager_security(peer)),
            "a SID without account": secured.message(MALLORY),
            "a malformed SID": secured.message(security={"SecurityID": b"\1\2\3\4"}),
        }
    )
    judge_dispositions(judge, secured, dispositions, OPEN)


ACCESS = {"Alice": ARRIVED, "a SID without account": DENIED}
PUBLIC_RULES = ("MQQB-3.1.5.8.3-89", "MQQB-3.1.5.8.3-90", "MQQB-3.1.5.8.3-91", "MQQB-3.1.5.8.3-102")


@NEEDS_OF_RESTRICTED
@needs("directory")
@covers(*PUBLIC_RULES)
def test_message_to_an_open_public_queue_needs_an_account(peer, sut, judge):
    """A message of a user arrives in a public queue with the default descriptor; one of a SID without account is
    refused.
    """
    secured, name = Secured(peer, sut), f"mqc-{sut.own}-public"
    sut.create_queue(name)
    to = rf"TCP:{sut.address}\{name}"
    users = {"Alice": ALICE, "a SID without account": MALLORY}
    sent = {sender: secured.message(user, destination=to) for sender, user in users.items()}
    dispositions = secured.dispositions(sent)
    table = [(rule, sender, "answer", expected) for rule in PUBLIC_RULES for sender, expected in ACCESS.items()]
    judge_dispositions(judge, secured, dispositions, table)
    sut.delete_queue(name)


GENERIC_READ, GENERIC_WRITE, GENERIC_ALL = 0x8000_0000, 0x4000_0000, 0x1000_0000
"""Generic rights. Spec: MS-DTYP 2.4.3."""
GENERIC = ((ALICE, GENERIC_WRITE, ARRIVED), (BOB, GENERIC_READ, DENIED), (CAROL, GENERIC_ALL, ARRIVED))


@NEEDS_OF_RESTRICTED
@covers("MQQB-3.1.5.8.3-99")
def test_generic_rights_include_the_right_to_write(peer, sut, judge):
    """A queue grants GENERIC_WRITE, GENERIC_READ and GENERIC_ALL to one user each: messages of the first and last
    arrive.
    """
    security = descriptor(granted=tuple((user.sid, right) for user, right, _ in GENERIC))
    try:
        name = sut.new_queue("generic", security_base64=base64.b64encode(security).decode())
    except ControlRefused as refused:
        judge.end_unobservable(f"the SUT's control channel gives a new queue no security descriptor: {refused}")
        return
    secured, to = Secured(peer, sut), rf"TCP:{sut.address}\{name}"
    dispositions = secured.dispositions({user.name: secured.message(user, destination=to) for user, *_ in GENERIC})
    table = [("MQQB-3.1.5.8.3-99", user.name, "answer", expected) for user, _, expected in GENERIC]
    judge_dispositions(judge, secured, dispositions, table)


@NEEDS_OF_RESTRICTED
@covers("MQQB-3.1.5.8.3-01")
@varied("time to be received", "time to reach queue", acknowledgments=("none", "of arrival"))
def test_message_without_security_header_is_not_refused_for_its_signature(peer, sut, judge):
    """A message without a SecurityHeader for a restricted queue arrives or is denied access (E83), and nothing else."""
    secured = Secured(peer, sut)
    disposition = secured.dispositions({"": secured.plain(queue="restricted")}, "restricted")[""]
    judge(
        "MQQB-3.1.5.8.3-01",
        expected=holds("an arrival or a denied access (E83)"),
        observed=disposition.answer in (ARRIVED, DENIED) or disposition.answer,
        evidence=disposition.frames,
        errata="E83",
    )


FINALS = (
    ("MQQB-3.1.5.8.3-124", "Alice", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-124", "Alice", "kept", "in its queue"),
    ("MQQB-3.1.5.8.3-124", "a SID without account", "final", DENIED),
    ("MQQB-3.1.5.8.3-127", "a SID without account", "kept", "not in its queue"),
)


@NEEDS
@covers(*(rule for rule, *_ in FINALS))
def test_transactional_message_without_access_has_final_ack(peer, sut, judge):
    """A transactional message of a SID without account has a FinalAck with ACCESS_DENIED; one of a user has none."""
    secured = Secured(peer, sut)
    packets = {
        "Alice": secured.message(queue="transactional"),
        "a SID without account": secured.message(MALLORY, queue="transactional"),
    }
    judge_dispositions(judge, secured, secured.dispositions(packets, "transactional"), FINALS)
