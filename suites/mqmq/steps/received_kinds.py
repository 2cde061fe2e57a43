"""Messages of every kind that carry values which the SUT must ignore, and the differences in its queues.

Spec: MS-MQMQ 2.2.19.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.conversation import RawConversation
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from suites.messages import Sequence
from suites.mqqb.steps.disposition import AckClass
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

HeaderFieldsByName = Mapping[str, Mapping[str, Any]]
"""Fields by the argument of ``Peer.message`` that contains them: base, user or properties."""
LARGE_BODY = b"large body " * 500
CONNECTOR_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000ce")
MESSAGE_LIFETIME_S = 86_400
CASE_WITHOUT_CHANGED_VALUES = "without values"
HIGHEST_PEEKED_MESSAGE_COUNT = 1_000
"""The number of messages to read from a queue, which is more than any check sends."""
FIELDS_BY_MESSAGE_KIND: Mapping[str, Mapping[str, Any]] = {
    "with a SessionHeader": {"session": {"UserMsgSequenceNumber": 1}},
    "express": {},
    "recoverable with priority 7": {"user": {"DM": 1}, "base": {"PR": 7}},
    "large": {"user": {"DM": 1}, "body": LARGE_BODY},
    "traced": {"base": {"TR": 1}, "debug": {}},
    "with a limited lifetime": {
        "base": {"TimeToReachQueue": MESSAGE_LIFETIME_S},
        "user": {"TimeToBeReceived": MESSAGE_LIFETIME_S},
    },
    "with a connector type": {"user": {"ConnectorType": CONNECTOR_GUID, "JN": 1}},
    "with queue names": {
        "user": {"AdminQueue": r"TCP:10.0.0.9\private$\acks", "ResponseQueue": r"TCP:10.0.0.9\private$\answers"}
    },
    "acknowledgment": {"properties": {"MessageClass": AckClass.REACH_QUEUE}},
    "transactional": {"transaction": {}},
}
"""For each kind, the arguments of ``Peer.message``; the argument transaction stands for a place in a sequence. The
message with a SessionHeader is the first message of its session, because the SessionHeader counts the messages.
"""


class MessagesOfEveryKind:
    """Messages of every kind that the peer sends with several values. The peer sends the messages with each value on a
    separate session.
    """

    def __init__(self, peer: Peer, sut: Sut, kinds: Iterable[str] = FIELDS_BY_MESSAGE_KIND) -> None:
        self.peer = peer
        self.sut = sut
        self.kinds = tuple(kinds)
        self.sequence = Sequence(peer)
        self.sent: dict[tuple[str, str], Frame] = {}
        """The messages, by value and kind."""
        self._sessions: list[RawConversation] = []

    def send(self, value: str, headers: HeaderFieldsByName) -> None:
        """Send a message of each kind with the given fields on a new session. ``value``: a name for these fields."""
        session = self.peer.open_raw()
        self._sessions.append(session)
        for kind in self.kinds:
            self.sent[value, kind] = session.send(
                self._build_message(f"{value}, {kind}", FIELDS_BY_MESSAGE_KIND[kind], headers)
            )

    def _build_message(self, label: str, arguments: Mapping[str, Any], headers: HeaderFieldsByName) -> Any:
        merged = {**arguments, **{name: {**arguments.get(name, {}), **fields} for name, fields in headers.items()}}
        if "transaction" not in merged:
            return self.peer.message(label=label, **merged)
        return self.sequence.message(
            label=label, **{name: one for name, one in merged.items() if name != "transaction"}
        )

    def list_differences_from_sent_messages(self, values: Iterable[str]) -> list[str]:
        """Return the differences between the sent messages with the given values and the messages in the queues. If
        messages without values were also sent, exclude the kinds of which the SUT did not accept the message without
        values.
        """
        wanted = set(values)
        shown = self._read_queues()
        accepted: Iterable[str] = self.kinds
        if (CASE_WITHOUT_CHANGED_VALUES, self.kinds[0]) in self.sent:
            accepted = [
                one
                for one in self.kinds
                if self._describe_message_difference(shown, CASE_WITHOUT_CHANGED_VALUES, one)
                == UNCHANGED_PROPERTIES_OUTCOME
            ]
        if not accepted:
            raise ConformanceFailure("the SUT accepted none of the messages that were sent without values")
        found = {
            f"{value}, {kind}": self._describe_message_difference(shown, value, kind)
            for value, kind in self.sent
            if value in wanted and kind in accepted
        }
        return [
            f"{name}: {differences}"
            for name, differences in found.items()
            if differences != UNCHANGED_PROPERTIES_OUTCOME
        ]

    def list_evidence_frames(self, values: Iterable[str]) -> list[Frame]:
        """Return the sent messages with the given values."""
        wanted = set(values)
        return [frame for (value, _), frame in self.sent.items() if value in wanted]

    def await_acknowledgments(self) -> None:
        """Wait until the SUT has received the messages that were sent on the open sessions."""
        for session in self._sessions:
            if session.record.closed_by is None:
                session.request_acknowledgment()

    def _read_queues(self) -> Mapping[str, Mapping[str, Any]]:
        queues = ("plain", "transactional")
        names = [self.sut.queue(queue) for queue in queues]
        answers = [self.sut.control.call("peek", queue=name, limit=HIGHEST_PEEKED_MESSAGE_COUNT) for name in names]
        return {one["label"]: one for answer in answers for one in answer["messages"]}

    def _describe_message_difference(self, shown: Mapping[str, Mapping[str, Any]], value: str, kind: str) -> str:
        return describe_differences(self.sent[value, kind], shown.get(f"{value}, {kind}"), self.sut.guid)
