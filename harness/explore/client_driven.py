"""Take the steps of the area `client` on a system whose applications read queues of the peer remotely."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Set
from typing import Any

from harness.explore.client_served import PeerServingRemoteReads
from harness.explore.worlds import StepObservation
from harness.model.agreement import ExpectedRefusal, ExpectedValueThatSystemCannotShow
from harness.model.client.area import PEER_HAS_NOT_ANSWERED_TEXT, RECEIVE_ACTION
from harness.model.steps import Step
from harness.peer.peer import Peer
from harness.peer.rpc_server import ServedCall
from harness.sut.control import ControlRefused
from harness.wire import TxSequenceID, user_message

PATH_OF_QUEUE_ON_PEER = "private$\\mqc-far"
_REACTION_TIME_MS = 30
_SENT_TIME_S = 1_500_000_000
_ACK_FLAG_BY_REQUEST = {"positive_arrival": "PA", "positive_receive": "PR"}
_JOURNAL_FLAG_BY_REQUEST = {"positive": "JP", "negative": "JN"}


class DrivenClient:
    """A system whose applications read queues of the peer. The peer serves these reads."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._sut = peer.sut
        self._served = PeerServingRemoteReads(peer)
        self._remotes: dict[str, int] = {}
        self._cursors: dict[str, int] = {}
        self._requests: dict[str, int] = {}
        """The requests that the control channel has not answered yet. The key is the name of the read or, for any other
        verb, ``answer``.
        """

    def elapsed_ms(self) -> int | None:
        """Return None, because the steps of this area do not depend on elapsed time."""
        return None

    def idle(self, ms: int) -> None:
        """Let time pass."""
        self._peer.pass_time(ms)

    def take(self, step: Step, awaited: Set[str]) -> StepObservation:
        """Take a step; return the answers, the RPC calls that the system made, and the elements of its abstract data
        model.
        """
        answers: dict[str, Any] = {}
        try:
            getattr(self, f"_perform_{step.name}")(**step.arguments)
            if step.name == "upgrade":
                answers["answer"] = "done"
        except ControlRefused:
            answers["answer"] = ExpectedRefusal()
        environment = self._peer.environment
        within_ms = _REACTION_TIME_MS if environment.is_time_virtual else self._sut.response_timeout_ms

        def have_answers_arrived() -> bool:
            self._take_answers(answers)
            return not environment.is_time_virtual and awaited <= answers.keys()

        environment.run_until(have_answers_arrived, within_ms)
        self._take_answers(answers)
        return StepObservation(answers, self._read_visible_state())

    # -- steps ----------------------------------------------------------------------------------------------------

    def _perform_open(self, queue: str, fails: bool) -> None:
        self._served.opening = (queue, fails)
        self._begin_request(
            f"open {queue}", "remote_open", queue=f"DIRECT=TCP:{self._peer.address}\\{PATH_OF_QUEUE_ON_PEER}"
        )

    def _perform_close(self, queue: str, fails: bool) -> None:
        self._served.is_close_refused = fails
        self._begin_request("answer", "remote_close", remote=self._remotes[queue])

    def _perform_purge(self, queue: str) -> None:
        self._begin_request("answer", "remote_purge", remote=self._remotes[queue])

    def _perform_open_cursor(self, cursor: str, queue: str) -> None:
        self._served.cursor = cursor
        self._begin_request(f"cursor {cursor}", "remote_open_cursor", remote=self._remotes[queue])

    def _perform_close_cursor(self, cursor: str) -> None:
        self._begin_request("answer", "remote_close_cursor", cursor=self._cursors[cursor])

    def _perform_upgrade(self, version: list[int]) -> None:
        self._served.set_version(tuple(version))

    def _perform_read(
        self, read: str, queue: str, action: str, cursor: str | None, timeout_ms: int, served: str, message: Any
    ) -> None:
        self._prepare_answer(read, served, message)
        where = {"remote": self._remotes[queue]} if cursor is None else {"cursor": self._cursors[cursor]}
        verb = "remote_receive" if action == RECEIVE_ACTION else "remote_peek"
        more = {"next": True} if action == "next" else {}
        self._begin_request(read, verb, **where, **more, timeout_ms=None if timeout_ms == 0xFFFF_FFFF else timeout_ms)

    def _perform_look_up(
        self, read: str, queue: str, lookup_id: int, seek: str, receives: bool, served: str, message: Any
    ) -> None:
        self._prepare_answer(read, served, message)
        verb = "remote_receive_by_lookup_id" if receives else "remote_peek_by_lookup_id"
        self._begin_request(read, verb, remote=self._remotes[queue], lookup_id=lookup_id, seek=seek)

    def _perform_serve(self, read: str, served: str, message: Any) -> None:
        self._served.answer_read(read, served, self._build_message(message), message["arrived_time"])

    def _perform_cancel(self, read: str) -> None:
        self._begin_request("answer", "cancel", request=self._requests[read])

    # -- how steps are taken --------------------------------------------------------------------------------------

    def _begin_request(self, name: str, verb: str, **arguments: Any) -> None:
        self._requests[name] = self._sut.control.begin(verb, **arguments)

    def _prepare_answer(self, read: str, served: str, message: Any) -> None:
        def answer(call: ServedCall) -> None:
            self._perform_serve(read, served, message)

        self._served.reading = (read, None if served == PEER_HAS_NOT_ANSWERED_TEXT else answer)

    def _build_message(self, message: Mapping[str, Any]) -> bytes:
        kind, place = message["delivery"], {}
        if kind == "transactional":
            place = {"transaction": {"FM": 1, "LM": 1, "ID": 1, "TxSequenceID": TxSequenceID(Ordinal=1, TimeStamp=1)}}
            place["transaction"] |= {"TxSequenceNumber": 1, "PreviousTxSequenceNumber": 0}
        flags: dict[str, Any] = {_ACK_FLAG_BY_REQUEST[one]: 1 for one in message["acks"]}
        made = user_message(
            user={
                "SourceQueueManager": self._peer.identifier,
                "MessageID": self._peer.next_message_id(),
                "SentTime": _SENT_TIME_S,
                "DM": int(kind != "express"),
                **{_JOURNAL_FLAG_BY_REQUEST[one]: 1 for one in message["journal"]},
            },
            destination=f"TCP:{self._peer.address}\\{PATH_OF_QUEUE_ON_PEER}",
            base={"PR": message["priority"]},
            label=message["label"],
            body=b"b" * message["size"],
            BodyType=message["body_type"],
            ApplicationTag=message["application_tag"],
            CorrelationID=bytes.fromhex(message["correlation_id"]),
            ExtensionData=bytes.fromhex(message["extension"]),
            **flags,
            **place,
        )
        return bytes(made)

    # -- answers --------------------------------------------------------------------------------------------------

    def _take_answers(self, answers: dict[str, Any]) -> None:
        for name, request in list(self._requests.items()):
            answer = self._sut.control.answer(request)
            if answer is not None:
                del self._requests[name]
                self._take_answer(name, answer, answers)

    def _take_answer(self, name: str, answer: Mapping[str, Any], answers: dict[str, Any]) -> None:
        kind, _, of = name.partition(" ")
        shown = name if not of and name != "answer" else "answer"
        if answer.get("ok") is not True:
            answers[shown] = ExpectedRefusal()
            return
        if kind == "open":
            self._remotes[of] = answer["remote"]
        elif kind == "cursor":
            self._cursors[of] = answer["cursor"]
        answers[shown] = "done" if shown == "answer" else {"message": _describe_message(answer["message"])}

    def _read_visible_state(self) -> dict[str, Any]:
        seen: dict[str, Any] = {"calls": self._served.take_calls(), "bindings": self._served.count_bindings()}
        if not self._sut.has("inspect"):
            return seen | {
                "pending reads": ExpectedValueThatSystemCannotShow(),
                "open queues": ExpectedValueThatSystemCannotShow(),
            }
        found = self._sut.inspect()
        seen["pending reads"] = len(found["PendingRemoteReadEntryCollection"])
        seen["open queues"] = len(found["RemoteOpenQueueEntryCollection"])
        return seen


def _describe_message(message: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Describe a message that an application has read, in the terms of the model."""
    if message is None:
        return None
    same = ("label", "body_type", "priority", "delivery", "application_tag", "correlation_id", "arrived_time")
    body = base64.b64decode(message["body_base64"])
    return {
        **{name: message[name] for name in same if name in message},
        "size": len(body) if not body.strip(b"b") else "other bytes",
        "extension": base64.b64decode(message.get("extension_base64", "")).hex(),
        "acks": sorted(message.get("acks", [])),
        "journal": sorted(message.get("journal", [])),
    }
