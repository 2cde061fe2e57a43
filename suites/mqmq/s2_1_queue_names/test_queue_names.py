"""MS-MQMQ 2.1 MSMQ Queue Names: path names of created queues, and format names of destinations."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import pytest

from harness.expectations import fields
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome, get_outcome_of_call
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.sender import Sender

UNKNOWN_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f3")
LONGEST_QUEUE_NAME_LENGTH = 124
ALLOWED_NAME_CHARACTERS = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"+,;\\')
"""The characters that MSMQ 2.0 and later allow in queue names."""


def _create_queue(sut, name):
    """Create a queue of the SUT, and delete it again if it was created; return DONE or REFUSED."""
    path = f"private$\\{name}"
    outcome = get_outcome_of_call(lambda: sut.create_queue(path))
    if outcome == Outcome.DONE:
        sut.attempt(sut.delete_queue, path)
    return outcome


@needs("queue_control")
@covers("MQMQ-2.1.1-01", "MQDMPR-3.1.7.1.3-05")
@varied("queue journaling", "queue quota", "queue privacy")
def test_queue_is_created_only_under_well_formed_path_name(sut, judge):
    """Queues can be created with names that contain every allowed character, and with names of 124 characters. Names
    with a forbidden character and names of 125 characters are refused.
    """
    names = {
        "a name of the first half of the allowed characters": (
            f"mqc{sut.own}{ALLOWED_NAME_CHARACTERS[:46]}",
            Outcome.DONE,
        ),
        "a name of the second half of the allowed characters": (
            f"mqc{sut.own}{ALLOWED_NAME_CHARACTERS[46:]}",
            Outcome.DONE,
        ),
        f"a name of {LONGEST_QUEUE_NAME_LENGTH} characters": (
            sut.own.ljust(LONGEST_QUEUE_NAME_LENGTH, "m"),
            Outcome.DONE,
        ),
        f"a name of {LONGEST_QUEUE_NAME_LENGTH + 1} characters": (
            sut.own.ljust(LONGEST_QUEUE_NAME_LENGTH + 1, "m"),
            Outcome.REFUSED,
        ),
        "a backslash in its name": ("mqc\\x", Outcome.REFUSED),
        "a comma in its name": ("mqc,x", Outcome.REFUSED),
        "a plus sign in its name": ("mqc+x", Outcome.REFUSED),
        "a quotation mark in its name": ('mqc"x', Outcome.REFUSED),
        "a space in its name": ("mqc x", Outcome.REFUSED),
        "a space at the end of its name": (f"mqc{sut.own} ", Outcome.REFUSED),
        "an empty name": ("", Outcome.REFUSED),
        "the name of the journal of a missing queue": (f"mqc{sut.own};journal", Outcome.REFUSED),
        "the name of a subqueue of a missing queue": (f"mqc{sut.own};sub", Outcome.REFUSED),
    }
    for what, (name, expected) in names.items():
        rules = ("MQMQ-2.1.1-01",) if expected == Outcome.DONE else ("MQMQ-2.1.1-01", "MQDMPR-3.1.7.1.3-05")
        observed = _create_queue(sut, name)
        judge(*rules, expected=expected, observed=observed, case=f"creation of a queue with {what}")


LONGEST_SUBQUEUE_NAME_LENGTH = 32
"""The length of the longest name of a subqueue (MS-MQMQ 2.1.2)."""


@needs("queue_control", "subqueues")
@covers("MQMQ-2.1.1-01", "MQDMPR-3.1.7.1.3-05")
@varied("queue journaling", "queue quota", "queue privacy")
def test_subqueue_is_created_only_under_name_of_up_to_32_characters(sut, judge):
    """A subqueue can be created with a name of 32 characters; names of 33 and 64 characters, an empty name and names
    with a forbidden character are refused.
    """
    queue = sut.new_queue("parent")
    names = {
        f"a name of {LONGEST_SUBQUEUE_NAME_LENGTH} characters": ("s" * LONGEST_SUBQUEUE_NAME_LENGTH, Outcome.DONE),
        f"a name of {LONGEST_SUBQUEUE_NAME_LENGTH + 1} characters": (
            "s" * (LONGEST_SUBQUEUE_NAME_LENGTH + 1),
            Outcome.REFUSED,
        ),
        "a name of 64 characters": ("s" * 64, Outcome.REFUSED),
        "a plus sign in its name": ("s+x", Outcome.REFUSED),
        "a comma in its name": ("s,x", Outcome.REFUSED),
        "a backslash in its name": ("s\\x", Outcome.REFUSED),
        "a quotation mark in its name": ('s"x', Outcome.REFUSED),
        "a space in its name": ("s x", Outcome.REFUSED),
        "an empty name": ("", Outcome.REFUSED),
    }
    for what, (name, expected) in names.items():
        observed = sut.attempt(sut.create_queue, f"{queue};{name}")
        rules = ("MQMQ-2.1.1-01",) if expected == Outcome.DONE else ("MQMQ-2.1.1-01", "MQDMPR-3.1.7.1.3-05")
        judge(*rules, expected=expected, observed=observed, case=f"creation of a subqueue with {what}")


READ_ONLY_QUEUE_FORMAT_NAMES = (
    r"DIRECT=TCP:127.0.0.9\private$\r;JOURNAL",
    r"DIRECT=OS:nowhere.example\r;JOURNAL",
    r"DIRECT=TCP:127.0.0.9\SYSTEM$;JOURNAL",
    r"DIRECT=TCP:127.0.0.9\SYSTEM$;DEADLETTER",
    r"DIRECT=TCP:127.0.0.9\SYSTEM$;DEADXACT",
    f"PUBLIC={UNKNOWN_QUEUE_GUID};JOURNAL",
    rf"PRIVATE={UNKNOWN_QUEUE_GUID}\1;JOURNAL",
    f"MACHINE={UNKNOWN_QUEUE_GUID}",
    f"MACHINE={UNKNOWN_QUEUE_GUID};JOURNAL",
    f"MACHINE={UNKNOWN_QUEUE_GUID};DEADLETTER",
    f"MACHINE={UNKNOWN_QUEUE_GUID};DEADXACT",
)
"""Names of queues to which messages cannot be sent."""
DIRECT_NAME_TEMPLATE = r"DIRECT=TCP:127.0.0.9\private$\{}"
NAMES_WITH_MALFORMED_ADDRESS = (
    r"DIRECT=TCP:nowhere\private$\q",
    r"DIRECT=TCP:127.0.0\private$\q",
    r"DIRECT=TCP:127.0.0.256\private$\q",
    r"DIRECT=TCP:127.0.0.9.1\private$\q",
    r"DIRECT=TCP:\private$\q",
    r"DIRECT=OS:\private$\q",
    r"DIRECT=HTTP:nowhere.example/msmq\private$\q",
    r"DIRECT=HTTP://nowhere.example/other\private$\q",
    r"DIRECT=HTTP://nowhere.example:port/msmq\private$\q",
    r"DIRECT=HTTPS:///msmq\private$\q",
    r"DIRECT=IPX:0000000000000001\private$\q",
    r"DIRECT=IPX:xyz:1\private$\q",
)


class FormatNameCases(NamedTuple):
    """The format names by which a rule is judged: names that must be accepted, names that must be refused, and names
    whose outcome is not judged.
    """

    accepted: list[str]
    unjudged_names: list[str]
    """Well-formed names of queues that the SUT may refuse because no directory knows them (MS-MQDMPR 3.1.7.1.5), or
    because their protocol is not installed.
    """
    refused: list[str]


def build_lists_with_name(name):
    """Return lists of format names that contain a name: as the first, the middle and the last element."""
    others = [DIRECT_NAME_TEMPLATE.format(one) for one in "qr"]
    return [",".join([*others[:place], name, *others[place:]]) for place in range(3)]


FORMAT_NAME_CASES_BY_RULE = {
    "MQMQ-2.1.2-01": FormatNameCases(
        [
            r"DIRECT=TCP:127.0.0.9\private$\q",
            r"DIRECT=TCP:127.0.0.9\q",
            r"DIRECT=OS:nowhere.example\PRIVATE$\q",
            r"direct=os:x\private$\Q",
            rf"DIRECT=TCP:127.0.0.9\private$\{'q' * LONGEST_QUEUE_NAME_LENGTH}",
        ],
        [],
        [
            r"DIRECT=UDP:127.0.0.9\private$\q",
            r"DIRECT=SPX:00000001:000000000001\private$\q",
            r"DIRECT=TCP:127.0.0.9",
            r"DIRECT=TCP:127.0.0.9\private$" + "\\",
            r"DIRECT=TCP127.0.0.9\private$\q",
            r"DIRECT=TCP:127.0.0.9\private$\a+b",
            r"DIRECT=TCP:127.0.0.9\private$\a,b",
            rf"DIRECT=TCP:127.0.0.9\private$\{'q' * (LONGEST_QUEUE_NAME_LENGTH + 1)}",
            "DIRECT=",
            r"TCP:127.0.0.9\private$\q",
            r"DIRECT=TCP:\private$\q",
            r"DIRECT=127.0.0.9\private$\q",
            r"DIRECT=:127.0.0.9\private$\q",
        ],
    ),
    "MQMQ-2.1.2-D01": FormatNameCases(
        [r"DIRECT=TCP:127.0.0.9\private$\q", r"DIRECT=OS:nowhere.example\private$\q", r"DIRECT=OS:nowhere\q"],
        [r"DIRECT=HTTP://nowhere.example/msmq\private$\q", r"DIRECT=IPX:00000001:000000000001\private$\q"],
        list(NAMES_WITH_MALFORMED_ADDRESS),
    ),
    "MQMQ-2.1.3-01": FormatNameCases(
        [],
        [f"PUBLIC={UNKNOWN_QUEUE_GUID}", f"public={str(UNKNOWN_QUEUE_GUID).upper()}"],
        [
            f"PUBLIC={{{UNKNOWN_QUEUE_GUID}}}",
            f"PUBLIC={UNKNOWN_QUEUE_GUID.hex}",
            f"PUBLIC={UNKNOWN_QUEUE_GUID}0",
            "PUBLIC=",
            rf"PUBLIC={UNKNOWN_QUEUE_GUID}\1",
            f"PUBLIC={UNKNOWN_QUEUE_GUID};JOURNAL",
            f"PUBLIC={UNKNOWN_QUEUE_GUID}@nowhere.example",
            *build_lists_with_name(f"PUBLIC={{{UNKNOWN_QUEUE_GUID}}}"),
            *build_lists_with_name(f"PUBLIC={UNKNOWN_QUEUE_GUID.hex}"),
        ],
    ),
    "MQMQ-2.1.4-01": FormatNameCases(
        [],
        [rf"PRIVATE={UNKNOWN_QUEUE_GUID}\1", rf"PRIVATE={UNKNOWN_QUEUE_GUID}\0000abCD"],
        [
            f"PRIVATE={UNKNOWN_QUEUE_GUID}",
            rf"PRIVATE={UNKNOWN_QUEUE_GUID}" + "\\",
            rf"PRIVATE={UNKNOWN_QUEUE_GUID}\123456789",
            rf"PRIVATE={UNKNOWN_QUEUE_GUID}\00000ABCD",
            rf"PRIVATE={{{UNKNOWN_QUEUE_GUID}}}\1",
            rf"PRIVATE={UNKNOWN_QUEUE_GUID}\xyz",
            rf"PRIVATE={UNKNOWN_QUEUE_GUID.hex}\1",
            rf"PRIVATE={UNKNOWN_QUEUE_GUID}\0x1",
            rf"PRIVATE={UNKNOWN_QUEUE_GUID}/1",
            *build_lists_with_name(rf"PRIVATE={UNKNOWN_QUEUE_GUID}\0x1"),
            *build_lists_with_name(rf"PRIVATE={UNKNOWN_QUEUE_GUID}\00000ABCD"),
        ],
    ),
    "MQMQ-2.1.5-01": FormatNameCases(
        [],
        [],
        [
            "DL=",
            f"DL={UNKNOWN_QUEUE_GUID.hex}",
            f"DL={{{UNKNOWN_QUEUE_GUID}}}",
            f"DL={UNKNOWN_QUEUE_GUID}@",
            f"DL={UNKNOWN_QUEUE_GUID}@a b",
            rf"DL={UNKNOWN_QUEUE_GUID}\1",
        ],
    ),
    "MQMQ-2.1.6-01": FormatNameCases(
        [],
        [],
        [
            "MULTICAST=223.1.1.1:80",
            "MULTICAST=240.1.1.1:80",
            "MULTICAST=234.1.1:80",
            "MULTICAST=234.1.1.256:80",
            "MULTICAST=234.1.1.1",
            "MULTICAST=234.1.1.1:65536",
            "MULTICAST=234.1.1.1:",
            f"MACHINE={UNKNOWN_QUEUE_GUID.hex}",
            f"CONNECTOR={UNKNOWN_QUEUE_GUID.hex}",
            f"CONNECTOR={{{UNKNOWN_QUEUE_GUID}}}",
        ],
    ),
    "MQMQ-2.1.7-01": FormatNameCases(
        [",".join(DIRECT_NAME_TEMPLATE.format(name) for name in names) for names in ("qr", "qrs", "abcdefgh")],
        [],
        [
            r"DIRECT=TCP:127.0.0.9\private$\q,",
            r",DIRECT=TCP:127.0.0.9\private$\q",
            r"DIRECT=TCP:127.0.0.9\private$\q,,DIRECT=TCP:127.0.0.9\private$\r",
            r"DIRECT=TCP:127.0.0.9\private$\q,TCP:127.0.0.9\private$\r",
            r"DIRECT=TCP:127.0.0.9\private$\q;DIRECT=TCP:127.0.0.9\private$\r",
        ],
    ),
    "MQMQ-2.1.7-D01": FormatNameCases(
        [",".join(DIRECT_NAME_TEMPLATE.format(name) for name in "qr")],
        [],
        [
            ",".join(names)
            for one in READ_ONLY_QUEUE_FORMAT_NAMES
            for names in (
                [one, DIRECT_NAME_TEMPLATE.format("q")],
                [DIRECT_NAME_TEMPLATE.format("q"), one],
                [DIRECT_NAME_TEMPLATE.format("q"), one, DIRECT_NAME_TEMPLATE.format("r")],
            )
        ],
    ),
}
"""For each rule, the format names that the rule  is about.

