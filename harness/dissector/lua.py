"""Write the dissector as one Lua file. The file contains the tables of ``layouts`` and ``expert_items``, followed
by ``msmq.lua``, which reads these tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.dissector.expert_items import EXPERT_ITEMS
from harness.wire.layouts import FieldLayout, LayerLayout, SizeExpression, read_layouts
from harness.wire.rpc import EPT, QM2QM, QMCOMM
from harness.wire.rpc_interfaces import INTERFACES
from harness.wire.rpc_layouts import describe_stub
from harness.wire.rpc_qm2qm import QM2QM_OPERATIONS
from harness.wire.rpc_qmcomm import QMCOMM_OPERATIONS
from harness.wire.rpc_stub import Operation
from harness.wire.value_names import MESSAGE_CLASS_NAMES

LUA_ENGINE_FILE = Path(__file__).with_name("msmq.lua")
DISSECTED_OPERATIONS = {QM2QM.uuid: QM2QM_OPERATIONS, QMCOMM.uuid: QMCOMM_OPERATIONS}
"""The operations of each RPC interface whose stubs the harness can read. For other interfaces, the dissector shows
only the name of the interface.
"""


def write_dissector() -> str:
    """Return the complete dissector as Lua source for Wireshark 3.6 to 4.4 (Lua 5.2 and 5.4)."""
    head = f"-- MSMQ for Wireshark, made by mqconform {version('mqconform')} (mqconform dissector); do not edit.\n"
    tables = {
        "layouts": [_build_layer_table(one) for one in read_layouts()],
        "message_classes": MESSAGE_CLASS_NAMES,
        "operations": _build_operation_tables(),
    }
    texts = [f"local {name} = {format_as_lua(value)}\n" for name, value in tables.items()]
    return "\n".join([head, *texts, _build_expert_item_tables(), LUA_ENGINE_FILE.read_text(encoding="utf-8")])


def _build_layer_table(layout: LayerLayout) -> dict[str, Any]:
    return {"name": layout.name, "filter": layout.filter, "fields": [_build_field_table(one) for one in layout.fields]}


def _build_field_table(field: FieldLayout) -> dict[str, Any]:
    return {"name": field.name, "kind": field.kind, **field.facts}


def _build_operation_tables() -> dict[str, Any]:
    return {
        str(uuid): _build_interface_table(name.partition(" (")[0], DISSECTED_OPERATIONS.get(uuid, {}).values())
        for uuid, name in INTERFACES.items()
        if uuid != EPT.uuid
    }


def _build_interface_table(name: str, operations: Iterable[Operation]) -> dict[str, Any]:
    known = list(operations)
    returns = {one.name: True for one in known if any(field.name == "Return" for field in one.Response.fields_desc)}
    stubs = {
        one.name: {
            "request": describe_stub(one.Request.fields_desc),
            "response": describe_stub(one.Response.fields_desc),
        }
        for one in known
    }
    return {"name": name, "names": {one.opnum: one.name for one in known}, "returns": returns, "stubs": stubs}


def _build_expert_item_tables() -> str:
    rows = ["local function one_of(value, listed)", "  for _, one in ipairs(listed) do"]
    rows += ["    if value == one then return true end", "  end", "  return false", "end", "", "local expert_items = {"]
    for item in EXPERT_ITEMS:
        local = "".join(f"local {layer} = headers.{layer} " for layer in item.layers)
        keeps = f"function(headers) {local}return {item.condition} end"
        layers = format_as_lua(list(item.layers))
        rule, says = format_as_lua(item.rule), format_as_lua(item.says)
        rows.append(f"  {{ rule = {rule}, says = {says}, layers = {layers}, keeps = {keeps} }},")
    return "\n".join([*rows, "}", ""])


def format_as_lua(value: Any) -> str:
    """Return a table, string, number or bool as a Lua expression; raise TypeError for any other value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return '"' + "".join(_escape_character(one) for one in value) + '"'
    if isinstance(value, SizeExpression):
        return format_as_lua({key: one for key in SizeExpression.__slots__ if (one := getattr(value, key)) is not None})
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"[{format_as_lua(key)}] = {format_as_lua(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "{ " + ", ".join(format_as_lua(one) for one in value) + " }"
    raise TypeError(f"a value of type {type(value).__name__} has no Lua expression")


def _escape_character(character: str) -> str:
    plain = character.isascii() and character.isprintable() and character not in '"\\'
    return character if plain else "".join(f"\\{byte:03d}" for byte in character.encode())
