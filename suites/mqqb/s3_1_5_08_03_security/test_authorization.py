"""MS-MQQB 3.1.5.8.3 Security: which sender may write to which queue. "restricted" is for a group and for Carol.

Of the group Erin is denied it; Dave owns it, which gives him no right to write.
"""

from __future__ import annotations

import base64

from harness.expectations import holds
from harness.run.marks import covers, malforms, needs
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE, BOB, CAROL, DAVE, ERIN, MALLORY
from harness.wire.protection import SIG20
from suites.mqdmpr.steps.descriptors import descriptor
from suites.mqqb.steps.secured import BY_QUEUE_MANAGER, Secured, judge_dispositions, signed

ARRIVED, DENIED = "ACK_REACH_QUEUE", "NACK_ACCESS_DENIED"
NEEDS = needs("security", "receive")
OF_RESTRICTED = needs("security", "receive", "queue_control")
"""Nobody but the owner of a restricted queue may read it: a control channel, no remote reader."""
RESTRICTED = (
    ("MQQB-3.1.5.8.3-90", "Carol, to whom it is granted", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-91", "Carol, to whom it is granted", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-98", "Carol, to whom it is granted", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-99", "Carol, to whom it is granted", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-105", "Carol, to whom it is granted", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-110", "Carol, to whom it is granted", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-117", "Carol, to whom it is granted", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-120", "Carol, to whom it is granted", "kept", "in its queue"),
    ("MQQB-3.1.5.8.3-99", "Bob, by his group", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-114", "Bob, by his group", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-115", "Bob, by his group", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-116", "Bob, by his group", "answer", ARRIVED),
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
    ("MQQB-3.1.5.8.3-89", "Dave, whose it is, with no right to write", "answer", DENIED),
    ("MQQB-3.1.5.8.3-99", "Dave, whose it is, with no right to write", "answer", DENIED),
    ("MQQB-3.1.5.8.3-115", "Dave, whose it is, with no right to write", "answer", DENIED),
    ("MQQB-3.1.5.8.3-119", "Dave, whose it is, with no right to write", "answer", DENIED),
    ("MQQB-3.1.5.8.3-120", "Dave, whose it is, with no right to write", "answer", DENIED),
    ("MQQB-3.1.5.8.3-121", "Dave, whose it is, with no right to write", "answer", DENIED),
    ("MQDMPR-3.1.1.12-D14", "Dave, whose it is, with no right to write", "answer", DENIED),
    ("MQQB-3.1.5.8.3-127", "Dave, whose it is, with no right to write", "kept", "not in its queue"),
    ("MQQB-3.1.5.8.3-99", "Erin, denied, though of the group", "answer", DENIED),
    ("MQQB-3.1.5.8.3-115", "Erin, denied, though of the group", "answer", DENIED),
    ("MQQB-3.1.5.8.3-120", "Erin, denied, though of the group", "kept", "not in its queue"),
    ("MQQB-3.1.5.8.3-89", "Alice, signed", "answer", DENIED),
    ("MQQB-3.1.5.8.3-120", "Alice, signed", "answer", DENIED),
    ("MQQB-3.1.5.8.3-97", "a queue manager, as Everyone", "answer", DENIED),
    ("MQQB-3.1.5.8.3-99", "a queue manager, as Everyone", "answer", DENIED),
    ("MQQB-3.1.5.8.3-121", "Alice, NA is not set", "answer", "silence"),
    ("MQSO-7.3-01", "Alice, who may only peek", "answer", DENIED),
    ("MQSO-7.3-02", "Dave, whose it is, with no right to write", "answer", DENIED),
    ("MQSO-7.3-D01", "Carol, to whom it is granted", "kept", "in its queue"),
    ("MQSO-7.3-D01", "Alice, who may only peek", "kept", "not in its queue"),
    ("MQDMPR-3.1.1.12-D14", "Alice, NA is not set", "answer", "silence"),
)


@OF_RESTRICTED
@covers(*(rule for rule, *_ in RESTRICTED))
def test_a_restricted_queue(peer, sut, judge):
    """Who has the right to write, by a group or by himself, gets in; who has others, or none, does not."""
    secured = Secured(peer, sut)
    secured.agree_on_signatures(ALICE)

    def by(user, **fields):
        return secured.message(user, queue="restricted", **fields)

    dispositions = secured.dispositions(
        {
            "Carol, to whom it is granted": by(CAROL),
            "Bob, by his group": by(BOB),
            "Alice, who may only peek": by(ALICE),
            "Dave, whose it is, with no right to write": by(DAVE),
            "Erin, denied, though of the group": by(ERIN),
            "Alice, signed": signed(by(ALICE), SIG20, ALICE.key),
            "a queue manager, as Everyone": by(ALICE, security=_queue_manager(peer)),
            "Alice, NA is not set": by(ALICE, NA=0),
        },
        "restricted",
    )
    judge_dispositions(judge, secured, dispositions, RESTRICTED)


def _queue_manager(peer):
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
    ("MQQB-3.1.5.8.3-98", "nobody's SID", "answer", DENIED),
    ("MQQB-3.1.5.8.3-102", "nobody's SID", "answer", DENIED),
    ("MQQB-3.1.5.8.3-105", "nobody's SID", "answer", DENIED),
    ("MQQB-3.1.5.8.3-110", "nobody's SID", "answer", DENIED),
    ("MQQB-3.1.5.8.3-120", "nobody's SID", "answer", DENIED),
    ("MQQB-3.1.5.8.3-127", "nobody's SID", "kept", "not in its queue"),
    ("MQQB-3.1.5.8.3-102", "no SID at all", "answer", DENIED),
)


@malforms("MQMQ-2.2.20.6-03", "MQMQ-2.2.20.6-14")
@NEEDS
@covers(*(rule for rule, *_ in OPEN))
def test_a_queue_for_everyone(peer, sut, judge):
    """Everyone is who has an account, and queue managers; a SID that is nobody's gets no token, and no access."""
    secured = Secured(peer, sut)
    dispositions = secured.dispositions(
        {
            "Alice": secured.message(),
            "a queue manager, as Everyone": secured.message(security=_queue_manager(peer)),
            "nobody's SID": secured.message(MALLORY),
            "no SID at all": secured.message(security={"SecurityID": b"\1\2\3\4"}),
        }
    )
    judge_dispositions(judge, secured, dispositions, OPEN)


ACCESS = {"Alice": ARRIVED, "nobody's SID": DENIED}
OF_PUBLIC = ("MQQB-3.1.5.8.3-89", "MQQB-3.1.5.8.3-90", "MQQB-3.1.5.8.3-91", "MQQB-3.1.5.8.3-102")


@OF_RESTRICTED
@needs("directory")
@covers(*OF_PUBLIC)
def test_a_public_queue_for_everyone(peer, sut, judge):
    """A public queue that is made without a descriptor is for who has an account; a SID that is nobody's gets no
    access.
    """
    secured, name = Secured(peer, sut), f"mqc-{sut.own}-public"
    sut.create_queue(name)
    to = rf"TCP:{sut.address}\{name}"
    users = {"Alice": ALICE, "nobody's SID": MALLORY}
    sent = {who: secured.message(user, destination=to) for who, user in users.items()}
    dispositions = secured.dispositions(sent)
    table = [(rule, who, "answer", expected) for rule in OF_PUBLIC for who, expected in ACCESS.items()]
    judge_dispositions(judge, secured, dispositions, table)
    sut.delete_queue(name)


GENERIC_READ, GENERIC_WRITE, GENERIC_ALL = 0x8000_0000, 0x4000_0000, 0x1000_0000
"""Generic rights. Spec: MS-DTYP 2.4.3."""
GENERIC = ((ALICE, GENERIC_WRITE, ARRIVED), (BOB, GENERIC_READ, DENIED), (CAROL, GENERIC_ALL, ARRIVED))


@OF_RESTRICTED
@covers("MQQB-3.1.5.8.3-99")
def test_generic_rights_stand_for_those_of_a_queue(peer, sut, judge):
    """A queue is made at which one may generically write, one read, one do everything: writing is of the first and the
    last.
    """
    given = descriptor(granted=tuple((user.sid, right) for user, right, _ in GENERIC))
    try:
        name = sut.new_queue("generic", security_base64=base64.b64encode(given).decode())
    except ControlRefused as refused:
        judge.end_unobservable(f"the SUT's control channel gives a new queue no security descriptor: {refused}")
        return
    secured, to = Secured(peer, sut), rf"TCP:{sut.address}\{name}"
    dispositions = secured.dispositions({user.name: secured.message(user, destination=to) for user, *_ in GENERIC})
    table = [("MQQB-3.1.5.8.3-99", user.name, "answer", expected) for user, _, expected in GENERIC]
    judge_dispositions(judge, secured, dispositions, table)


@OF_RESTRICTED
@covers("MQQB-3.1.5.8.3-01")
def test_a_message_without_security_header_is_not_subject_to_it(peer, sut, judge):
    """E83: a message without a SecurityHeader may pass or be denied; it is never refused for a signature."""
    secured = Secured(peer, sut)
    disposition = secured.dispositions({"": secured.plain(queue="restricted")}, "restricted")[""]
    judge(
        "MQQB-3.1.5.8.3-01",
        expected=holds("allowed by E83"),
        observed=disposition.answer in (ARRIVED, DENIED) or disposition.answer,
        evidence=disposition.frames,
        errata="E83",
    )


FINALS = (
    ("MQQB-3.1.5.8.3-124", "Alice", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-124", "Alice", "kept", "in its queue"),
    ("MQQB-3.1.5.8.3-124", "nobody's SID", "final", DENIED),
    ("MQQB-3.1.5.8.3-127", "nobody's SID", "kept", "not in its queue"),
)


@NEEDS
@covers(*(rule for rule, *_ in FINALS))
def test_a_final_ack_tells_of_a_transactional_message_that_is_denied(peer, sut, judge):
    """A transactional message of somebody who may not write is refused by a FinalAck, too."""
    secured = Secured(peer, sut)
    packets = {
        "Alice": secured.message(queue="transactional"),
        "nobody's SID": secured.message(MALLORY, queue="transactional"),
    }
    judge_dispositions(judge, secured, secured.dispositions(packets, "transactional"), FINALS)
