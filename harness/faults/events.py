"""Faults in the handling of events that a given step of the core posts. Such a fault changes how the core handles these
events, or changes the core's state afterwards.

A step that posts an event (``reference_qm/core/events.py``) ends before the core handles the event. So a change that a
fault makes after ``super()`` precedes the handling. A replacement that lasts as long as the step (``during``) does not
affect the handling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.faults.parts import PartMethod, override_method
from harness.faults.registry import FaultyCore, Install
from reference_qm.core.dispatch import HANDLERS_BY_EVENT_TYPE
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.surface.clock import Now

EventListener = Callable[[Now], None]


@dataclass(frozen=True, slots=True, eq=False)
class _ReplacedEvent:
    """An event of a fault that replaces an event of the core, or is posted in addition to an event of the core."""

    listener: EventListener
    event: object = None


HANDLERS_BY_EVENT_TYPE[_ReplacedEvent] = (lambda qm, event, now: event.listener(now),)


def call_after_posted_events(qm: QueueManager, change: Callable[[], None]) -> None:
    """Call ``change`` after all events that were posted so far have been handled."""
    _post_event(qm, lambda now: change())


def replace_method_during_event(
    poster: PartMethod, kind: type, inner: PartMethod, make: Callable[..., Callable[..., Any]]
) -> Install:
    """Return an installer of a fault that replaces a method only while events of one kind, posted by a given step, are
    handled.

    ``make`` is called with the replaced method and the arguments of the posting step.
    """

    def install_replacement(faulty: FaultyCore) -> None:
        running: list[Callable[..., Any]] = []  # the original method, then its replacements

        def make_inner(original: Callable[..., Any]) -> Callable[..., Any]:
            running.append(original)
            return lambda *arguments, **named: running[-1](*arguments, **named)

        def wrap_event_handler(hear: EventListener, arguments: tuple[Any, ...]) -> EventListener:
            def run_with_replacement(now: Now) -> None:
                running.append(make(running[-1], *arguments))
                try:
                    hear(now)
                finally:
                    running.pop()

            return run_with_replacement

        replace_part_by_subclass(faulty.core, override_method(inner, make_inner))
        replace_part_by_subclass(faulty.core, _replace_event_handling(poster, kind, wrap_event_handler))

    return install_replacement


def _replace_event_handling(
    poster: PartMethod, kind: type, make: Callable[[EventListener, tuple[Any, ...]], EventListener]
) -> type[QueueManagerPart]:
    """Return a subclass with a replaced handler for the events of one kind that a step posts. ``make`` returns the new
    handler; it is called with the original handler and the arguments of the step.
    """

    def wrap_handler(original: Callable[..., Any]) -> Callable[..., Any]:
        def post_with_replaced_handler(qm: QueueManager, *arguments: Any, **named: Any) -> Any:
            before = len(qm.events)
            result = original(qm, *arguments, **named)
            posted = [qm.events.pop() for _ in range(len(qm.events) - before)]
            for event in reversed(posted):
                meant = event.event if isinstance(event, _ReplacedEvent) else event
                if isinstance(meant, kind):
                    _post_event(qm, make(_call_handlers(qm, event), (qm, *arguments)), meant)
                else:
                    qm.events.append(event)
            return result

        return post_with_replaced_handler

    return override_method(poster, wrap_handler)


def _call_handlers(qm: QueueManager, event: Any) -> EventListener:
    def call_each_handler(now: Now) -> None:
        for one in HANDLERS_BY_EVENT_TYPE[type(event)]:
            one(qm, event, now)

    return call_each_handler


def _post_event(qm: QueueManager, hear: EventListener, event: object = None) -> None:
    qm.events.append(_ReplacedEvent(hear, event))  # type: ignore[arg-type]  # the core has no type for faults
