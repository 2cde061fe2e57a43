"""MS-MQQB 3.1.5.8.3 Security: may the sender write to the queue? The queue restricted is for a group and for Carol."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE, BOB, CAROL, DAVE, MALLORY
from harness.wire.protection import SIG20
from suites.mqqb.steps.secured import BY_QUEUE_MANAGER, Secured, signed
from suites.mqqb.steps.tables import RULE, covers_table, judged

ARRIVED, DENIED = "ACK_REACH_QUEUE", "NACK_ACCESS_DENIED"
NEEDS = needs("security", "receive", "configure")
RESTRICTED = [
    ("Carol, to whom it is granted", "answer", ARRIVED, "90 91 98 99 105 110 117"),
    ("Carol, to whom it is granted", "kept", "in its queue", "120"),
    ("Bob, by his group", "answer", ARRIVED, "99 114 115 116"),
    ("Alice, who may only peek", "answer", DENIED, "01 89 90 91 98 99 117 119 120 121"),
    ("Alice, who may only peek", "kept", "not in its queue", "89 127"),
    ("Dave, of whom it says nothing", "answer", DENIED, "89 99 115 119 120 121"),
    ("Dave, of whom it says nothing", "kept", "not in its queue", "127"),
    ("Alice, signed", "answer", DENIED, "89 120"),
    ("a queue manager, as Everyone", "answer", DENIED, "97 99"),
    ("Alice, NA is not set", "answer", "silence", "121"),
]


@NEEDS
@covers_table(RESTRICTED)
def test_a_restricted_queue(peer, sut, judge):
    """Who has the right to write, by a group or by himself, gets in; who has others, or none, does not."""
    secured = Secured(peer, sut)

    def by(user, **fields):
        return secured.message(user, queue="restricted", **fields)

    fates = secured.fates(
        {
            "Carol, to whom it is granted": by(CAROL),
            "Bob, by his group": by(BOB),
            "Alice, who may only peek": by(ALICE),
            "Dave, of whom it says nothing": by(DAVE),
            "Alice, signed": signed(by(ALICE), SIG20, ALICE.key),
            "a queue manager, as Everyone": by(ALICE, security=_queue_manager(peer)),
            "Alice, NA is not set": by(ALICE, NA=0),
        },
        "restricted",
    )
    judged(judge, fates, RESTRICTED)


def _queue_manager(peer):
    return {"ST": BY_QUEUE_MANAGER, "SecurityID": peer.identifier.bytes_le}


OPEN = [
    ("Alice", "answer", ARRIVED, "89 90 91 99 105 110"),
    ("a queue manager, as Everyone", "answer", ARRIVED, "97"),
    ("a queue manager, as Everyone", "kept", "in its queue", "97"),
    ("nobody's SID", "answer", DENIED, "98 102 105 110 120"),
    ("nobody's SID", "kept", "not in its queue", "127"),
    ("no SID at all", "answer", DENIED, "102"),
]


@NEEDS
@covers_table(OPEN)
def test_a_queue_for_everyone(peer, sut, judge):
    """Everyone is who has an account, and queue managers; a SID that is nobody's gets no token, and no access."""
    secured = Secured(peer, sut)
    fates = secured.fates(
        {
            "Alice": secured.message(),
            "a queue manager, as Everyone": secured.message(security=_queue_manager(peer)),
            "nobody's SID": secured.message(MALLORY),
            "no SID at all": secured.message(security={"SecurityID": b"\1\2\3\4"}),
        }
    )
    judged(judge, fates, OPEN)


@NEEDS
@covers(f"{RULE}01")
def test_a_message_without_security_header_is_not_subject_to_it(peer, sut, judge):
    """E83: what passes without a SecurityHeader may pass or be denied; it is never refused for a signature."""
    secured = Secured(peer, sut)
    fate = secured.fates({"": secured.plain(queue="restricted")}, "restricted")[""]
    observed = "allowed by E83" if fate.answer in (ARRIVED, DENIED) else fate.answer
    judge(f"{RULE}01", expected="allowed by E83", observed=observed, evidence=fate.frames, errata="E83")


FINALS = [
    ("Alice", "final", "no FinalAck", "124"),
    ("Alice", "kept", "in its queue", "124"),
    ("nobody's SID", "final", DENIED, "124"),
    ("nobody's SID", "kept", "not in its queue", "127"),
]


@NEEDS
@covers_table(FINALS)
def test_a_final_ack_tells_of_a_transactional_message_that_is_denied(peer, sut, judge):
    """A transactional message of somebody who may not write is told of by a FinalAck, too."""
    secured = Secured(peer, sut)
    packets = {
        "Alice": secured.message(queue="transactional"),
        "nobody's SID": secured.message(MALLORY, queue="transactional"),
    }
    judged(judge, secured.fates(packets, "transactional"), FINALS)
