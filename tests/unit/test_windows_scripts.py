"""The scripts for Windows, which cannot run here: the tests parse the scripts and check properties of their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import tree_sitter_powershell
from tree_sitter import Language, Node, Parser

from harness.cli.windows import WINDOWS_FILE_NAMES, WINDOWS_FILES_FOLDER

SCRIPTS = sorted(name for name in WINDOWS_FILE_NAMES if name.endswith(".ps1"))
PROVISION = "provision.ps1"
COMMON = {"ErrorAction"}
CMDLETS = {
    "Add-Type": {"AssemblyName", "OutputAssembly", "OutputType"},
    "ConvertFrom-Json": set(),
    "ConvertTo-Json": {"Depth"},
    "Disable-WindowsOptionalFeature": {"Online", "FeatureName", "NoRestart"},
    "Enable-WindowsOptionalFeature": {"Online", "FeatureName", "All", "NoRestart"},
    "ForEach-Object": {"Process"},
    "Get-Content": {"LiteralPath", "Raw", "Encoding"},
    "Get-Item": {"LiteralPath"},
    "Get-ItemProperty": {"LiteralPath", "Name"},
    "Get-NetFirewallRule": {"Name"},
    "Get-Service": {"Name"},
    "Get-WindowsOptionalFeature": {"Online", "FeatureName"},
    "Join-Path": {"Path", "ChildPath"},
    "Move-Item": {"LiteralPath", "Destination", "Force"},
    "New-Item": {"Path", "ItemType", "Force"},
    "New-ItemProperty": {"LiteralPath", "Name", "Value", "PropertyType", "Force"},
    "New-NetFirewallRule": set(),
    "New-Object": {"TypeName", "ArgumentList"},
    "Remove-Item": {"LiteralPath"},
    "Remove-ItemProperty": {"LiteralPath", "Name"},
    "Remove-NetFirewallRule": set(),
    "Restart-Service": {"Name", "Force"},
    "Select-Object": {"First"},
    "Set-Content": {"LiteralPath", "Encoding"},
    "Set-StrictMode": {"Version"},
    "Split-Path": {"Path", "Parent"},
    "Test-Path": {"LiteralPath", "PathType"},
    "Where-Object": {"FilterScript"},
    "Write-Output": {"InputObject"},
    "Write-Warning": {"Message"},
}
"""The cmdlets of Windows PowerShell 5.1 that the scripts use, with the parameters that the documentation of PowerShell
lists.
"""
SPLATTED = {
    "Add-Type": {"Path", "ReferencedAssemblies", "IgnoreWarnings"},
    "New-NetFirewallRule": {"Name", "DisplayName", "Direction", "Action", "Protocol", "LocalPort", "RemoteAddress"},
}
CHANGES = {
    "New-Item",
    "New-ItemProperty",
    "Enable-WindowsOptionalFeature",
    "Disable-WindowsOptionalFeature",
    "New-NetFirewallRule",
    "Remove-NetFirewallRule",
    "Remove-Item",
    "Remove-ItemProperty",
    "Restart-Service",
}
BLOCKS = {"begin", "process", "end"}
"""The names of blocks of a script. The grammar knows such blocks only in functions, and parses those of a script as
commands.
"""
SEVEN = {"&&", "||", "??", "??=", "?.", "?"}
"""The operators that Windows PowerShell 5.1 lacks."""
VALUES = {
    r"Security\EnablePingService",
    r"Security\EnableReportMessages",
    "MsmqIpPingPort",
    "SeqResend13Time",
    "SeqResend46Time",
    "SeqResend79Time",
    "SeqResend10Time",
    "SeqMaxAckDelay",
    "CleanupInterval",
    "TryConnectInterval",
    "RoundTripDelay",
    "MaxUnackedPacket",
    "RemoveDuplicateSize",
    "RemoveDuplicateCleanup",
    r"Security\PermitInsecureNacks",
    r"Security\AllowNonauthenticatedRpc",
    r"Security\NewRemoteReadServerAllowNoneSecurityClient",
}
"""The values below HKLM\\SOFTWARE\\Microsoft\\MSMQ\\Parameters that make tests possible or fast."""
MAKING = ("Set-Setting", "Enable-Feature", "New-Queue", "New-Rule")
UNDOING = ("Undo-Setting", "Undo-Feature", "Undo-Queue", "Undo-Rule")


@cache
def _tree(name: str) -> Node:
    text = (WINDOWS_FILES_FOLDER / name).read_bytes()
    return Parser(Language(tree_sitter_powershell.language())).parse(text).root_node


def _within(node: Node, *kinds: str) -> Iterator[Node]:
    if node.type in kinds:
        yield node
    for child in node.children:
        yield from _within(child, *kinds)


def _text(node: Node) -> str:
    assert node.text is not None
    return node.text.decode("ascii")


def _functions(name: str) -> dict[str, Node]:
    return {_text(next(_within(one, "function_name"))): one for one in _within(_tree(name), "function_statement")}


def _commands(node: Node) -> Iterator[tuple[str, set[str], Node]]:
    for one in _within(node, "command"):
        elements = [part for child in one.children for part in (child, *child.children)]
        parameters = {_text(part).strip("-: ") for part in elements if part.type == "command_parameter"}
        yield _text(one.children[0]), parameters, one


def _parameters(function: Node) -> set[str]:
    return {_text(one.children[-1]).strip("$ ") for one in _within(function, "script_parameter")}


def _hash(node: Node) -> dict[str, str]:
    """Return the entries of a hash literal: the text of each value by its name."""
    body = next(child for child in node.children if child.type == "hash_literal_body")
    return {
        _text(entry.children[0]).strip(): _text(entry.children[2]).strip()
        for entry in body.children
        if entry.type == "hash_entry"
    }


def _table(variable: str) -> list[dict[str, str]]:
    """Return the hashes in the array that provision.ps1 assigns to a variable at its beginning."""
    for one in _within(_tree(PROVISION), "assignment_expression"):
        if _text(one).startswith(f"{variable} = @("):
            return [_hash(each) for each in _within(one, "hash_literal_expression")]
    raise AssertionError(f"{variable} is assigned nowhere")


@pytest.mark.parametrize("name", SCRIPTS)
def test_powershell_script_has_no_syntax_error(name: str) -> None:
    wrong = [node for node in _everything(_tree(name)) if node.is_error or node.is_missing]
    assert [(node.start_point, _text(node)[:60]) for node in wrong] == []


def _everything(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _everything(child)


def test_syntax_error_in_powershell_script_is_found() -> None:
    parse = Parser(Language(tree_sitter_powershell.language())).parse
    assert parse(b"if ($x { Get-Item }\n").root_node.has_error
    assert any(node.type in SEVEN for node in _everything(parse(b"Get-Item a && Get-Item b\n").root_node))


@pytest.mark.parametrize("name", WINDOWS_FILE_NAMES)
def test_windows_file_contains_only_ascii(name: str) -> None:
    assert (WINDOWS_FILES_FOLDER / name).read_bytes().isascii()


@pytest.mark.parametrize("name", SCRIPTS)
def test_powershell_script_uses_only_features_of_version_5(name: str) -> None:
    assert [_text(node) for node in _everything(_tree(name)) if node.type in SEVEN] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_used_cmdlets_and_parameters_are_documented(name: str) -> None:
    own = {function: _parameters(node) for function, node in _functions(name).items()}
    for command, parameters, node in _commands(_tree(name)):
        if command == "&":
            assert _text(node).startswith("& $undo[")
            continue
        assert command in CMDLETS or command in own, command
        known = CMDLETS.get(command, set()) | own.get(command, set()) | COMMON
        assert parameters <= known, (command, parameters)


@pytest.mark.parametrize("name", SCRIPTS)
def test_windows_scripts_execute_no_input(name: str) -> None:
    text = _text(_tree(name)).lower()
    for word in ("invoke-expression", "iex ", "scriptblock]::create", "invoke-command", "downloadstring", "webrequest"):
        assert word not in text


def test_agent_script_leaves_standard_input_to_its_program() -> None:
    """The script agent.ps1 does not name $input: PowerShell reads the standard input of a script that names $input, and
    leaves it to the started program otherwise.
    """
    tree = _tree("agent.ps1")
    variables = {_text(node).lower() for node in _within(tree, "variable")}
    assert "$psscriptroot" in variables
    assert not variables & {"$input", "$_input"}
    assert "valuefrompipeline" not in _text(tree).lower()
    assert BLOCKS.isdisjoint(command for command, _, _ in _commands(tree))
    assert "[Mqconform.Program]::Run(" in _text(tree)


@pytest.mark.parametrize(("name", "command"), [(PROVISION, "New-NetFirewallRule"), ("agent.ps1", "Add-Type")])
def test_splatted_powershell_parameters_are_documented(name: str, command: str) -> None:
    text = _text(_tree(name))
    variables = set(re.findall(rf"{command} @(\w+)", text))
    assert variables
    for variable in variables:
        (given,) = re.findall(rf"\${variable} = (@\{{.*?\n\s*\}})", text, re.DOTALL)
        assert set(re.findall(r"^\s+(\w+)\s+=", given, re.MULTILINE)) == SPLATTED[command]


def test_firewall_rule_of_windows_script_admits_only_the_tester() -> None:
    (rule,) = [node for command, _, node in _commands(_tree(PROVISION)) if command == "New-NetFirewallRule"]
    functions = _functions(PROVISION).values()
    (function,) = [node for node in functions if node.start_byte < rule.start_byte < node.end_byte]
    (opened,) = [_hash(one) for one in _within(function, "hash_literal_expression") if "RemoteAddress" in _text(one)]
    assert opened["RemoteAddress"] == "$Tester.ToString()"
    assert opened["LocalPort"] == "$Rule.LocalPort"
    assert (opened["Direction"], opened["Action"]) == ("'Inbound'", "'Allow'")


def test_registry_values_of_windows_script_are_documented() -> None:
    places = [(one["Key"].strip("'"), one["Name"].strip("'")) for one in _table("$Settings")]
    assert {f"{key}\\{name}" if key else name for key, name in places} == VALUES


def test_windows_script_undoes_every_kind_of_recorded_change() -> None:
    text = _text(_tree(PROVISION))
    recorded = set(re.findall(r"Add-Entry -Entry \(?@\{ kind = '(\w+)'", text))
    (undo,) = [_hash(one) for one in _within(_functions(PROVISION)["Invoke-Restore"], "hash_literal_expression")]
    assert recorded == set(undo)
    assert {value.strip("${}").removeprefix("function:") for value in undo.values()} == set(UNDOING)


@pytest.mark.parametrize("name", MAKING)
def test_windows_script_records_each_value_before_its_change(name: str) -> None:
    function = _functions(PROVISION)[name]
    asked = _text(function).index("$PSCmdlet.ShouldProcess(")
    recorded = _text(function).index("Add-Entry ")
    changes = [node.start_byte - function.start_byte for command, _, node in _commands(function) if command in CHANGES]
    changes += [found.start() for found in re.finditer(r"\[System\.Messaging\.MessageQueue\]::Create", _text(function))]
    assert changes
    assert asked < recorded < min(changes)


@pytest.mark.parametrize("name", UNDOING)
def test_restore_record_accepts_only_values_the_script_changes(name: str) -> None:
    function = _functions(PROVISION)[name]
    thrown = _text(function).index("throw ")
    changes = [node.start_byte - function.start_byte for command, _, node in _commands(function) if command in CHANGES]
    changes += [found.start() for found in re.finditer("::Delete", _text(function))]
    assert changes
    assert thrown < min(changes)


def test_unrestored_windows_machine_is_reported_and_set_up_as_requested() -> None:
    """On a machine that was prepared and not restored, the script warns first. A value whose switch is now omitted is
    restored after a confirmation, and then removed from the record.
    """
    functions = _functions(PROVISION)
    prepare = [command for command, _, _ in _commands(functions["Invoke-Prepare"])]
    assert prepare[0] == "Show-Earlier"
    assert {"Set-Setting", "Reset-Setting"} < set(prepare)
    assert "Write-Warning" in {command for command, _, _ in _commands(functions["Show-Earlier"])}
    reset = _text(functions["Reset-Setting"])
    steps = ["$PSCmdlet.ShouldProcess(", "Undo-Setting -Entry", "Write-Record -Entries"]
    assert [reset.index(step) for step in steps] == sorted(reset.index(step) for step in steps)
    kept = _text(functions["Add-Entry"])
    assert "$same.Count -eq 0" in kept, "what was there before the first run is not written over"


def test_windows_script_changes_the_system_only_in_its_functions() -> None:
    """Outside the functions for recorded changes, the script changes only its record, and restarts the service."""
    functions = _functions(PROVISION)
    others = {"Write-Record": {"New-Item"}, "Restart-Msmq": {"Restart-Service"}, "Invoke-Restore": {"Remove-Item"}}
    inside = {node.start_byte for name in (*MAKING, *UNDOING) for _, _, node in _commands(functions[name])}
    for command, _, node in _commands(_tree(PROVISION)):
        if command in CHANGES and node.start_byte not in inside:
            (where,) = [name for name, one in functions.items() if one.start_byte < node.start_byte < one.end_byte]
            assert command in others[where]


def test_windows_script_creates_the_queues_of_the_sut_file() -> None:
    assert {one["Path"].strip("'").removeprefix(".\\") for one in _table("$Queues")} == {
        "private$\\mqc-plain",
        "private$\\mqc-tx",
        "private$\\mqc-admin",
    }


def test_windows_folder_has_files_that_the_command_writes() -> None:
    assert sorted(path.name for path in Path(WINDOWS_FILES_FOLDER).iterdir() if path.is_file()) == sorted(
        WINDOWS_FILE_NAMES
    )


def test_switches_named_in_windows_settings_table_are_script_parameters() -> None:
    waited_for = {one["When"].strip("'") for one in _table("$Settings")}
    (chosen,) = [_hash(one) for one in _within(_functions(PROVISION)["Invoke-Prepare"], "hash_literal_expression")]
    assert waited_for == set(chosen)
    declared = {_text(one.children[-1]) for one in _within(_tree(PROVISION), "script_parameter")}
    assert {f"${name}" for name in waited_for - {"always"}} <= declared


def test_windows_page_states_source_of_each_claim_and_member() -> None:
    root = WINDOWS_FILES_FOLDER.parents[1]
    text = (WINDOWS_FILES_FOLDER / "MsmqAgent.cs").read_text(encoding="ascii")
    (members,) = re.findall(r"interface IWindowsOnly\s*\{(.*?)\n    \}", text, re.DOTALL)
    page = (root / "docs" / "windows.md").read_text(encoding="utf-8").partition("## Tested and untested claims")[2]
    _, _, *rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("|")]
    assert [row for row in rows if not any(cell.strip(" |") for cell in row[1:])] == []
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert set(re.findall(r"(\w+)\(", members)) <= named
    tests = {name for row in rows for name in re.findall(r"tests/[\w/]+\.py", row[1])}
    assert tests
    assert [name for name in tests if not (root / name).is_file()] == []
