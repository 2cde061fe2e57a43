"""The basic operations of faults: they change a packet before it is sent, replace a method, or withhold an input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from harness.faults.parts import PartMethod, override_method, replace_part
from harness.faults.registry import FaultyCore, Install
from reference_qm.codec import FormatError, Packet, PingPacket, parse_packet, parse_ping
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.rpc.bodies import Body
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.effects import Effect, SendDatagram, SendPacket, SendRpcBytes
from reference_qm.surface.inputs import Input

PacketCondition = Callable[[Any], bool] | None
PduBody = TypeVar("PduBody", bound=Body)
PacketWithFields = TypeVar("PacketWithFields")


def set_fields(packet: PacketWithFields, changes: dict[str, Any]) -> PacketWithFields:
    """Return a packet in which fields are replaced. Fields are given by path (``InternalHeader.Reserved``). A value
    that is a callable computes the new value from the old value.
    """
    changed: Any = packet
    for path, value in changes.items():
        changed = _set_field(changed, path.split("."), value)
    return cast(PacketWithFields, changed)


def _set_field(record: Any, path: list[str], value: Any) -> Any:
    name, rest = path[0], path[1:]
    old = getattr(record, name)
    if rest:
        return replace(record, **{name: _set_field(old, rest, value)})
    return replace(record, **{name: value(old) if callable(value) else value})


def change_packets_of_kind(
    kind: type[Packet], change: Callable[[Any], bytes | None], when: PacketCondition = None
) -> Install:
    """Return an installer of a fault that changes the bytes of every outgoing packet of one kind. If ``change`` returns
    None, the packet is dropped.
    """

    def filter_packet_effect(effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, SendPacket):
            return [effect]
        try:
            packet = parse_packet(effect.data)
        except FormatError:
            return [effect]  # an earlier fault has made the packet malformed
        if not isinstance(packet, kind) or (when is not None and not when(packet)):
            return [effect]
        data = change(packet)
        return [] if data is None else [replace(effect, data=data)]

    return lambda faulty: faulty.effect_filters.append(filter_packet_effect)


def change_every_packet(change: Callable[[bytes], bytes]) -> Install:
    """Return an installer of a fault that changes the bytes of every outgoing packet, of any kind, of a session."""

    def filter_sent_packet(effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, SendPacket):
            return [effect]
        try:
            parse_packet(effect.data)
        except FormatError:
            return [effect]  # a PDU of DCE/RPC, or made malformed by an earlier fault
        return [replace(effect, data=change(effect.data))]

    return lambda faulty: faulty.effect_filters.append(filter_sent_packet)


def send_wrong_field_values(kind: type[Packet], changes: dict[str, Any], when: PacketCondition = None) -> Install:
    """Return an installer of a fault that sends packets of one kind with changed fields. Sizes in the packets are
    computed from the changed content.
    """
    return change_packets_of_kind(
        kind, lambda packet: set_fields(packet, {"BaseHeader.PacketSize": 0, **changes}).build(), when
    )


def send_wrong_bytes(kind: type[Packet], change: Callable[[bytes], bytes], when: PacketCondition = None) -> Install:
    """Return an installer of a fault that sends packets of one kind with changed bytes."""
    return change_packets_of_kind(kind, lambda packet: change(packet.build()), when)


def change_pings(
    change: Callable[[PingPacket], bytes | None], when: Callable[[PingPacket], bool] | None = None
) -> Install:
    """Return an installer of a fault that changes the bytes of every outgoing ping packet. If ``change`` returns None,
    the packet is dropped.
    """

    def filter_ping_effect(effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, SendDatagram):
            return [effect]
        packet = parse_ping(effect.data)
        if when is not None and not when(packet):
            return [effect]
        data = change(packet)
        return [] if data is None else [replace(effect, data=data)]

    return lambda faulty: faulty.effect_filters.append(filter_ping_effect)


def change_pdus(kind: type[PduBody], change: Callable[[PduBody], Body | None]) -> Install:
    """Return an installer of a fault that changes the body of every DCE/RPC PDU of one kind from the client or server.
    If ``change`` returns None, the PDU is dropped.
    """

    def filter_pdu_effect(effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, SendPacket | SendRpcBytes):
            return [effect]
        try:
            pdu = Pdu.parse(effect.data)
        except PduError:
            return [effect]  # a packet of message queuing, or made malformed by an earlier fault
        if not isinstance(pdu.body, kind):
            return [effect]
        body = change(pdu.body)
        return [] if body is None else [replace(effect, data=replace(pdu, body=body).build())]

    return lambda faulty: faulty.effect_filters.append(filter_pdu_effect)


def filter_effects(filter_: Callable[[Effect], Iterable[Effect]]) -> Install:
    """Return an installer of a fault that passes every effect of the core through a filter, which may change, drop or
    add effects.
    """
    return lambda faulty: faulty.effect_filters.append(filter_)


def filter_inputs(filter_: Callable[[Input], Iterable[Input]]) -> Install:
    """Return an installer of a fault that passes every input of the core through a filter, which may withhold, change
    or repeat inputs.
    """
    return lambda faulty: faulty.input_filters.append(filter_)


def omit_step(method: PartMethod) -> Install:
    """Return an installer of a fault that omits a step. The step must have no result."""
    return replace_part(override_method(method, lambda original: lambda *arguments, **named: None))


def omit_remote_call_sequence(method: PartMethod) -> Install:
    """Return an installer of a fault that omits a step that is a sequence of remote calls."""

    def yield_nothing(*arguments: Any, **named: Any) -> Iterator[Any]:
        yield from ()

    return replace_part(override_method(method, lambda original: yield_nothing))


def replace_method_during(outer: PartMethod, inner: PartMethod, make: Callable[..., Callable[..., Any]]) -> Install:
    """Return an installer of a fault that replaces the method ``inner`` while the method ``outer`` runs. ``make``
    is called with the replaced method and the arguments of ``outer``.
    """

    def install_replacement(faulty: FaultyCore) -> None:
        running: list[Callable[..., Any]] = []  # the original method, then its replacements

        def make_inner(original: Callable[..., Any]) -> Callable[..., Any]:
            running.append(original)
            return lambda *arguments, **named: running[-1](*arguments, **named)

        def make_outer(original: Callable[..., Any]) -> Callable[..., Any]:
            def run_with_replacement(*arguments: Any, **named: Any) -> Any:
                running.append(make(running[-1], *arguments))
                try:
                    return original(*arguments, **named)
                finally:
                    running.pop()

            return run_with_replacement

        replace_part_by_subclass(faulty.core, override_method(inner, make_inner))
        replace_part_by_subclass(faulty.core, override_method(outer, make_outer))

    return install_replacement


def omit_step_during(outer: PartMethod, inner: PartMethod) -> Install:
    """Return an installer of a fault that omits a step while a second step runs. The omitted step must have no
    result.
    """
    return replace_method_during(outer, inner, lambda original, *_: lambda *arguments, **named: None)


def fall_silent_after_step(method: PartMethod, when: Callable[..., bool]) -> Install:
    """Return an installer of a fault that silences the queue manager after the first call of a step with the given
    arguments. From then on, the queue manager ignores all inputs and sends nothing.
    """

    def install_silence(faulty: FaultyCore) -> None:
        over: list[bool] = []

        def make_silencing_step(original: Callable[..., Any]) -> Callable[..., Any]:
            def run_and_fall_silent(*arguments: Any, **named: Any) -> Any:
                if when(*arguments):
                    over.append(True)
                return original(*arguments, **named)

            return run_and_fall_silent

        replace_part_by_subclass(faulty.core, override_method(method, make_silencing_step))
        faulty.input_filters.append(lambda event: [] if over else [event])

    return install_silence


def change_core_after_every_input(change: Callable[[QueueManager], None]) -> Install:
    """Return an installer of a fault that changes the core's state after every input and every expired timer."""
    return lambda faulty: faulty.actions_after_each_input.append(change)


def change_core_at_restart(change: Callable[[QueueManager], None]) -> Install:
    """Return an installer of a fault that changes the core's state after each restart."""
    return lambda faulty: faulty.actions_at_restart.append(lambda again: change(again.core))


@dataclass(frozen=True, slots=True)
class CombinedInstallers:
    """An installer that combines several installers."""

    installers: tuple[Install, ...]

    def __call__(self, faulty: FaultyCore) -> None:
        for one in self.installers:
            one(faulty)


def combine_installers(*installs: Install) -> Install:
    """Return an installer that combines several changes into one fault."""
    return CombinedInstallers(installs)


def replace_byte(at: int, change: Callable[[int], int]) -> Callable[[bytes], bytes]:
    """Return a function that replaces one byte of a packet."""
    return lambda data: data[:at] + bytes([change(data[at]) & 0xFF]) + data[at + 1 :]
