"""Define faults as subclasses: a subclass of one part of the queue manager replaces this part.

    @fault("sender-message-whose-number-is-ack-number-not-marked", breaks=("MQQB-3.1.5.5-03", "MQQB-3.1.5.5.1-01"))
    class LastAcknowledgedMessageNotMarked(SessionAcks):
        \"\"\"The sender does not mark the message with the number AckSequenceNumber as acknowledged.\"\"\"

        def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
            super().mark_acknowledged_messages(session, set_fields(header, {"AckSequenceNumber": lambda old: old - 1}))

``super()`` calls the previous method: the method of the part, or the method of an earlier fault of this part. So
several faults of one part can be combined; the last one is called first. ``reference_qm/core/README.md`` describes the
parts and their methods.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

from harness.faults.registry import FaultyCore, Install, add, register_variant_of_reading
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.replacing import find_part_attribute, find_replaced_part, replace_part_by_subclass

PartMethod = Callable[..., Any]
"""A method of a part, such as ``SessionAcks.mark_acknowledged_messages``."""
ReplaceMethod = Callable[[Callable[..., Any]], Callable[..., Any]]
"""The type of functions that are called with the previous method and return the new method. The first argument of
both methods is the queue manager.
"""
FaultyPart = TypeVar("FaultyPart", bound=QueueManagerPart)
ChangedMethod = TypeVar("ChangedMethod", bound=Callable[..., Any])
StepCondition = Callable[..., bool]
"""The type of conditions for steps. A condition is called with the part and with the arguments of the step."""
_CONDITION_ATTRIBUTE = "faulty_only_if"


def fault(
    name: str, *, breaks: str | Iterable[str], blind: bool = False
) -> Callable[[type[FaultyPart]], type[FaultyPart]]:
    """Register a subclass of a part as a fault. The first paragraph of the docstring of the subclass is the fault's
    description.

    ``breaks``: the rule that the fault breaks, or several rules if the documents state one demand several times.
    ``blind``: whether the author of the fault had read the rule, but not the checks of the rule.
    """

    def register_fault_class(cls: type[FaultyPart]) -> type[FaultyPart]:
        add(name, breaks, _describe_fault(name, cls), replace_part(cls), blind=blind)
        return cls

    return register_fault_class


def follows_reading_of_erratum(reading: str) -> Callable[[type[FaultyPart]], type[FaultyPart]]:
    """Register a subclass of a part of the queue manager as a variant that follows an alternative interpretation of a
    passage. The name of the variant, such as E41.2, consists of the id of the erratum and the number of the
    interpretation.
    """

    def register_reading_class(cls: type[FaultyPart]) -> type[FaultyPart]:
        register_variant_of_reading(reading, _describe_fault(reading, cls), replace_part(cls))
        return cls

    return register_reading_class


def faulty_only_if(condition: StepCondition) -> Callable[[ChangedMethod], ChangedMethod]:
    """Restrict a fault in a step to those calls of the step for which a condition is true. All other calls run the
    original step.

    The condition is called with the arguments of the step, and must change nothing. ``prove`` also evaluates the
    condition in the clean reference, and tries only checks in which the condition is true at least once. Use this
    decorator only in classes that have a name in their module.
    """

    def narrow_step(method: ChangedMethod) -> ChangedMethod:
        @wraps(method)
        def call_if_condition_holds(self: QueueManagerPart, *arguments: Any, **named: Any) -> Any:
            if condition(self, *arguments, **named):
                return method(self, *arguments, **named)
            return getattr(super(_find_defining_class(type(self), call_if_condition_holds), self), method.__name__)(
                *arguments, **named
            )

        setattr(call_if_condition_holds, _CONDITION_ATTRIBUTE, condition)
        return cast("ChangedMethod", call_if_condition_holds)

    return narrow_step


def get_step_condition(method: PartMethod) -> StepCondition | None:
    """Return the condition that restricts a fault in a step, or None if the fault changes every call."""
    return getattr(method, _CONDITION_ATTRIBUTE, None)


def _find_defining_class(cls: type, step: PartMethod) -> type:
    return next(one for one in cls.__mro__ if vars(one).get(step.__name__) is step)


def _describe_fault(name: str, cls: type[QueueManagerPart]) -> str:
    says = " ".join((cls.__doc__ or "").split("\n\n")[0].split())
    if "__doc__" not in vars(cls) or not says:
        raise TypeError(f"the fault {name} has no docstring that describes it")
    return says


@dataclass(frozen=True, slots=True)
class PartReplacement:
    """An installer that replaces a part of the queue manager with a subclass of that part."""

    replacing_class: type[QueueManagerPart]

    def __call__(self, faulty: FaultyCore) -> None:
        replace_part_by_subclass(faulty.core, self.replacing_class)


def replace_part(cls: type[QueueManagerPart]) -> Install:
    """Return an installer of a fault that replaces a part of the queue manager with a subclass of this part."""
    find_replaced_part(cls)
    return PartReplacement(cls)


def override_method(method: PartMethod, make: ReplaceMethod) -> type[QueueManagerPart]:
    """Return a subclass of the class that defines a method. The subclass replaces this method with the method that
    ``make`` returns.
    """
    part, name = _find_part_of_method(method)

    def call_original(qm: QueueManager, *arguments: Any, **named: Any) -> Any:
        return getattr(super(cls, getattr(qm, find_part_attribute(qm, part))), name)(*arguments, **named)

    new = make(call_original)
    cls = type(name, (part,), {name: lambda self, *arguments, **named: new(self.qm, *arguments, **named)})
    return cls


def change_step(method: PartMethod, run: Callable[..., Any]) -> Install:
    """Return an installer of a fault that replaces a step. ``run`` is called with the part, the original step and
    the arguments of the step. ``run`` can keep state between calls in attributes of the part.
    """
    part, name = _find_part_of_method(method)

    def call_run(self: QueueManagerPart, *arguments: Any, **named: Any) -> Any:
        return run(self, getattr(super(cls, self), name), *arguments, **named)

    cls = type(name, (part,), {name: call_run})
    return replace_part(cls)


def _find_part_of_method(method: PartMethod) -> tuple[type[QueueManagerPart], str]:
    class_name, _, name = method.__qualname__.rpartition(".")
    owner = getattr(sys.modules[method.__module__], class_name, None)
    if not (isinstance(owner, type) and issubclass(owner, QueueManagerPart)):
        raise TypeError(f"{method.__qualname__} is not a method of a part of the queue manager")
    return owner, name
