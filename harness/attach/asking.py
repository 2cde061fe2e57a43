"""Call the verbs of the control protocol on an agent, and record the result of each call."""

from __future__ import annotations

from typing import Any

from harness.attach.conversation import Conversation
from harness.attach.findings import FACILITY_BY_VERB, AgentFindings, VerbState
from harness.errors import SutUnavailable
from harness.sut.control_schema import find_error_in_answer
from harness.sut.wires import ControlReply

MAX_SILENT_VERBS = 3
"""The maximum number of consecutive verbs that the agent leaves unanswered. When this number is reached, no further
verb is called.
"""


class AgentVerbCalls:
    """A caller of the verbs of the control protocol on one agent. It records the answers as findings."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.found = AgentFindings()
        self._unanswered_verb_count = 0

    @property
    def has_stopped_answering(self) -> bool:
        """Return whether the agent has ended the conversation, or has left so many verbs unanswered that no further
        verb is called.
        """
        return self.conversation.ended is not None or self._unanswered_verb_count >= MAX_SILENT_VERBS

    def _call_and_check_contract(self, verb: str, **arguments: Any) -> ControlReply | None:
        """Call a verb and return its answer. If the answer is missing or violates the contract, record this as a
        finding.
        """
        if self.has_stopped_answering:
            return None
        try:
            reply = self.conversation.wait_for_reply(self.conversation.send_request(verb, **arguments))
        except SutUnavailable as error:
            self.conversation.on_end(str(error))
            reply = None
        if reply is None:
            why = self.conversation.ended or self.conversation.missing_answer_message
            self._unanswered_verb_count += self.conversation.ended is None
            self.found.record_result(verb, VerbState.SILENT, why)
            return None
        self._unanswered_verb_count = 0
        if verb in FACILITY_BY_VERB and (complaint := find_error_in_answer(verb, reply)) is not None:
            self.found.record_result(verb, VerbState.WRONG, complaint)
            return None
        return reply

    def _call_expecting_success(self, verb: str, **arguments: Any) -> ControlReply | None:
        """Call a verb that should succeed. Return its answer, or None if the call failed."""
        reply = self._call_and_check_contract(verb, **arguments)
        if reply is None:
            return None
        if reply.get("ok") is not True:
            state = VerbState.MISSING if reply.get("unsupported") is True else VerbState.REFUSED
            self.found.record_result(verb, state, str(reply.get("error", "no reason is given")))
            return None
        self.found.record_result(verb, VerbState.WORKS)
        return reply

    def _call_expecting_refusal(self, verb: str, **arguments: Any) -> None:
        """Call a verb with arguments that the agent must refuse. The refusal shows that the agent supports the
        verb.
        """
        reply = self._call_and_check_contract(verb, **arguments)
        if reply is None:
            return
        if reply.get("ok") is True:
            what = ", ".join(f"{name} {value}" for name, value in arguments.items())
            self.found.record_result(verb, VerbState.WRONG, f"the agent accepted {what}, which it must refuse")
        elif reply.get("unsupported") is True:
            self.found.record_result(verb, VerbState.MISSING, str(reply.get("error")))
        else:
            self.found.record_result(verb, VerbState.WORKS)

    def _try_create_queue(self, name: str, **properties: Any) -> bool:
        """Call create_queue with optional properties, and return whether the system created the queue."""
        reply = self._call_and_check_contract("create_queue", name=name, **properties)
        return reply is not None and reply.get("ok") is True

    def _note_wrong_answer(self, verb: str, why: str) -> None:
        self.found.record_result(verb, VerbState.WRONG, why)

    def _note_skipped_verbs(self, why: str, *verbs: str) -> None:
        for verb in verbs:
            self.found.record_result(verb, VerbState.NOT_TRIED, why)
