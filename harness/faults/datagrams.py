"""Faults in the datagrams that the queue manager receives or sends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.faults.primitives import filter_effects, filter_inputs
from harness.faults.registry import Install
from reference_qm.surface.effects import Effect, SendDatagram
from reference_qm.surface.inputs import DatagramReceived, Input, PingSocket


def change_received_datagrams(socket: PingSocket, change: Callable[[bytes], bytes | None]) -> Install:
    """Return an installer of a fault that changes the datagrams received by one of the two ping sockets. If
    ``change`` returns None, the datagram is dropped.
    """

    def filter_datagram(event: Input) -> Iterable[Input]:
        if not isinstance(event, DatagramReceived) or event.socket is not socket:
            return [event]
        data = change(event.data)
        return [] if data is None else [replace(event, data=data)]

    return filter_inputs(filter_datagram)


def change_sent_datagrams(socket: PingSocket, change: Callable[[SendDatagram], SendDatagram]) -> Install:
    """Return an installer of a fault that changes the datagrams sent by one of the two ping sockets. SOURCE
    sends requests, and LISTENER sends responses.
    """

    def filter_sent_datagram(effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, SendDatagram) or effect.socket is not socket:
            return [effect]
        return [change(effect)]

    return filter_effects(filter_sent_datagram)
