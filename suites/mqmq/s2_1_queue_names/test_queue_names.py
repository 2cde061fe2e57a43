"""MS-MQMQ 2.1 MSMQ Queue Names: what a queue may be called and what can be sent to."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused

THIRD = UUID("6d71636f-6e66-4f72-8d00-0000000000f3")
LONGEST = 124
ALLOWED = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"+,;\\')
"""The characters that a queue's name is made of since MSMQ 2.0."""
TAKEN, REFUSED = "taken", "refused"


def _made(sut, name):
    """Return whether the SUT makes a queue of this name; it is deleted again."""
    path = f"private$\\{name}"
    try:
        sut.create_queue(path)
    except ControlRefused:
        return REFUSED
    sut.delete_queue(path)
    return TAKEN


@needs("queue_control")
@covers("MQMQ-2.1.1-01")
def test_path_names(sut, judge):
    """Queues are made of every allowed character and of 124 of them; none with another, none with 125."""
    names = {
        "the first half of the characters": (f"mqc{sut.own}{ALLOWED[:46]}", TAKEN),
        "the other half": (f"mqc{sut.own}{ALLOWED[46:]}", TAKEN),
        f"{LONGEST} characters": (sut.own.ljust(LONGEST, "m"), TAKEN),
        f"{LONGEST + 1} characters": (sut.own.ljust(LONGEST + 1, "m"), REFUSED),
        "a backslash": ("mqc\\x", REFUSED),
        "a comma": ("mqc,x", REFUSED),
        "a plus": ("mqc+x", REFUSED),
        "a quotation mark": ('mqc"x', REFUSED),
        "a space": ("mqc x", REFUSED),
        "nothing": ("", REFUSED),
    }
    for what, (name, expected) in names.items():
        judge("MQMQ-2.1.1-01", expected=f"{what}: {expected}", observed=f"{what}: {_made(sut, name)}")


FORMAT_NAMES = {
    "MQMQ-2.1.2-01": (
        [
            r"DIRECT=TCP:127.0.0.9\private$\q",
            r"DIRECT=OS:nowhere.example\PRIVATE$\q",
            r"direct=os:x\private$\Q",
        ],
        [
            r"DIRECT=UDP:127.0.0.9\private$\q",
            r"DIRECT=TCP:nowhere\private$\q",
            r"DIRECT=TCP:127.0.0.9",
            r"DIRECT=TCP:127.0.0.9\private$" + "\\",
            r"DIRECT=TCP127.0.0.9\private$\q",
            r"DIRECT=TCP:127.0.0.9\private$\a+b",
        ],
    ),
    "MQMQ-2.1.3-01": (
        [f"PUBLIC={THIRD}", f"public={str(THIRD).upper()}"],
        [f"PUBLIC={{{THIRD}}}", f"PUBLIC={THIRD.hex}", f"PUBLIC={THIRD}0", "PUBLIC=", rf"PUBLIC={THIRD}\1"],
    ),
    "MQMQ-2.1.4-01": (
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
        ["DL=", f"DL={THIRD.hex}", f"DL={{{THIRD}}}", f"DL={THIRD}@", f"DL={THIRD}@a b", rf"DL={THIRD}\1"],
    ),
    "MQMQ-2.1.6-01": (
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
        [r"DIRECT=TCP:127.0.0.9\private$\q,DIRECT=TCP:127.0.0.9\private$\r"],
        [
            r"DIRECT=TCP:127.0.0.9\private$\q,",
            r",DIRECT=TCP:127.0.0.9\private$\q",
            r"DIRECT=TCP:127.0.0.9\private$\q,TCP:127.0.0.9\private$\r",
            r"DIRECT=TCP:127.0.0.9\private$\q,DIRECT=TCP:127.0.0.9\private$\r;JOURNAL",
            rf"DIRECT=TCP:127.0.0.9\private$\q,MACHINE={THIRD}",
        ],
    ),
}
"""By rule: names that are well formed and names that are not, each near to one that is.

Whether a well-formed name of a distribution list, a connector or a multicast address can be sent to is another matter:
it takes a directory, a connector, another protocol.
"""


@needs("send")
@pytest.mark.parametrize(
    "rule", [pytest.param(rule, marks=covers(rule), id=rule.rpartition("-")[0]) for rule in FORMAT_NAMES]
)
def test_format_names(sut, judge, rule):
    """A message can be sent to every well-formed name, and to none that is not, whether anybody is there or not."""
    good, bad = FORMAT_NAMES[rule]
    for name in (*good, *bad):
        expected = TAKEN if name in good else REFUSED
        judge(rule, expected=f"{name}: {expected}", observed=f"{name}: {_sendable(sut, name)}")


def _sendable(sut, name):
    try:
        sut.send(name, body="named", label="named")
    except ControlRefused:
        return REFUSED
    return TAKEN
