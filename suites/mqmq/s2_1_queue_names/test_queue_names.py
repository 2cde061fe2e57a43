"""MS-MQMQ 2.1 MSMQ Queue Names: the names under which queues are created, and the names to which messages are sent."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.expectations import fields
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.applications import DONE, REFUSED, tried
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.sender import Sender

THIRD = UUID("6d71636f-6e66-4f72-8d00-0000000000f3")
LONGEST = 124
ALLOWED = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"+,;\\')
"""The characters that a queue's name is made of since MSMQ 2.0."""


def _create(sut, name):
    """Create and delete a queue of the SUT; return DONE or REFUSED."""
    path = f"private$\\{name}"
    made = tried(lambda: sut.create_queue(path))
    if made == DONE:
        sut.delete_queue(path)
    return made


@needs("queue_control")
@covers("MQMQ-2.1.1-01", "MQDMPR-3.1.7.1.3-05")
def test_queue_is_created_only_under_well_formed_path_name(sut, judge):
    """Queues with every allowed character and of 124 characters are created.

    A name with a character that is not allowed, or of 125 characters, is refused.
    """
    names = {
        "the first half of the characters": (f"mqc{sut.own}{ALLOWED[:46]}", DONE),
        "the other half": (f"mqc{sut.own}{ALLOWED[46:]}", DONE),
        f"{LONGEST} characters": (sut.own.ljust(LONGEST, "m"), DONE),
        f"{LONGEST + 1} characters": (sut.own.ljust(LONGEST + 1, "m"), REFUSED),
        "a backslash": ("mqc\\x", REFUSED),
        "a comma": ("mqc,x", REFUSED),
        "a plus": ("mqc+x", REFUSED),
        "a quotation mark": ('mqc"x', REFUSED),
        "a space": ("mqc x", REFUSED),
        "nothing": ("", REFUSED),
        "a journal of no queue": (f"mqc{sut.own};journal", REFUSED),
        "a subqueue of no queue": (f"mqc{sut.own};sub", REFUSED),
    }
    for what, (name, expected) in names.items():
        rules = ("MQMQ-2.1.1-01",) if expected == DONE else ("MQMQ-2.1.1-01", "MQDMPR-3.1.7.1.3-05")
        observed = _create(sut, name)
        judge(*rules, expected=expected, observed=observed, case=what)


