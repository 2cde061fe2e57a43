"""Describe a system's reaction in the words of harness/states/vocabulary.py. There is one function for each kind of
reaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.capture.recorder import Frame
from harness.peer.conversation import RawConversation
from harness.states.vocabulary import (
    CLOSED_OUTCOME,
    PACKET_SEPARATOR,
    REFUSED_BY_ACCEPTOR_OUTCOME,
    SILENCE_OUTCOME,
    WAITS_OUTCOME,
)
from harness.sut.outcomes import Outcome, get_label, get_outcome_of_answer

if TYPE_CHECKING:  # the import takes long, and only checks of remote reading need it
    from harness.peer.association import Call


def get_call_outcome(call: Call) -> str:
    """Wait for the answer to a remote reader's call, and return the outcome of the call."""
    if not call.answered and not call.association.over:
        return WAITS_OUTCOME
    if call.is_refused:
        return Outcome.REFUSED
    return Outcome.DONE if call.outcome in ("MQ_OK", "returned") else call.outcome


def get_read_outcome(call: Call) -> str:
    """Wait for the answer to a remote reader's read; return the outcome of the read. If the read returned a
    message, the outcome is the label of the message.
    """
    outcome = get_call_outcome(call)
    return call.label_or_outcome if outcome == Outcome.DONE else outcome


def get_answer_outcome(answer: Mapping[str, Any] | None) -> str:
    """Return the outcome that an answer on the control channel reports. For a read, the outcome is the label of the
    message.
    """
    if answer is None:
        return WAITS_OUTCOME
    if "message" in answer:
        return get_label(answer["message"])
    return str(answer.get("outcome") or get_outcome_of_answer(answer))


def get_outcome_of_packets(conversation: RawConversation, count_before: int = 0) -> str:
    """Return the outcome for the packets that the system sent after the first ``count_before`` packets, and for the
    end of the connection, if it has ended.
    """
    words = [_name_outcome_of_packet(frame) for frame in conversation.received[count_before:]]
    if conversation.record.closed_by is not None:
        words.append(CLOSED_OUTCOME)
    return PACKET_SEPARATOR.join(words) or SILENCE_OUTCOME


def _name_outcome_of_packet(frame: Frame) -> str:
    refused = frame.kind == "EstablishConnection" and frame["InternalHeader"].CS
    return REFUSED_BY_ACCEPTOR_OUTCOME if refused else frame.kind
