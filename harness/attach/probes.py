"""Call each verb of the control protocol with harmless arguments, on queues that are deleted afterwards."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from typing import Any

from harness.attach.asking import MAX_SILENT_VERBS, AgentVerbCalls
from harness.attach.conversation import Conversation
from harness.attach.findings import FACILITY_BY_VERB, AgentFindings, VerbState, escape_agent_text
from harness.errors import SutUnavailable
from harness.sut.control_schema import find_error_in_answer
from harness.sut.view import PROTOCOL_VERSIONS, describe_unsupported_version
from harness.sut.wires import ControlReply, describe_non_agent
from reference_qm.control import VERBS_BY_FACILITY

UNREACHABLE_ADDRESS = "127.0.0.254"
"""An address at which no program listens. Messages to this address stay in an outgoing queue until they expire."""
UNKNOWN_VERB = "mqconform_nonsense"
SYSTEM_QUEUES = ("system$;journal", "system$;deadletter", "system$;deadxact")
TIMEOUT_OF_WAITING_READ_MS = 60_000
MAX_DELAY_OF_PROMPT_ANSWER_MS = 2_000
"""int ms: the maximum time for the answer to the verb identity while a read is waiting."""
DISRUPTIVE_VERBS = ("take_offline", "bring_online", "restart", "reset")
REASON_BY_UNTRIED_VERB = {
    "stop": "this verb ends the agent",
    "reenlistment_timeout": "the system answers no more requests until it is restarted",
}
_PROBE_MESSAGE: dict[str, Any] = {
    "label": "mqconform attach \u00e9",
    "body_base64": base64.b64encode(b"attach \x00\xff").decode(),
    "priority": 5,
    "delivery": "recoverable",
    "application_tag": 4_000_000_000,
}
_EXTENSION_PROPERTIES_OF_PROBE_MESSAGE: dict[str, Any] = {
    "extension_base64": base64.b64encode(b"attach\xff" * 43).decode(),
    "correlation_id": "00112233445566778899aabbccddeeff01020304",
}
"""The additional arguments of the verb ``send``. An agent accepts them only if it has the facility send_extension."""


class AgentProbes(AgentVerbCalls):
    """A test that calls every verb of the control protocol on an agent. The name of each queue that the test creates
    contains ``word``. ``queue`` is the queue to use if the agent cannot create queues.
    """

    def __init__(
        self, conversation: Conversation, word: str, queue: str | None = None, *, disruptive: bool = False
    ) -> None:
        super().__init__(conversation)
        self._own = f"private$\\mqc-attach-{word}"
        self._queue = queue
        self._disruptive = disruptive
        self._created_queues: list[str] = []
        self._plain_queue: str | None = None

    def run_all_probes(self) -> AgentFindings:
        """Call every verb. Raise SutUnavailable if the agent does not answer the verb identity."""
        self.request_identity()
        steps: Iterable[Callable[[], None]] = (
            self._probe_unknown_verb,
            self._probe_queue_control,
            self._probe_send,
            self._probe_receive,
            self._probe_waiting_read,
            self._probe_system_queues,
            self._probe_transactions,
            self._probe_open_to_send,
            self._probe_outgoing_queue,
            self._probe_remote_read,
            self._probe_settings,
            self._probe_environment,
            self._probe_delete_queue,
            self._probe_disruptive_verbs,
        )
        for step in steps:
            if not self.has_stopped_answering:
                step()
        self._note_unreached_verbs()
        return self.found

    # -- identity -----------------------------------------------------------------------------------------------

    def request_identity(self) -> None:
        """Call the verb identity. Raise SutUnavailable with a one-line message if the answer is missing or violates
        the contract.
        """
        environment, conversation = self.conversation.environment, self.conversation
        began_ms = environment.now().monotonic_ms
        said = conversation.wait_for_reply(conversation.send_request("identity"))
        if said is None:
            raise SutUnavailable(
                f"{conversation.name}: identity: {conversation.ended or conversation.missing_answer_message}"
            )
        found = self.found
        found.first_ms = environment.now().monotonic_ms - began_ms
        if (complaint := describe_non_agent(said)) is not None:
            raise SutUnavailable(f"{conversation.name}: {complaint}")
        if said["ok"] is not True:
            raise SutUnavailable(
                f"{conversation.name} refused the request 'identity': {escape_agent_text(said.get('error'))}"
            )
        version = said.get("protocol", min(PROTOCOL_VERSIONS))
        if (refused := describe_unsupported_version(version)) is not None:
            raise SutUnavailable(f"{conversation.name}: {refused}")
        answer: dict[str, Any] = {"protocol": version} | said
        if version == min(PROTOCOL_VERSIONS):
            answer["facilities"] = said.get("facilities", said.get("capabilities"))
        complaint = find_error_in_answer("identity", answer)
        if complaint is not None:
            raise SutUnavailable(f"{conversation.name}: identity: {complaint}")
        found.record_result("identity", VerbState.WORKS)
        found.protocol, found.guid = version, str(said["guid"])
        found.name, found.vendor, found.version = (
            escape_agent_text(said.get(key, "")) for key in ("name", "vendor", "version")
        )
        found.announced = tuple(name for name in VERBS_BY_FACILITY if name in answer["facilities"])
        for unknown in sorted(set(answer["facilities"]) - set(VERBS_BY_FACILITY)):
            found.problems.append(
                f"the answer to identity announces {escape_agent_text(unknown)}, which is not a facility"
            )
        began_ms = environment.now().monotonic_ms
        self._call_expecting_success("identity")
        found.usual_ms = environment.now().monotonic_ms - began_ms

    def _probe_unknown_verb(self) -> None:
        reply = self._call_and_check_contract(UNKNOWN_VERB)
        if reply is not None and reply.get("ok") is True:
            self.found.problems.append(f"the agent did not refuse the unknown verb {UNKNOWN_VERB}")
        self.found.verbs.pop(UNKNOWN_VERB, None)

    # -- queues and messages ------------------------------------------------------------------------------------

    def _probe_queue_control(self) -> None:
        name = f"{self._own}-1"
        if self._call_expecting_success("create_queue", name=name, label="attach") is None:
            self._plain_queue = self._queue
            self._note_skipped_verbs("needs create_queue", "get_queue", "set_queue", "delete_queue")
        else:
            self._created_queues.append(name)
            self._plain_queue = name
            self._call_expecting_success("set_queue", name=name, label="attached")
            properties = self._call_expecting_success("get_queue", name=name)
            if properties is not None and self.found.is_working("set_queue") and properties.get("label") != "attached":
                self._note_wrong_answer(
                    "set_queue",
                    f"get_queue returned {escape_agent_text(properties.get('label'))} instead of the new label",
                )
        listed = self._call_expecting_success("list")
        if listed is not None and self._created_queues and name.lower() not in _read_queue_names(listed):
            self._note_wrong_answer("list", f"{name} was created, but is missing from the list")
        if self._created_queues:
            self._call_expecting_refusal("create_queue", name=name)

    def _get_direct_name(self, queue: str) -> str:
        return f"DIRECT=OS:.\\{queue}"

    def _probe_send(self) -> None:
        if self._plain_queue is None:
            self._note_skipped_verbs(
                "no queue is available: announce queue_control, or give --sut FILE with a SUT file that names a queue",
                "send",
            )
            return
        message = _PROBE_MESSAGE | (
            _EXTENSION_PROPERTIES_OF_PROBE_MESSAGE if "send_extension" in self.found.announced else {}
        )
        sent = self._call_expecting_success("send", to=self._get_direct_name(self._plain_queue), **message)
        peeked = None if sent is None else self._call_expecting_success("peek", queue=self._plain_queue)
        if sent is None or peeked is None:
            return
        mine = [one for one in peeked["messages"] if one["message_id"] == sent["message_id"]]
        if not mine:
            self._note_wrong_answer(
                "peek",
                f"the message sent to {self._get_direct_name(self._plain_queue)} is missing: {sent['message_id']}",
            )
            return
        for name, value in message.items():
            if name in mine[0] and mine[0][name] != value:
                self._note_wrong_answer("peek", f"{name} is {mine[0][name]!r}; the message was sent with {value!r}")

    def _probe_receive(self) -> None:
        reads = ("peek_message", "open_queue", "open_cursor", "peek_next", "close_cursor", "close_queue")
        by_id = ("peek_by_lookup_id", "receive_by_lookup_id", "receive", "move", "purge")
        queue = self._plain_queue
        if queue is None or not self.found.is_working("send"):
            self._note_skipped_verbs(
                "no message is available to read: announce send, and provide a queue", "peek", *reads, *by_id
            )
            return
        to = self._get_direct_name(queue)
        for label in ("second", "third"):
            self._call_expecting_success("send", to=to, label=label, body=label)
        first = self._read_message("peek_message", queue=queue)
        opened = self._call_expecting_success("open_queue", queue=queue, access="receive")
        if opened is None:
            self._note_skipped_verbs("needs open_queue", *reads[2:])
        else:
            self._probe_cursor(opened["handle"], first)
            self._call_expecting_success("close_queue", handle=opened["handle"])
            self._call_expecting_refusal("peek_message", handle=opened["handle"])
        self._probe_lookup_id(queue, first)
        taken = self._read_message("receive", queue=queue, timeout_ms=0)
        again = self._read_message("peek_message", queue=queue)
        if taken and again and taken["message_id"] == again["message_id"]:
            self._note_wrong_answer("receive", "the message is still in the queue")
        purged = self._call_expecting_success("purge", queue=queue)
        if purged is not None and self._read_message("receive", queue=queue, timeout_ms=0, empty=True):
            self._note_wrong_answer("purge", "a message is still in the queue")

    def _read_message(self, verb: str, *, empty: bool = False, **where: Any) -> ControlReply | None:
        """Call a verb that reads a message. If ``empty`` is false, the queue contains a message, so an answer
        without a message is an error.
        """
        reply = self._call_expecting_success(verb, **where)
        if reply is None:
            return None
        if reply["message"] is None and not empty:
            self._note_wrong_answer(verb, "returned no message, although the queue contains a message")
        found: ControlReply | None = reply["message"]
        return found

    def _probe_cursor(self, handle: int, first: ControlReply | None) -> None:
        made = self._call_expecting_success("open_cursor", handle=handle)
        if made is None:
            self._note_skipped_verbs("needs open_cursor", "peek_next", "close_cursor")
            return
        at = self._read_message("peek_message", cursor=made["cursor"], timeout_ms=0)
        after = self._read_message("peek_next", cursor=made["cursor"], timeout_ms=0)
        if first and at and at["message_id"] != first["message_id"]:
            self._note_wrong_answer("peek_message", "a new cursor does not begin with the first message")
        if at and after and at["message_id"] == after["message_id"]:
            self._note_wrong_answer("peek_next", "the cursor did not move to the next message")
        self._call_expecting_success("close_cursor", cursor=made["cursor"])

    def _probe_lookup_id(self, queue: str, first: ControlReply | None) -> None:
        number = None if first is None else first.get("lookup_id")
        if number is None:
            verbs = ("peek_by_lookup_id", "receive_by_lookup_id", "move")
            self._note_skipped_verbs("needs lookup_id, which is missing from the answers of peek_message", *verbs)
            return
        self._call_expecting_success("peek_by_lookup_id", queue=queue, lookup_id=number, seek="current")
        moved = f"{queue};attach"
        if self._created_queues and self._try_create_queue(moved):
            self._call_expecting_success("move", queue=queue, lookup_id=number, to=moved)
            if self.found.is_working("move"):
                self._call_expecting_success("receive_by_lookup_id", queue=moved, lookup_id=number)
                self._call_and_check_contract("delete_queue", name=moved)
                return
        self._call_expecting_refusal("move", queue=queue, lookup_id=number, to=moved)
        self._call_expecting_success("receive_by_lookup_id", queue=queue, lookup_id=number)

    def _probe_waiting_read(self) -> None:
        """Check that the agent answers other requests, and can cancel the read, while a read waits for a message."""
        if self._plain_queue is None or not self.found.is_working("receive"):
            self._note_skipped_verbs("needs receive", "cancel")
            return
        waiting = self.conversation.send_request(
            "receive", queue=self._plain_queue, timeout_ms=TIMEOUT_OF_WAITING_READ_MS
        )
        asked = self.conversation.send_request("identity")
        prompt = self.conversation.wait_for_reply(
            asked, min(MAX_DELAY_OF_PROMPT_ANSWER_MS, self.conversation.answer_ms)
        )
        if self.conversation.has_reply(waiting):
            self._note_wrong_answer(
                "receive",
                "receive answered at once, although the queue was empty and timeout_ms was "
                f"{TIMEOUT_OF_WAITING_READ_MS}",
            )
        elif prompt is None:
            self._note_wrong_answer("receive", "the agent answers no other request while receive waits")
        reply = self._call_and_check_contract("cancel", request=waiting)
        if reply is None:
            return
        if reply.get("ok") is not True:
            self.found.record_result("cancel", VerbState.REFUSED, str(reply.get("error")))
            return
        ended = self.conversation.wait_for_reply(waiting)
        self.found.record_result("cancel", VerbState.WORKS)
        if ended is None or ended.get("ok") is True:
            self._note_wrong_answer("cancel", "the answer to the cancelled request is not a refusal")

    def _probe_system_queues(self) -> None:
        for queue in SYSTEM_QUEUES:
            reply = self._call_and_check_contract("peek", queue=queue, limit=1)
            if reply is not None and reply.get("ok") is not True:
                self.found.problems.append(
                    f"peek refuses the system queue {queue}: {escape_agent_text(reply.get('error'))}"
                )

    def _probe_transactions(self) -> None:
        verbs = ("begin", "commit", "abort", "prepare")
        name = f"{self._own}-2"
        if not self._created_queues or not self._try_create_queue(name, transactional=True):
            begun = self._call_expecting_success("begin")
            if begun is not None:
                self._call_expecting_success("abort", transaction=begun["transaction"])
            self._note_skipped_verbs("needs a transactional queue", *verbs[1:], "reject", "get_transfers")
            return
        self._created_queues.append(name)
        for outcome, left in (("abort", 0), ("commit", 1)):
            begun = self._call_expecting_success("begin")
            if begun is None:
                self._note_skipped_verbs("needs begin", *verbs[1:], "reject")
                break
            self._call_and_check_contract(
                "send", to=self._get_direct_name(name), label=outcome, transaction=begun["transaction"]
            )
            self._call_expecting_success(outcome, transaction=begun["transaction"])
            peeked = self._call_and_check_contract("peek", queue=name)
            if (
                peeked
                and peeked.get("ok") is True
                and self.found.is_working(outcome)
                and len(peeked["messages"]) != left
            ):
                self._note_wrong_answer(
                    outcome, f"the queue contains {len(peeked['messages'])} messages instead of {left}"
                )
        else:
            self._call_expecting_refusal("prepare", transaction="6d71636f-6e66-4f72-8d00-0000000000fe")
            self._probe_reject(name)
        self._call_expecting_success("get_transfers", queue=name)

    def _probe_reject(self, queue: str) -> None:
        begun = self._call_and_check_contract("begin")
        if begun is None or begun.get("ok") is not True:
            return
        taken = self._call_and_check_contract("receive", queue=queue, timeout_ms=0, transaction=begun["transaction"])
        message = None if taken is None else taken.get("message")
        if message and message.get("lookup_id") is not None:
            self._call_expecting_success(
                "reject", queue=queue, lookup_id=message["lookup_id"], transaction=begun["transaction"]
            )
        else:
            self._note_skipped_verbs("needs a receive in a transaction whose answer contains lookup_id", "reject")
        self._call_and_check_contract("abort", transaction=begun["transaction"])

    # -- all other verbs ----------------------------------------------------------------------------------------

    def _probe_open_to_send(self) -> None:
        if self._plain_queue is None:
            self._note_skipped_verbs("needs a queue", "open_to_send", "get_queue_path")
            return
        opened = self._call_expecting_success("open_to_send", to=self._get_direct_name(self._plain_queue))
        if opened is not None:
            self._call_expecting_success("close_queue", handle=opened["handle"])
        self._call_expecting_success("get_queue_path", format_name=self._get_direct_name(self._plain_queue))

    def _probe_outgoing_queue(self) -> None:
        """Create an outgoing queue to an unreachable address with a message that expires after one second, then
        pause the queue.
        """
        far = f"DIRECT=TCP:{UNREACHABLE_ADDRESS}\\{self._own}"
        if not self.found.is_working("send"):
            self._note_skipped_verbs("needs send", "pause_queue", "resume_queue", "get_outgoing_queue")
            return
        self._call_and_check_contract("send", to=far, label="attach", time_to_reach_queue_s=1)
        self._call_expecting_success("pause_queue", to=far)
        self._call_expecting_success("get_outgoing_queue", to=far)
        self._call_expecting_success("resume_queue", to=far)

    def _probe_remote_read(self) -> None:
        """Call each verb of remote reading with a number that identifies no open object. The test has no second
        queue manager whose queues the agent could read.
        """
        self._call_expecting_refusal("remote_close", remote=999_999)
        self._call_expecting_refusal("remote_open_cursor", remote=999_999)
        self._call_expecting_refusal("remote_close_cursor", cursor=999_999)
        self._call_expecting_refusal("remote_receive", remote=999_999, timeout_ms=0)
        self._call_expecting_refusal("remote_peek", remote=999_999, timeout_ms=0)
        self._call_expecting_refusal("remote_receive_by_lookup_id", remote=999_999, lookup_id=1)
        self._call_expecting_refusal("remote_peek_by_lookup_id", remote=999_999, lookup_id=1)
        self._call_expecting_refusal("remote_purge", remote=999_999)
        self._call_expecting_refusal("remote_open", queue="no format name")

    def _probe_settings(self) -> None:
        """Call the verbs that change settings, but without arguments, so that no setting is changed."""
        for verb in ("set_timers", "configure", "inspect"):
            self._call_expecting_success(verb)

    def _probe_environment(self) -> None:
        changeable = self._call_expecting_success("environment")
        if changeable is None or "directory" not in changeable:
            self._note_skipped_verbs("the system is not integrated with a directory", "published")
        else:
            self._call_expecting_success("published")

    def _probe_disruptive_verbs(self) -> None:
        for verb in DISRUPTIVE_VERBS:
            if self._disruptive:
                self._call_expecting_success(verb)
            else:
                self._note_skipped_verbs(
                    "the verb disturbs all applications of the system; give --disruptive to try it", verb
                )
        for verb, why in REASON_BY_UNTRIED_VERB.items():
            self._note_skipped_verbs(why, verb)

    def _probe_delete_queue(self) -> None:
        for name in reversed(self._created_queues):
            self._call_expecting_success("delete_queue", name=name)
        if self._created_queues and self.found.is_working("delete_queue"):
            self._call_expecting_refusal("delete_queue", name=self._created_queues[0])

    def _note_unreached_verbs(self) -> None:
        """Record which verbs the test did not call, and record the answers that match no request."""
        why = self.conversation.ended or f"the agent did not answer the {MAX_SILENT_VERBS} verbs before this one"
        for verb in (*FACILITY_BY_VERB, "cancel", *REASON_BY_UNTRIED_VERB):
            if verb not in self.found.verbs:
                self._note_skipped_verbs(f"the test did not reach this verb: {why}", verb)
        if self.conversation.ended is not None:
            self.found.problems.append(f"the agent stopped answering: {escape_agent_text(self.conversation.ended)}")
        if unmatched_ids := self.conversation.unmatched_ids:
            ids = ", ".join(escape_agent_text(repr(each))[:20] for each in unmatched_ids[:3])
            self.found.problems.append(f"answers that match no request: {len(unmatched_ids)}, with the ids {ids}")
        if self._created_queues and not self.found.is_working("delete_queue"):
            self.found.problems.append(
                f"these queues were not deleted and could still exist in the system: {', '.join(self._created_queues)}"
            )


def _read_queue_names(listed: ControlReply) -> set[str]:
    return {str(one["name"]).lower() for one in listed["queues"]}
