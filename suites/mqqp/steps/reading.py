"""What checks of remote reading begin with: messages in a queue of the SUT, which is open for reading from afar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.judging.judge import Judge
from harness.peer.association import Call
from harness.peer.remote import LOOKUP, START, START2, Remote, RemoteQueue, described, packet_of
from harness.run.marks import covers
from harness.wire.rpc_stub import octets
from suites.messages import recoverable_message
from suites.mqqb.steps.opening import ACK_MS, opened

FIRST, SECOND, THIRD = "first", "second", "third"
BODY = b"of the peer"
WAITING = "still waits"
UNKNOWN_HANDLE = 0x7F6D_7163
"""No queue or cursor has it: handles are small or many bits apart."""


def filled(remote: Remote, *labels: str, **how: Any) -> RemoteQueue:
    """Open the plain queue and let it hold messages with these labels, in this order; ``how``: of ``Remote.open``."""
    queue = remote.open(**how)
    deliver(remote, labels)
    return queue


def deliver(remote: Remote, labels: Iterable[str], queue: str = "plain", **user: Any) -> None:
    """Send messages to a queue of the SUT; ConformanceFailure when it does not acknowledge them."""
    wanted = list(labels)
    if not wanted:
        return
    connection = opened(remote.peer)
    for label in wanted:
        connection.send(recoverable_message(remote.peer, user, queue=queue, label=label, body=BODY))
    within_ms = remote.sut.duration_ms(ACK_MS) + remote.sut.slack_ms(ACK_MS)
    for _ in wanted:  # one acknowledgment may be for several
        frame = connection.poll("SessionAck", within_ms=within_ms)
        if frame is None:
            raise ConformanceFailure("the SUT did not acknowledge the messages that were to be read")
        if frame["SessionHeader"].AckSequenceNumber >= len(wanted):
            break
    connection.close()


def told(call: Call) -> str:
    """Say what a read brought: the label of a message, or what was returned instead."""
    if call.outcome != "MQ_OK":
        return call.outcome
    packet = packet_of(call)
    return "MQ_OK without a message" if packet is None else str(packet["MessagePropertiesHeader"].Label)


def sizes(call: Call) -> tuple[int | None, int | None]:
    """Give dwSize of an answer, and PacketSize of the packet that it brought (MS-MQMQ 2.2.19.1); None for none."""
    description = described(call)
    if description is None:
        return None, None
    data = octets(description.lpBuffer)
    return description.dwSize, int.from_bytes(data[8:12], "little") if data else None


def waiting(call: Call) -> str:
    """Say whether a call is still not answered, a while after it was made; or what came."""
    remote_peer = call.association.peer
    call.wait(remote_peer.sut.quiet_ms)
    return told(call) if call.answered or call.association.over else WAITING


class Rules:
    """The rules of one section that a check judges, by what they are about: ``{"handle": "02 54"}``."""

    def __init__(self, section: str, names: Mapping[str, str]) -> None:
        self._ids = {
            name: tuple(f"MQQP-{section}-{number}" for number in numbers.split()) for name, numbers in names.items()
        }

    @property
    def all(self) -> tuple[str, ...]:
        """Every rule, once."""
        return tuple(dict.fromkeys(one for ids in self._ids.values() for one in ids))

    def judge(
        self, judge: Judge, name: str, *, expected: object, observed: object, evidence: Iterable[Frame | None]
    ) -> None:
        """Judge the rules about something; none where the section has none."""
        for rule in self._ids.get(name, ()):
            judge(rule, expected=expected, observed=observed, evidence=evidence)


SECTIONS = {START: "3.1.4.1", START2: "3.1.4.10", LOOKUP: "3.1.4.11"}


def by_each(**names: Mapping[str, str]) -> pytest.MarkDecorator:
    """Run a check for several methods, each with the rules of its section: ``start``, ``start2``, ``lookup``."""
    methods = {"start": START, "start2": START2, "lookup": LOOKUP}
    cases = []
    for name, about in names.items():
        rules = Rules(SECTIONS[methods[name]], about)
        cases.append(pytest.param(methods[name], rules, marks=covers(*rules.all), id=methods[name]))
    return pytest.mark.parametrize(("by", "rules"), cases)
