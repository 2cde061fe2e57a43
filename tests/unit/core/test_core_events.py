"""The events of the core are handled in posting order, after the input or timer that caused them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from core_network import Host, Network

from reference_qm.core import dispatch
from reference_qm.core.events import MessageDeadlinesChanged, SessionMaySend
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.commands import Identity


@dataclass(frozen=True, eq=False)
class Happened:
    name: str


@pytest.fixture
def host() -> Host:
    return Network().host(1)


@pytest.fixture
def heard(monkeypatch, host) -> list[str]:
    """Return the names of the handled events; the handling of the event ``first`` posts a further event."""
    names: list[str] = []

    def hear(qm, event, now):
        names.append(event.name)
        if event.name == "first":
            qm.post_event(Happened("from first"))

    monkeypatch.setitem(dispatch.HANDLERS_BY_EVENT_TYPE, Happened, (hear,))
    return names


def test_events_are_handled_after_input_in_posting_order(host, heard):
    for name in ("first", "second"):
        host.core.post_event(Happened(name))
    assert heard == []
    host.ask(Identity())
    assert heard == ["first", "second", "from first"]


def test_events_are_handled_after_each_timer(host, heard, monkeypatch):
    heard_before: list[list[str]] = []

    def expire(qm, owner, now):
        heard_before.append(list(heard))
        qm.post_event(Happened(f"of timer {owner}"))

    monkeypatch.setitem(dispatch.HANDLER_BY_TIMER_NAME, TimerName.REMOTE_CALL, expire)
    now = host.network.now
    for owner in (1, 2):
        host.core.timers.start(TimerKey(TimerName.REMOTE_CALL, owner), now.monotonic_ms, owner)
    host.core.handle_timer(replace(now, monotonic_ms=now.monotonic_ms + 5))
    assert heard_before == [[], ["of timer 1"]]
    assert heard == ["of timer 1", "of timer 2"]


def test_events_wait_until_the_queue_manager_has_begun(host, heard):
    host.core.begun = False
    host.core.post_event(Happened("early"))
    host.core.handle_events(host.network.now)
    assert heard == []
    host.core.begun = True
    host.core.handle_events(host.network.now)
    assert heard == ["early"]


def test_event_equal_to_the_last_one_is_posted_once(host):
    session = Session(1, initiator=True)
    for event in (SessionMaySend(session), SessionMaySend(session), MessageDeadlinesChanged(), SessionMaySend(session)):
        host.core.post_event(event)
    assert list(host.core.events) == [SessionMaySend(session), MessageDeadlinesChanged(), SessionMaySend(session)]