READ_ONLY = (
    r"DIRECT=TCP:127.0.0.9\private$\r;JOURNAL",
    r"DIRECT=OS:nowhere.example\r;JOURNAL",
    r"DIRECT=TCP:127.0.0.9\SYSTEM$;JOURNAL",
    r"DIRECT=TCP:127.0.0.9\SYSTEM$;DEADLETTER",
    r"DIRECT=TCP:127.0.0.9\SYSTEM$;DEADXACT",
    f"PUBLIC={THIRD};JOURNAL",
    rf"PRIVATE={THIRD}\1;JOURNAL",
    f"MACHINE={THIRD}",
    f"MACHINE={THIRD};JOURNAL",
    f"MACHINE={THIRD};DEADLETTER",
    f"MACHINE={THIRD};DEADXACT",
)
"""Names of queues that can only be read."""
WRITABLE = r"DIRECT=TCP:127.0.0.9\private$\{}"
BAD_ADDRESSES = (
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
FORMAT_NAMES = {
    "MQMQ-2.1.2-01": (
        [
            r"DIRECT=TCP:127.0.0.9\private$\q",
            r"DIRECT=TCP:127.0.0.9\q",
            r"DIRECT=OS:nowhere.example\PRIVATE$\q",
            r"direct=os:x\private$\Q",
            rf"DIRECT=TCP:127.0.0.9\private$\{'q' * LONGEST}",
        ],
        [],
        [
            r"DIRECT=UDP:127.0.0.9\private$\q",
            r"DIRECT=TCP:127.0.0.9",
            r"DIRECT=TCP:127.0.0.9\private$" + "\\",
            r"DIRECT=TCP127.0.0.9\private$\q",
            r"DIRECT=TCP:127.0.0.9\private$\a+b",
            r"DIRECT=TCP:127.0.0.9\private$\a,b",
            rf"DIRECT=TCP:127.0.0.9\private$\{'q' * (LONGEST + 1)}",
            "DIRECT=",
            r"TCP:127.0.0.9\private$\q",
        ],
    ),
    "MQMQ-2.1.2-D01": (
        [r"DIRECT=TCP:127.0.0.9\private$\q", r"DIRECT=OS:nowhere.example\private$\q", r"DIRECT=OS:nowhere\q"],
        [r"DIRECT=HTTP://nowhere.example/msmq\private$\q", r"DIRECT=IPX:00000001:000000000001\private$\q"],
        list(BAD_ADDRESSES),
    ),
    "MQMQ-2.1.3-01": (
        [],
        [f"PUBLIC={THIRD}", f"public={str(THIRD).upper()}"],
        [f"PUBLIC={{{THIRD}}}", f"PUBLIC={THIRD.hex}", f"PUBLIC={THIRD}0", "PUBLIC=", rf"PUBLIC={THIRD}\1"],
    ),
    "MQMQ-2.1.4-01": (
        [],
        [rf"PRIVATE={THIRD}\1", rf"PRIVATE={THIRD}\0000abCD"],
        [
            f"PRIVATE={THIRD}",
            rf"PRIVATE={THIRD}" + "\\",
            rf"PRIVATE={THIRD}\123456789",
            rf"PRIVATE={THIRD}\xyz",
            rf"PRIVATE={THIRD.hex}\1",
        ],
    ),
    "MQMQ-2.1.5-01": (
        [],
        [],
        ["DL=", f"DL={THIRD.hex}", f"DL={{{THIRD}}}", f"DL={THIRD}@", f"DL={THIRD}@a b", rf"DL={THIRD}\1"],
    ),
    "MQMQ-2.1.6-01": (
        [],
        [],
        [
            "MULTICAST=223.1.1.1:80",
            "MULTICAST=240.1.1.1:80",
            "MULTICAST=234.1.1:80",
            "MULTICAST=234.1.1.256:80",
            "MULTICAST=234.1.1.1",
            "MULTICAST=234.1.1.1:65536",
            f"MACHINE={THIRD.hex}",
            f"CONNECTOR={{{THIRD}}}",
        ],
    ),
    "MQMQ-2.1.7-01": (
        [",".join(WRITABLE.format(name) for name in names) for names in ("qr", "qrs", "abcdefgh")],
        [],
        [
            r"DIRECT=TCP:127.0.0.9\private$\q,",
            r",DIRECT=TCP:127.0.0.9\private$\q",
            r"DIRECT=TCP:127.0.0.9\private$\q,,DIRECT=TCP:127.0.0.9\private$\r",
            r"DIRECT=TCP:127.0.0.9\private$\q,TCP:127.0.0.9\private$\r",
            r"DIRECT=TCP:127.0.0.9\private$\q;DIRECT=TCP:127.0.0.9\private$\r",
        ],
    ),
    "MQMQ-2.1.7-D01": (
        [",".join(WRITABLE.format(name) for name in "qr")],
        [],
        [
            ",".join(names)
            for one in READ_ONLY
            for names in (
                [one, WRITABLE.format("q")],
                [WRITABLE.format("q"), one],
                [WRITABLE.format("q"), one, WRITABLE.format("r")],
            )
        ],
    ),
}
"""By rule: names that are well formed, those that are too but that nobody has to know, and those that are not.

A name may be refused because no directory knows it (MS-MQDMPR 3.1.7.1.5), and because its protocol is not installed.
Whether a well-formed name of a distribution list, a connector or a multicast address can be sent to is another matter:
it takes a directory, a connector, another protocol.
"""
KNOWN = {
    "MQMQ-2.1.3-01": ("public_names", lambda peer, sut: f"PUBLIC={PEER_PUBLIC_QUEUE}"),
    "MQMQ-2.1.4-01": ("private_names", lambda peer, sut: rf"PRIVATE={peer.identifier}\0000abCD"),
    "MQMQ-2.1.7-01": ("several_queues", lambda peer, sut: f"{sut.format_name('plain')},{sut.format_name('admin')}"),
}
"""By rule: the capability of a system that knows a certain name, and that name."""
SEVERAL = ("MQMQ-2.1.7-01", "MQMQ-2.1.7-D01")
"""The rules of names of more than one queue."""


@needs("send")
@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(
            rule,
            marks=[covers(rule), *([needs("several_queues")] if rule in SEVERAL else [])],
            id=rule.partition("-")[2],
        )
        for rule in FORMAT_NAMES
    ],
)
def test_message_is_sent_only_to_well_formed_format_name(peer, sut, judge, rule):
    """Messages to well-formed names are accepted, and to malformed names refused.

    Well-formed names of queues that no directory knows are not judged.
    """
    good, unknown, bad = FORMAT_NAMES[rule]
    if rule in KNOWN:
        capability, known = KNOWN[rule]
        if sut.has(capability):
            good = [*good, known(peer, sut)]
    taken = {name: _sendable(sut, name) for name in (*good, *unknown, *bad)}
    if unknown and not good and DONE not in taken.values():
        judge.mark_not_exercised(
            rule, reason="every name is refused, those that are well formed as well: nobody may know them"
        )
        return
    for name in (*good, *bad):
        expected = DONE if name in good else REFUSED
        judge(rule, expected=expected, observed=taken[name], case=name)


def _sendable(sut, name):
    return tried(lambda: sut.send(name, body="named", label="named"))


@needs("send", "private_names")
@covers("MQMQ-2.1.4-D01")
@pytest.mark.parametrize("number", [0x1, 0x0000_BEEF, 0xFFFF_FFFE])
def test_message_is_sent_to_any_private_queue_number_of_host(peer, sut, judge, number):
    """A message to PRIVATE= with the GUID of the peer and any queue number is sent to the peer, with that number as
    DestinationQueue.
    """
    sender = Sender(peer, sut, to=rf"PRIVATE={peer.identifier}\{number:08X}")
    wanted = {
        "UserHeader.QueueManagerAddress": str(peer.identifier),
        "UserHeader.DestinationQueue": f"{number:08x}",
    }
    try:
        sender.send(1)
    except ControlRefused as refused:
        judge("MQMQ-2.1.4-D01", expected=fields(wanted), observed=f"refused: {refused}")
        return
    session, sent = sender.first(1)
    judge("MQMQ-2.1.4-D01", expected=fields(wanted), observed=Layout(sent[0]), evidence=sent)
    sender.acknowledge_all(session)
