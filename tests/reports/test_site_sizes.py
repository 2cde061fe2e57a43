"""Pages stay small for any number of systems, runs and verdicts; they name and link the content that they omit."""

import csv
import json
import re
from collections import Counter
from dataclasses import replace

from made import CONTOSO, contents, rule, run, standing, written

from reports.model import CitedErratum, System
from reports.site.errata_pages import RULES_PER_ERRATUM_SHOWN
from reports.site.pages import MAX_RUNS_WITH_PAGES
from reports.site.rule_lists import MAX_NAMED_FINDINGS
from reports.vocabulary import VERDICT_NAMES

SYSTEMS = [System("Contoso", f"1.{number}", "", number) for number in range(200)]
ROW = 2_000_000 // 2_875
"""The maximum number of octets of a rule in the list of all rules."""


def text_of(site, name):
    return (site / name).read_text(encoding="utf-8")


def rules_data(site):
    """Return the values that the scripts of the site read, by name."""
    lines = text_of(site, "rules-data.js").splitlines()
    return {name: json.loads(value.rstrip(";")) for name, _, value in (line[6:].partition(" = ") for line in lines)}


def test_data_size_per_rule_is_bounded_for_many_systems(tmp_path):
    one = rule(1, says="x" * 300)
    judged = [standing(one, system, VERDICT_NAMES[number % 8]) for number, system in enumerate(SYSTEMS[:199])]
    site, _ = written(tmp_path / "one", contents(SYSTEMS, [one], judged))
    data = rules_data(site)
    assert len(json.dumps(data["RULES"])) + len(SYSTEMS) < ROW
    places = Counter(data["VERDICTS"][int(verdicts)][0] for *_, verdicts in data["SYSTEMS"])
    assert places == {**dict.fromkeys(VERDICT_NAMES, 25), VERDICT_NAMES[7]: 24, "not_judged": 1}


def test_page_of_many_rules_has_worst_first_and_all_sections(tmp_path):
    rules = [rule(number, section) for section in ("2.1.1", "2.1.2") for number in range(1, 200)]
    verdicts = [standing(each, CONTOSO, "warn") for each in rules[:-1]] + [standing(rules[-1], CONTOSO, "fail")]
    site, _ = written(tmp_path, contents([CONTOSO], rules, verdicts))
    page = text_of(site, "rules.html")
    first = re.findall(r'<th scope="row"><a href="rules/[^"]+">([^<]+)<', page)
    assert first == [each.rule for each in (rules[-1], *rules[: MAX_NAMED_FINDINGS - 1])]
    assert f"{len(rules) - MAX_NAMED_FINDINGS} further rules have findings" in page
    assert page.count('<li><a href="sections/') == 2


def test_erratum_of_many_rules_has_a_page_with_all_rules(tmp_path):
    rules = [rule(number) for number in range(1, RULES_PER_ERRATUM_SHOWN + 3)]
    cited = (*(CitedErratum("E1", each.rule, 2) for each in rules), CitedErratum("E2", rules[0].rule, 1))
    site, _ = written(tmp_path, contents([CONTOSO], rules, cited_errata=cited))
    page = text_of(site, "errata.html")
    assert page.count('<li><a href="rules/') == RULES_PER_ERRATUM_SHOWN + 1
    (link,) = set(re.findall(r'href="(errata/[^"]+)"', page))
    assert f"all {RULES_PER_ERRATUM_SHOWN + 2} rules" in page
    own = text_of(site, link)
    assert all(f"says {number} " in own for number in range(1, RULES_PER_ERRATUM_SHOWN + 3))
    assert re.findall(r'href="(\.\./errata\.html#[^"]+)"', own)
    with (site / "data" / "errata.csv").open() as file:
        assert len(list(csv.DictReader(file))) == RULES_PER_ERRATUM_SHOWN + 3


def test_runs_page_lists_latest_runs_and_data_table_lists_all_runs(tmp_path):
    runs = [replace(run(f"r{number}", CONTOSO), ingest=number) for number in range(MAX_RUNS_WITH_PAGES + 5)]
    site, _ = written(tmp_path, contents([CONTOSO], [], (), runs, run_count=9_000))
    page = text_of(site, "runs.html")
    assert page.count("<tr id=") == MAX_RUNS_WITH_PAGES
    assert f'id="r{MAX_RUNS_WITH_PAGES + 4}-' in page
    assert "500 of 9,000" in page
    with (site / "data" / "runs.csv").open() as file:
        assert len(list(csv.DictReader(file))) == MAX_RUNS_WITH_PAGES + 5
    assert len(list((site / "runs").glob("*.html"))) == MAX_RUNS_WITH_PAGES
