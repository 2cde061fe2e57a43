"""Applications and administrators beside the system: what they ask of it, and how their requests end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.judging.refused import Refused
from harness.peer.party import NONE
from harness.peer.peer import Peer
from harness.printable import one_line
from harness.sut.control import REASON_LIMIT, ControlRefused
from harness.sut.shown import lookup_id
from harness.sut.sut import Sut
from suites.messages import Sequence

DONE, REFUSED, NOTHING, NO_ANSWER = "done", "refused", "nothing", "no answer"
LIMIT = 1_000


def computer_names(sut: Sut) -> tuple[str, ...]:
    """Return the names of the SUT's computer: as its agent has it, and without its domain if it has one."""
    name: str = sut.control.call("identity")["name"]
    short = name.partition(".")[0]
    return (name,) if short == name or short.isdigit() else (name, short)


def tried(action: Callable[[], object]) -> str:
    """Do something; say whether it was done or refused."""
    try:
        action()
    except ControlRefused as error:
        return Refused(REFUSED, str(error))
    return DONE


def asked(sut: Sut, verb: str, **arguments: Any) -> str:
    """Ask for something; say whether it was done or refused."""
    return tried(lambda: sut.control.call(verb, **arguments))


def answered(peer: Peer, sut: Sut, verb: str, **arguments: Any) -> str:
    """Ask for something that has to be answered; say whether it was done or refused, or that no answer came."""
    number = sut.control.begin(verb, **arguments)
    answers: list[dict[str, Any] | None] = []

    def came() -> bool:
        answers.append(sut.control.answer(number))
        return answers[-1] is not None

    peer.eventually(came)
    answer = answers[-1]
    return NO_ANSWER if answer is None else DONE if answer.get("ok") else _refused(answer)


def _refused(answer: Mapping[str, Any]) -> Refused:
    return Refused(REFUSED, f"the SUT refused: {one_line(str(answer.get('error')), REASON_LIMIT)}")


def received(sut: Sut, verb: str = "receive", **where: Any) -> str:
    """Read a message that should be there at once; return its label, or ``NOTHING``."""
    return _label(sut.control.call(verb, timeout_ms=0, **where)["message"])


def _label(message: Mapping[str, Any] | None) -> str:
    return NOTHING if message is None else message["label"]


class Waiting:
    """A read that waits."""

    def __init__(self, peer: Peer, sut: Sut, verb: str = "receive", *, timeout_ms: int | None, **where: Any) -> None:
        self.peer = peer
        self.sut = sut
        self.number = sut.control.begin(verb, timeout_ms=timeout_ms, **where)
        self._answer: dict[str, Any] | None = None

    def answered(self) -> bool:
        """Return whether it has its answer."""
        self._answer = self._answer or self.sut.control.answer(self.number)
        return self._answer is not None

    def brought(self) -> str:
        """Wait for its answer; say which message it brought."""
        self.peer.eventually(self.answered)
        if self._answer is None:
            return NO_ANSWER
        if not self._answer.get("ok"):
            return _refused(self._answer)
        return _label(self._answer.get("message"))


class Application:
    """An application that has one queue of the SUT for itself, and works alone and within transactions."""

    def __init__(self, peer: Peer, sut: Sut, *, transactional: bool = False) -> None:
        self.peer = peer
        self.sut = sut
        self.transactional = transactional
        self.queue = sut.new_queue("application", transactional=transactional)
        self.sequence = Sequence(peer)

    def fill(self, *labels: str, **base: Any) -> list[Frame]:
        """Let the peer send messages to the queue and return them; ConformanceFailure when they do not come there.

        ``base``: fields of BaseHeader.
        """
        before = len(self.labels())
        connection = self.peer.open_raw()
        sent = [connection.send(self.packet(label, base=base)) for label in labels]
        if not self.await_labels(before + len(labels)):
            raise ConformanceFailure("the SUT did not take the messages")
        connection.close()
        return sent

    def packet(self, label: str, user: Mapping[str, Any] = NONE, **headers: Any) -> Any:
        """Make a message of the peer to the queue."""
        headers |= {"destination": rf"TCP:{self.sut.address}\{self.queue}", "label": label}
        if self.transactional:
            return self.sequence.message(user, **headers)
        return self.peer.recoverable_message(user, **headers)

    def send(self, label: str, **fields: Any) -> None:
        """Let the SUT send a message to the queue, which is its own."""
        self.sut.send_here(self.queue, [label], **fields)

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Ask for something."""
        return self.sut.control.call(verb, **arguments)

    def shown(self, queue: str | None = None) -> list[dict[str, Any]]:
        """Return the messages of the queue, or of another one, that can be received, in order."""
        return list(self.call("peek", queue=queue or self.queue, limit=LIMIT)["messages"])

    def labels(self, queue: str | None = None) -> list[str]:
        """Return their labels."""
        return [one["label"] for one in self.shown(queue)]

    def await_labels(self, count: int) -> bool:
        """Wait for so many messages; return whether they are there."""
        return self.peer.eventually(lambda: len(self.labels()) >= count)

    def identifiers(self, queue: str | None = None) -> dict[str, int]:
        """Return the LookupIdentifiers of the messages, by label."""
        return {one["label"]: lookup_id(one) for one in self.shown(queue)}

    def take(self, **how: Any) -> str:
        """Receive the first message of the queue, or of another one; return its label, or ``NOTHING``."""
        return received(self.sut, **{"queue": self.queue, **how})

    def take_that(self, label: str, **how: Any) -> str:
        """Receive a message by its LookupIdentifier, if it is there; return its label, or ``NOTHING``."""
        known = self.identifiers()
        if label not in known:
            return NOTHING
        asked_for = {"queue": self.queue, "lookup_id": known[label], "seek": "current", **how}
        return _label(self.call("receive_by_lookup_id", **asked_for)["message"])

    def begin(self, **how: Any) -> str:
        """Begin a transaction; return its identifier."""
        return self.call("begin", **how)["transaction"]

    def decide(self, verb: str, transaction: str, **how: Any) -> None:
        """Say what is to become of a transaction; a refusal shows in what becomes of its messages."""
        number = self.sut.control.begin(verb, transaction=transaction, **how)
        self.peer.eventually(lambda: self.sut.control.answer(number) is not None)

    def operations(self, *transactions: str) -> dict[str, int]:
        """Return how many operations those of some transactions have that the SUT lists."""
        listed = {one["transaction"]: one["operations"] for one in self.call("list")["transactions"]}
        return {one: listed[one] for one in transactions if one in listed}
