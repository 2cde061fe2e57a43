"""Helper functions for faults in the answers to reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.calls import GivenStepArguments
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OnReadAnswered
from reference_qm.model.statuses import Status


def change_read_answers(
    change: Callable[[GivenStepArguments, Status, MessagePosition | None], Any],
) -> Callable[[GivenStepArguments], OnReadAnswered]:
    """Return a function for ``change_step_arguments`` that changes how a read is answered. ``change`` computes the
    status and the message position of the new answer from the arguments of the read and from the original answer.
    """
    return lambda given: lambda status, position: given.answered(*change(given, status, position))


def is_transactional(position: MessagePosition | None) -> bool:
    """Return whether a read found a message, and the message is transactional."""
    return position is not None and position.MessageReference.TransactionIdentifier is not None
