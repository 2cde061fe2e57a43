"""Let an administrator hold an outgoing queue, and restart the system while messages wait. Spec: MS-MQQB 3.1.7.12,
3.1.7.13, 3.1.7.14, 3.1.1.3.1.
"""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.steps import ImpossibleStep, draw_one, transition
from harness.model.transfer.sending import RECONNECT_TIME_MS, Route, SentMessage, Shipping

_EXPIRY_MARGIN_MS = 2_500


class Holding(Shipping):
    """The transitions in which outgoing queues are held, or in which the system restarts."""

    @transition("MQQB-3.1.7.13-13", "MQDMPR-3.1.7.2.3-03", needs=("send", "pause"), weight=2)
    def hold(self, to: str) -> None:
        """Let an administrator hold an outgoing queue that has an open session and no messages."""
        route = self._find_idle_route(to)
        route.held = True
        self.settle()
        self.record_done()

    def draw_hold(self, chance: Random) -> dict[str, Any]:
        return {"to": draw_one(chance, (name for name in self.routes if self._is_route_idle(self.routes[name])))}

    def _is_route_idle(self, route: Route) -> bool:
        return route.connected and not (route.held or route.table or self.silent or self.lost)

    def _find_idle_route(self, to: str) -> Route:
        route: Route = self.find(self.routes, to)
        if not self._is_route_idle(route):
            raise ImpossibleStep
        return route

    @transition(
        *("MQQB-3.1.7.12-04", "MQQB-3.1.7.14-04", "MQDMPR-3.1.4.15-03", "MQDMPR-3.1.1.12-D60", "MQQB-3.1.7.12-12"),
        needs=("send", "pause"),
        weight=3,
    )
    def release(self, to: str) -> None:
        """Let an administrator release an outgoing queue. The system sends the messages that waited."""
        route = self.find(self.routes, to)
        if not route.held or self.lost:
            raise ImpossibleStep
        self.check_no_resend_due(RECONNECT_TIME_MS)
        route.held = False
        left = [one for one in route.waiting if not self._is_expired(one)]
        for sent in sorted(left, key=lambda one: -one.message.priority):
            self.transmit(route, sent)
        route.waiting.clear()
        self.settle()
        self.record_done()

    def _is_expired(self, sent: SentMessage) -> bool:
        """Return whether a message was not sent within its time; raise ImpossibleStep if its time ends about now."""
        if not sent.expires_ms:
            return False
        self.cite_rules("MQQB-3.1.7.1.2-01", "MQMQ-2.2.19.1-24", "MQMQ-2.2.20.4-03")
        if abs(sent.expires_ms - self.now_ms) < _EXPIRY_MARGIN_MS:
            raise ImpossibleStep
        return sent.expires_ms < self.now_ms

    def draw_release(self, chance: Random) -> dict[str, Any]:
        self.check_no_resend_due(RECONNECT_TIME_MS)
        to = draw_one(chance, (name for name, one in self.routes.items() if one.held and not self.lost))
        if any(one.expires_ms > self.now_ms for one in self.routes[to].waiting) and chance.random() < 0.7:
            raise ImpossibleStep
        return {"to": to}

    @transition(
        *("MQQB-3.1.1.3.1-09", "MQQB-3.1.1.3.1.2-01", "MQDMPR-3.1.1.11-07", "MQQB-3.1.3.2-34", "MQQB-3.1.7.1.3-08"),
        needs=("send", "receive", "restart"),
        weight=2,
    )
    def restart(self) -> None:
        """Restart the system. Express messages are lost. The system connects again, and sends the transactional
        messages that have no OrderAck.
        """
        self.check_can_lose_sessions()
        if self.silent:
            raise ImpossibleStep
        for queue in self.iterate_queues():
            queue.positions = [one for one in queue.positions if one.message.recoverable]
            self.survivors.update(one.message.name for one in queue.positions)
        self.originals.clear()  # the documents leave open whether the history of identifiers survives
        self.sequences.place.rejected = None
        self.journaled = [name for name in self.journaled if name in self.recoverable]
        self.close_sessions(*(name for name, one in self.sessions.items() if one.open), restarted=True)
        for route in self.routes.values():
            route.copies.clear()
            route.ordered.clear()
            route.forgotten_final += len(route.awaiting_final)  # open: whether the system still awaits their FinalAcks
            route.awaiting_final.clear()
        self.forget_transfer_info()
        self.open_ms = None
        self.connect_again()

    def draw_restart(self, chance: Random) -> dict[str, Any]:
        partly = any(one.table and one.table[0].number > 1 for one in self.routes.values())
        if not partly and chance.random() < 0.6:
            raise ImpossibleStep
        return {}
