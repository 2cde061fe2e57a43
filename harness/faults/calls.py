"""Faults in one step of the reference: changed arguments, a changed result, or a replacement of the step.

The signature of the step stays the same, so a fault defines only its change:

    change_step_arguments(MessageReading.dequeue_message, cursor=lambda given: None)
    replace_step_status(MessageReading.peek_message, Status.MQ_ERROR_IO_TIMEOUT)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from harness.faults.parts import PartMethod, override_method, replace_part
from harness.faults.registry import Install
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.statuses import Status


class GivenStepArguments:
    """The arguments of one call of a step, by parameter name. A step is a method of the reference that carries out a
    step of the specifications. The attribute ``qm`` is the queue manager.
    """

    def __init__(self, qm: QueueManager, arguments: dict[str, Any]) -> None:
        self.qm = qm
        self._arguments = arguments

    def __getattr__(self, name: str) -> Any:
        try:
            return self._arguments[name]
        except KeyError:
            raise AttributeError(f"the step has no parameter {name}") from None


def change_step_arguments(method: PartMethod, **changes: Callable[[GivenStepArguments], Any]) -> Install:
    """Return an installer of a fault that calls a step of the reference with changed arguments. Each function in
    ``changes`` computes one argument from all original arguments.
    """
    signature = inspect.signature(method)
    if unknown := changes.keys() - signature.parameters.keys():
        raise TypeError(f"{method.__qualname__} has no parameter {', '.join(sorted(unknown))}")

    def make_changed_step(original: PartMethod) -> PartMethod:
        def call_with_changed_arguments(*arguments: Any, **named: Any) -> Any:
            bound, given = _bind_arguments(signature, arguments, named)
            bound.arguments |= {name: change(given) for name, change in changes.items()}
            return original(*bound.args, **bound.kwargs)

        return call_with_changed_arguments

    return replace_part(override_method(method, make_changed_step))


def change_step_result(
    method: PartMethod, change: Callable[..., tuple[Any, ...]], *, callback: str = "answered"
) -> Install:
    """Return an installer of a fault that changes the result of a step of the reference. The step passes its result as
    arguments to ``callback``; ``change`` computes the new arguments from the original arguments.
    """

    def make_changed_callback(given: GivenStepArguments) -> Callable[..., Any]:
        return lambda *result: getattr(given, callback)(*change(*result))

    return change_step_arguments(method, **{callback: make_changed_callback})


def replace_step_status(
    method: PartMethod, status: Status, *, of: Status = Status.MQ_OK, callback: str = "answered"
) -> Install:
    """Return an installer of a fault that replaces the status ``of`` in the results of a step with ``status``.
    Other results stay unchanged.
    """
    return change_step_result(method, lambda found, *rest: (status if found is of else found, *rest), callback=callback)


def replace_step_if(
    method: PartMethod, when: Callable[[GivenStepArguments], bool], do: Callable[[GivenStepArguments], Any]
) -> Install:
    """Return an installer of a fault that calls ``do`` instead of a step if the condition ``when`` is true."""
    signature = inspect.signature(method)

    def make_conditional_step(original: PartMethod) -> PartMethod:
        def call_or_replace(*arguments: Any, **named: Any) -> Any:
            given = _bind_arguments(signature, arguments, named)[1]
            return do(given) if when(given) else original(*arguments, **named)

        return call_or_replace

    return replace_part(override_method(method, make_conditional_step))


def _bind_arguments(
    signature: inspect.Signature, arguments: tuple[Any, ...], named: dict[str, Any]
) -> tuple[inspect.BoundArguments, GivenStepArguments]:
    """Return the arguments of a call of a step by parameter name. The first argument (``self``) is the queue
    manager.
    """
    bound = signature.bind(*arguments, **named)
    bound.apply_defaults()
    return bound, GivenStepArguments(arguments[0], dict(bound.arguments))