Well-formed names of distribution lists, connectors and multicast addresses are not included, because messages to them
require a directory, a connector or a different protocol.
"""
CAPABILITY_AND_NAME_GETTER_BY_RULE = {
    "MQMQ-2.1.3-01": ("public_names", lambda peer, sut: peer.format_name_of_public_queue),
    "MQMQ-2.1.4-01": ("private_names", lambda peer, sut: peer.build_private_format_name_of_peer(0xABCD)),
    "MQMQ-2.1.7-01": ("several_queues", lambda peer, sut: f"{sut.format_name('plain')},{sut.format_name('admin')}"),
}
"""For each rule, the capability that a SUT needs to accept a well-formed name, and a function that returns such a name.
"""
MULTIPLE_ELEMENT_NAME_RULES = ("MQMQ-2.1.7-01", "MQMQ-2.1.7-D01")
"""The rules about multiple-element format names."""


@needs("send")
@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(
            rule,
            marks=[covers(rule), *([needs("several_queues")] if rule in MULTIPLE_ELEMENT_NAME_RULES else [])],
            id=rule.partition("-")[2],
        )
        for rule in FORMAT_NAME_CASES_BY_RULE
    ],
)
def test_message_is_sent_only_to_well_formed_format_name(peer, sut, judge, rule):
    """Messages to well-formed names are accepted, and messages to malformed names are refused. Messages to well-formed
    names of queues that no directory contains are not judged.
    """
    names = FORMAT_NAME_CASES_BY_RULE[rule]
    accepted = names.accepted
    if rule in CAPABILITY_AND_NAME_GETTER_BY_RULE:
        capability, known = CAPABILITY_AND_NAME_GETTER_BY_RULE[rule]
        if sut.has(capability):
            accepted = [*accepted, known(peer, sut)]
    outcomes = {name: sut.attempt(sut.send, name, body="named", label="named") for name in accepted}
    outcomes |= {name: _send_message_to_name(sut, name) for name in (*names.unjudged_names, *names.refused)}
    if names.unjudged_names and not accepted and Outcome.DONE not in outcomes.values():
        judge.mark_not_exercised(
            rule, reason="the SUT refuses every name, including the well-formed names of unknown queues"
        )
        return
    for name in (*accepted, *names.refused):
        expected = Outcome.DONE if name in accepted else Outcome.REFUSED
        judge(rule, expected=expected, observed=outcomes[name], case=f"outcome of the send to {name}")


def _send_message_to_name(sut, name):
    """Return DONE if the SUT sends to a name. A well-formed name is not always sufficient for a send; for such a name,
    return DONE if the SUT opens the name for sending.
    """
    sent = get_outcome_of_call(lambda: sut.send(name, body="named", label="named"))
    if sent == Outcome.DONE or not sut.has("open_to_send"):
        return sent
    return get_outcome_of_call(lambda: sut.control.call("open_to_send", to=name))


@needs("private_names")
@covers("MQMQ-2.1.4-D01")
@pytest.mark.parametrize("number", [0x1, 0x0000_BEEF, 0x0012_3456, 0xFFFF_FFFE])
@varied("acknowledgments", "positive journaling", "time to reach queue", "trace", "label")
def test_message_is_sent_to_any_private_queue_number_of_host(peer, sut, judge, number):
    """A message to PRIVATE= with the GUID of the peer and any queue number is sent to the peer, with that number as
    DestinationQueue.
    """
    sender = Sender(peer, sut, to=peer.build_private_format_name_of_peer(number))
    wanted = {
        "UserHeader.QueueManagerAddress": str(peer.identifier),
        "UserHeader.DestinationQueue": f"{number:08x}",
    }
    try:
        sender.send(1)
    except ControlRefused as refused:
        judge("MQMQ-2.1.4-D01", expected=fields(wanted), observed=f"refused: {refused}")
        return
    session, sent = sender.await_first_messages(1)
    judge("MQMQ-2.1.4-D01", expected=fields(wanted), observed=Layout(sent[0]), evidence=sent)
    session.acknowledge_all()
