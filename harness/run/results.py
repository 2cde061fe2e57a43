"""Write the results of a run, rule by rule, for other tools: junit.xml and allure-results/. Both are made from
verdicts.jsonl.

A test case is a rule with its final verdict, which does not depend on the order of checks and workers. So the
results of a resumed run include the rules that were judged before the run was resumed.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from harness.judging.verdicts import VERDICTS_WORST_FIRST, Verdict, read_standing_verdicts
from harness.printable import one_line
from harness.run.evidence import EvidenceTexts
from harness.wire.value_names import with_names

JUNIT_FILE = "junit.xml"
ALLURE_FOLDER = "allure-results"
ATTACHMENT_NAME = "expected, observed, evidence"
"""The name of the only attachment of a rule in Allure. There is only one, because writing three files for each rule
would take longer than many runs.
"""

_INVALID_XML_CHARACTER_PATTERN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Matches characters that are not allowed in XML documents (XML 1.0, 2.2)."""

_JUNIT_ELEMENT_BY_VERDICT: Mapping[Verdict, str | None] = {
    Verdict.FAIL: "failure",
    Verdict.HARNESS_ERROR: "error",
    Verdict.INCONCLUSIVE: "error",
    Verdict.WARN: None,
    Verdict.PASS: None,
    Verdict.NOT_EXERCISED: "skipped",
    Verdict.NOT_APPLICABLE: "skipped",
    Verdict.NOT_OBSERVABLE: "skipped",
}
"""The child element of a JUnit test case for each verdict."""
_ALLURE_STATUS_BY_OUTCOME: Mapping[str | None, str] = {
    "failure": "failed",
    "error": "broken",
    "skipped": "skipped",
    None: "passed",
}


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A rule, its final verdict, and one line of verdicts.jsonl with this verdict. If several lines have this verdict,
    it is the line whose check comes first in alphabetical order.
    """

    rule: str
    verdict: Verdict
    line: dict[str, Any]
    reason_of_known_deviation: str | None = None
    """The reason why the baseline accepts this failure, or None if the baseline does not accept it."""
    shared_cause: str = ""
    """The cause that this finding shares with other findings of the run (`harness.run.causes`)."""

    @property
    def section(self) -> str:
        """The document and the section as a text."""
        return f"{self.line['document']} {self.line['section']}"

    @property
    def expected(self) -> str:
        """The expected value, with the names of classes and statuses, or an empty string if there is no
        expectation.
        """
        return with_names(self.line.get("expected") or "")

    @property
    def observed(self) -> str:
        """The observed value, with the names of classes and statuses, or an empty string if there is no
        observation.
        """
        return with_names(self.line.get("observed") or "")

    @property
    def reason(self) -> str:
        """The reason for the verdict, without the text that it shares with other findings of the same cause."""
        said: str = self.line["reason"] or ""
        return said.removeprefix(self.shared_cause.partition(": ")[2]).removeprefix("; ") if self.shared_cause else said

    @property
    def says(self) -> str:
        """One line with the expected and the observed value, or with the reason."""
        line = self.line
        seen = f"expected {self.expected}; observed {self.observed}" if self.expected else ""
        known = f"known deviation: {self.reason_of_known_deviation}" if self.reason_of_known_deviation else ""
        shared = f"one of {self.shared_cause}" if self.shared_cause else ""
        said = "; ".join(filter(None, [known, shared, self.reason, seen]))
        return f"{self.verdict}: {said} ({line['test'] or 'the whole run'})"

    @property
    def build_junit_element(self) -> str | None:
        """The element of a JUnit test case for this verdict, or None for a pass."""
        return "skipped" if self.reason_of_known_deviation else _JUNIT_ELEMENT_BY_VERDICT[self.verdict]


def read_rule_results(path: Path) -> list[RuleResult]:
    """Read a verdict file. Return the final verdict of every rule, in the order of rule ids."""
    return [_build_result(line) for line in read_standing_verdicts(path)]


def find_final_results(lines: Iterable[dict[str, Any]]) -> list[RuleResult]:
    """Return the final verdict of every rule in the given lines, in the order of rule ids."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        rule = line["rule"]
        found[rule] = min(line, found.get(rule, line), key=_sort_key)
    return [_build_result(line) for _, line in sorted(found.items())]


def _build_result(line: dict[str, Any]) -> RuleResult:
    return RuleResult(line["rule"], Verdict(line["verdict"]), line)


def _sort_key(line: Mapping[str, Any]) -> tuple[int, str, int]:
    return VERDICTS_WORST_FIRST.index(Verdict(line["verdict"])), line["test"] or "", line["seq"]


ListTextsOfRule = Callable[[RuleResult], Iterable[str]]
"""The type of functions that return the lines which describe a verdict to the reader of a report, such as
`harness.run.findings.describe_finding`.
"""


