"""Let an administrator hold an outgoing queue, and restart the system while messages wait. Spec: MS-MQQB 3.1.7.12,
3.1.7.13, 3.1.7.14, 3.1.1.3.1.
"""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition
from harness.model.transfer.sending import (
    TIME_TO_RECONNECT_AND_RESEND_MS,
    OutgoingQueueToPeer,
    SentMessage,
    ShipTransitions,
)

_EXPIRY_MARGIN_MS = 2_500


class HoldTransitions(ShipTransitions):
    """The transitions in which outgoing queues are held, or in which the system restarts."""

    @transition("MQQB-3.1.7.13-13", "MQDMPR-3.1.7.2.3-03", needs=("send", "pause"), weight=2)
    def hold(self, to: str) -> None:
        """Let an administrator hold an outgoing queue that has an open session and no messages."""
        route = self._find_idle_route(to)
        route.is_held = True
        self.settle()
        self.answer_with_success()

    def draw_hold(self, chance: Random) -> dict[str, Any]:
        return {
            "to": draw_one_value_or_refuse_step(
                chance, (name for name in self.routes if self._is_route_idle(self.routes[name]))
            )
        }

    def _is_route_idle(self, route: OutgoingQueueToPeer) -> bool:
        return route.has_open_session and not (route.is_held or route.uncompleted_messages or self.silent or self.lost)

    def _find_idle_route(self, to: str) -> OutgoingQueueToPeer:
        route: OutgoingQueueToPeer = self.find(self.routes, to)
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
        if not route.is_held or self.lost:
            raise ImpossibleStep
        self.check_no_resend_due(TIME_TO_RECONNECT_AND_RESEND_MS)
        route.is_held = False
        left = [one for one in route.messages_waiting_because_held if not self._is_expired(one)]
        for sent in sorted(left, key=lambda one: -one.message.priority):
            self.transmit(route, sent)
        route.messages_waiting_because_held.clear()
        self.settle()
        self.answer_with_success()

    def _is_expired(self, sent: SentMessage) -> bool:
        """Return whether the time within which a message had to be sent has ended; raise ImpossibleStep if this time
        ends about now.
        """
        if not sent.expires_ms:
            return False
        self.cite_rules("MQQB-3.1.7.1.2-01", "MQMQ-2.2.19.1-24", "MQMQ-2.2.20.4-03")
        if abs(sent.expires_ms - self.now_ms) < _EXPIRY_MARGIN_MS:
            raise ImpossibleStep
        return sent.expires_ms < self.now_ms

    def draw_release(self, chance: Random) -> dict[str, Any]:
        self.check_no_resend_due(TIME_TO_RECONNECT_AND_RESEND_MS)
        to = draw_one_value_or_refuse_step(
            chance, (name for name, one in self.routes.items() if one.is_held and not self.lost)
        )
        if (
            any(one.expires_ms > self.now_ms for one in self.routes[to].messages_waiting_because_held)
            and chance.random() < 0.7
        ):
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
            self.messages_present_at_restart.update(one.message.name for one in queue.positions)
        # The documents leave open whether the history of identifiers survives.
        self.nontransactional_messages_from_peer.clear()
        self.sequences.current_progress.rejected_message_count = None
        self.journaled = [name for name in self.journaled if name in self.recoverable]
        self.close_sessions(*(name for name, one in self.sessions.items() if one.open), restarted=True)
        for route in self.routes.values():
            route.messages_received_by_peer.clear()
            route.messages_with_order_ack.clear()
            route.awaited_final_acks_before_restart += len(
                route.messages_awaiting_final_ack
            )  # open: whether the system still awaits their FinalAcks
            route.messages_awaiting_final_ack.clear()
        self.forget_transfer_info()
        self.waiting_for_ack_since_ms = None
        self.connect_again()

    def draw_restart(self, chance: Random) -> dict[str, Any]:
        partly = any(
            one.uncompleted_messages and one.uncompleted_messages[0].number > 1 for one in self.routes.values()
        )
        if not partly and chance.random() < 0.6:
            raise ImpossibleStep
        return {}
