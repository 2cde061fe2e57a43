"""Apply a row of a covering array to messages, queues and reads. The row contains the values that the check itself does
not set.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from harness.varying.arrays import CoveringArrayRow
from harness.varying.parameters import NO_FIELDS, PARAMETERS, PacketFields, find_parameter_value

_HEADERS_WITH_MERGED_FIELDS = ("base", "user", "properties")
"""The headers whose fields may be given partly by the check and partly by a row of its covering array."""


class RowVariant:
    """A row of a covering array, and its effect on packets and requests. ``facilities``: the facilities of the SUT.
    ``names``: the names that replace ``{peer}`` and ``{sut}``.
    """

    def __init__(self, row: CoveringArrayRow, facilities: Set[str] = frozenset(), **names: str) -> None:
        self.row = row
        self.applied: set[str] = set()
        """The parameters whose values were applied to at least one message, queue or read of the check."""
        self._packet: dict[str, PacketFields] = {}
        self._requests: dict[str, dict[str, PacketFields]] = {"send": {}, "create_queue": {}}
        for parameter, name in row.items():
            value = find_parameter_value(parameter, name)
            self._packet[parameter] = _put_names_into_fields(value.packet, names)
            send = value.send if set(value.send_needs) <= facilities else NO_FIELDS
            self._requests["send"][parameter] = _put_names_into_fields(send, names)
            self._requests["create_queue"][parameter] = value.queue

    def value(self, parameter: str) -> str:
        """Return the name of a parameter's value. If the row does not vary the parameter, this is the name of the
        default value.
        """
        return self.row.get(parameter, PARAMETERS[parameter][0].name)

    def __getitem__(self, parameter: str) -> str:
        """Return the name of a parameter's value, and record the parameter as applied, because the check applies
        the value itself.
        """
        self.applied.add(parameter)
        return self.value(parameter)

    def add_to_packet(self, own: PacketFields, given: PacketFields) -> dict[str, Any]:
        """Return the arguments for a message, which combine the peer's arguments (``own``), the row's values and the
        check's arguments (``given``).
        """
        packet = self._combine_effects(self._packet, given, is_transactional=given.get("transaction") is not None)
        layers = (own, packet, given)
        merged = {
            name: {**own.get(name, {}), **packet.get(name, {}), **given.get(name, {})}
            for name in _HEADERS_WITH_MERGED_FIELDS
            if any(name in layer for layer in layers)
        }
        return {**own, **packet, **given, **merged}

    def add_to_request(self, verb: str, given: PacketFields) -> dict[str, Any]:
        """Return the arguments of a control verb together with the additions of the row."""
        if verb not in self._requests or ";" in str(given.get("name")):  # a subqueue has the properties of its queue
            return dict(given)
        taken = {**given, "body": ""} if "body_base64" in given else given
        is_transactional = "transaction" in given or given.get("delivery") == "transactional"
        added = self._combine_effects(self._requests[verb], taken, is_transactional=is_transactional)
        if added.get("transactional"):  # only the row makes the queue transactional
            given = {name: value for name, value in given.items() if name != "transactional"}
        return {**{name: value for name, value in added.items() if name not in taken}, **given}

    def _combine_effects(
        self, values: Mapping[str, PacketFields], given: PacketFields, *, is_transactional: bool
    ) -> dict[str, Any]:
        """Return the combined effects of all values, and record each parameter that has an effect which no given
        argument replaces.

        A message that the check itself makes transactional has no priority (MS-MQMQ 2.2.19.1).
        """
        if is_transactional:
            values = {parameter: value for parameter, value in values.items() if parameter != "priority"}
        self.applied.update(parameter for parameter, value in values.items() if _has_effect(value, given))
        return _merge_layers(list(values.values()))


def _has_effect(value: PacketFields, given: PacketFields) -> bool:
    return any(
        name not in given
        or (name in _HEADERS_WITH_MERGED_FIELDS and any(field not in given[name] for field in fields))
        or (name == "transactional" and not given[name])
        for name, fields in value.items()
    )


def _merge_layers(layers: list[PacketFields]) -> dict[str, Any]:
    """Combine the effects of values. The fields of the same header are merged, and so are the items of the same
    list.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            known = merged.get(name)
            if isinstance(value, Mapping):
                merged[name] = {**(known or {}), **value}
            elif isinstance(value, tuple):
                merged[name] = [*(known or ()), *value]
            else:
                merged[name] = value
    return merged


def _put_names_into_fields(fields: PacketFields, names: Mapping[str, str]) -> PacketFields:
    return {
        name: _put_names_into_fields(value, names)
        if isinstance(value, Mapping)
        else value.format(**names)
        if isinstance(value, str) and "{" in value
        else value
        for name, value in fields.items()
    }


VARIANT_WITHOUT_CHANGES = RowVariant({})
"""The variant of a check that does not vary any parameter."""