def write_junit(
    results: Iterable[RuleResult],
    path: Path,
    started: str,
    told: ListTextsOfRule,
    partial: str | None = None,
    roots: Sequence[str] = (),
) -> None:
    """Write the results as JUnit XML, with a test suite for each document and a test case for each rule. All
    verdicts except passes have full details.

    ``partial`` is the reason why the run is partial. ``roots`` are the root causes (missing prerequisites) of
    verdicts. Both become properties of each test suite.
    """
    root = ElementTree.Element("testsuites", name="mqconform")
    suites: dict[str, ElementTree.Element] = {}
    for result in results:
        document = result.line["document"]
        if document not in suites:
            suites[document] = ElementTree.SubElement(root, "testsuite", name=document, timestamp=started)
            said_of_run = [("root", root) for root in roots] + ([("partial", partial)] if partial is not None else [])
            if said_of_run:
                properties = ElementTree.SubElement(suites[document], "properties")
            for name, value in said_of_run:
                ElementTree.SubElement(
                    properties, "property", name=name, value=_INVALID_XML_CHARACTER_PATTERN.sub("\ufffd", value)
                )
        where = {"classname": f"{document}.{result.line['section']}", "name": result.rule}
        case = ElementTree.SubElement(suites[document], "testcase", where)
        said = _INVALID_XML_CHARACTER_PATTERN.sub("\ufffd", result.says)
        kind = result.build_junit_element
        if kind is not None:
            element = ElementTree.SubElement(case, kind, message=said, type=str(result.verdict))
            if kind != "skipped":
                element.text = _INVALID_XML_CHARACTER_PATTERN.sub("\ufffd", "\n".join(told(result)))
        elif result.verdict is Verdict.WARN:
            ElementTree.SubElement(case, "system-out").text = said
    for element in (root, *suites.values()):
        element.set("tests", str(len(list(element.iter("testcase")))))
        for plural, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            element.set(plural, str(len(list(element.iter(kind)))))
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def write_allure(
    results: Iterable[RuleResult], folder: Path, run: Path, told: ListTextsOfRule, partial: str | None = None
) -> None:
    """Write new Allure results in place of the existing ones: one result for each rule, with the rule's sentence, the
    packets of its verdict, and the capture that contains them.

    ``run`` is the run folder with the captures. Allure's epics, features and stories are documents, sections and rules.
    A capture is attached to every result except passes. ``partial`` is the reason why the run is partial, which Allure
    shows as environment.
    """
    from allure_commons.logger import AllureFileLogger
    from allure_commons.model2 import Attachment, Label, Link, Parameter, StatusDetails, TestResult
    from allure_commons.types import AttachmentType, LabelType, LinkType

    logger: Any = AllureFileLogger(folder, clean=True)  # type: ignore[no-untyped-call]
    if partial is not None:
        (folder / "environment.properties").write_text(f"partial = {one_line(partial, 300)}\n", encoding="utf-8")
    texts = EvidenceTexts(run)
    for result in sorted(results, key=lambda result: str(result.line["capture"])):
        line = result.line
        file = f"{uuid.uuid4()}-attachment.txt"
        said = [f"expected: {result.expected}", f"observed: {result.observed}", "", *texts.of(line)]
        logger.report_attached_data("\n".join(said), file)
        attachments = [Attachment(name=ATTACHMENT_NAME, source=file, type=AttachmentType.TEXT.mime_type)]
        capture = line["capture"]
        if capture and _JUNIT_ELEMENT_BY_VERDICT[result.verdict] in ("failure", "error"):
            attachments += _attach_capture(logger, run / capture)
        labels = {
            LabelType.EPIC: line["document"],
            LabelType.FEATURE: result.section,
            LabelType.STORY: result.rule,
            LabelType.PARENT_SUITE: line["document"],
            LabelType.SUITE: result.section,
            LabelType.TAG: str(result.verdict),
            LabelType.FRAMEWORK: "mqconform",
        }
        logger.report_result(
            TestResult(
                uuid=str(uuid.uuid4()),
                historyId=hashlib.md5(f"{line['sut']} {result.rule}".encode(), usedforsecurity=False).hexdigest(),
                testCaseId=hashlib.md5(result.rule.encode(), usedforsecurity=False).hexdigest(),
                fullName=result.rule,
                name=result.rule,
                status=_ALLURE_STATUS_BY_OUTCOME[result.build_junit_element],
                statusDetails=StatusDetails(message=result.says, trace="\n".join(told(result))),
                labels=[Label(name=name, value=value) for name, value in labels.items()],
                parameters=[Parameter(name="check", value=str(line["test"]))],
                links=[Link(type=LinkType.LINK, url=f"../{capture}", name=capture)] if capture else [],
                attachments=attachments,
            )
        )


def _attach_capture(logger: Any, path: Path) -> list[Any]:
    """Attach a capture, if it exists."""
    from allure_commons.model2 import Attachment
    from allure_commons.types import AttachmentType

    if not path.is_file():
        return []
    file = f"{uuid.uuid4()}-attachment.pcapng"
    logger.report_attached_file(str(path), file)
    return [Attachment(name=path.name, source=file, type=AttachmentType.PCAP.mime_type)]
