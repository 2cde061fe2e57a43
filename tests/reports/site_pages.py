"""Reads the pages of a site that a test wrote."""

import csv


def page_of(site, name):
    return (site / name).read_text(encoding="utf-8")


def only_rule_page(site):
    (page,) = (site / "rules").iterdir()
    return page.read_text(encoding="utf-8")


def system_page(site, system):
    return page_of(site, f"systems/{system.key}.html")


def rows_of(site, table):
    return list(csv.DictReader((site / "data" / f"{table}.csv").read_text().splitlines()))
