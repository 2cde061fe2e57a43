"""Asks for verbs, and notes the result of each."""

from __future__ import annotations

from typing import Any

from harness.attach.conversation import Conversation
from harness.attach.findings import FACILITY_OF, Findings, State
from harness.errors import SutUnavailable
from harness.sut.control_schema import complaint_about_answer
from harness.sut.wires import Reply

SILENCES = 3
"""So many verbs without an answer, one after the other: then nothing more is tried."""


class Asking:
    """A conversation, and the findings in it."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.found = Findings()
        self._silences = 0

    @property
    def is_over(self) -> bool:
        """Return whether nothing more can be tried."""
        return self.conversation.ended is not None or self._silences >= SILENCES

    def _raw(self, verb: str, **arguments: Any) -> Reply | None:
        """Ask; note an answer that breaks the contract, or none."""
        if self.is_over:
            return None
        try:
            reply = self.conversation.reply(self.conversation.ask(verb, **arguments))
        except SutUnavailable as error:
            self.conversation.on_end(str(error))
            reply = None
        if reply is None:
            why = self.conversation.ended or self.conversation.silence
            self._silences += self.conversation.ended is None
            self.found.note(verb, State.SILENT, why)
            return None
        self._silences = 0
        if verb in FACILITY_OF and (complaint := complaint_about_answer(verb, reply)) is not None:
            self.found.note(verb, State.WRONG, complaint)
            return None
        return reply

    def _try(self, verb: str, **arguments: Any) -> Reply | None:
        """Ask for a verb that should succeed; None when it did not."""
        reply = self._raw(verb, **arguments)
        if reply is None:
            return None
        if reply.get("ok") is not True:
            state = State.MISSING if reply.get("unsupported") is True else State.REFUSED
            self.found.note(verb, state, str(reply.get("error", "without a reason")))
            return None
        self.found.note(verb, State.WORKS)
        return reply

    def _refuses(self, verb: str, **arguments: Any) -> None:
        """Ask for a verb that must be refused: the refusal shows that the agent knows the verb."""
        reply = self._raw(verb, **arguments)
        if reply is None:
            return
        if reply.get("ok") is True:
            what = ", ".join(f"{name} {value}" for name, value in arguments.items())
            self.found.note(verb, State.WRONG, f"{what} was not refused, though there is no such thing")
        elif reply.get("unsupported") is True:
            self.found.note(verb, State.MISSING, str(reply.get("error")))
        else:
            self.found.note(verb, State.WORKS)

    def _has_made(self, name: str, **properties: Any) -> bool:
        """Make a queue of a kind that a system need not have."""
        reply = self._raw("create_queue", name=name, **properties)
        return reply is not None and reply.get("ok") is True

    def _wrong(self, verb: str, why: str) -> None:
        self.found.note(verb, State.WRONG, why)

    def _skip(self, why: str, *verbs: str) -> None:
        for verb in verbs:
            self.found.note(verb, State.NOT_TRIED, why)
