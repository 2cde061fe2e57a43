"""The site in a real browser: it shows, it can be walked, and nothing hostile runs."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from playwright.sync_api import sync_playwright
from typer.testing import CliRunner

import reports.cli

MAKE_RUNS = Path(__file__).parents[1] / "reports" / "make_runs.py"


def chromium():
    """Find Debian's chromium; its absence is a failure, for what nobody looked at is not known to work."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.fail("there is no chromium on the PATH: run `make setup` (Debian: apt-get install chromium)")
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    subprocess.run([sys.executable, MAKE_RUNS, folder / "runs"], check=True)
    runs = [str(path) for path in (folder / "runs").iterdir() if path.is_dir()]
    app = typer.Typer()
    app.callback()(lambda: None)
    reports.cli.register(app)
    result = CliRunner().invoke(app, ["rollup", *runs, "--out", str(folder / "out")], catch_exceptions=False)
    assert result.exit_code == 3, result.output
    return folder / "out" / "site"


@pytest.fixture(scope="module")
def browser():
    path = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture(params=["light", "dark"])
def page(browser, request):
    """Yield a page that fails the test when a script runs, a dialog opens or a request leaves file://."""
    context = browser.new_context(color_scheme=request.param, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.wrong = []
    page.on("dialog", lambda dialog: (page.wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda asked: asked.url.startswith("file:///") or page.wrong.append(f"request {asked.url}"))
    page.on("requestfailed", lambda asked: page.wrong.append(f"not found {asked.url}"))
    page.on("pageerror", lambda error: page.wrong.append(f"script {error}"))
    page.on("console", lambda message: page.wrong.append(f"console {message.text}"))
    yield page
    assert page.wrong == []
    context.close()


def unharmed(page):
    assert page.evaluate("window.pwned") is None
    assert page.locator("script, img, iframe, object").count() == 0


def test_the_coverage_page_counts_sections_and_opens_its_reasons(page, site, tmp_path):
    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name="Coverage").click()
    assert page.locator("h1").inner_text() == "Coverage of the documents"
    assert page.locator("table.coverage").count() == 2
    assert "checked" in page.locator(".shares li").first.inner_text()
    reason = page.locator("details").first
    assert not reason.locator("li").first.is_visible()
    reason.locator("summary").click()
    reason.locator("li a").first.click()
    assert page.locator("h1").count() == 1
    unharmed(page)
    page.go_back()
    page.screenshot(path=tmp_path / "coverage.png")
    assert (tmp_path / "coverage.png").stat().st_size > 10_000


def test_the_matrix_shows_and_can_be_walked_down_to_the_packet(page, site, tmp_path):
    page.goto((site / "index.html").as_uri())
    assert page.locator("h1").inner_text() == "Conformance matrix"
    assert page.locator("table.matrix").count() == 2
    assert page.locator(".legend li").count() == 9
    assert page.evaluate("getComputedStyle(document.querySelector('.badge')).borderRadius") == "4px", (
        "the style sheet is off"
    )
    unharmed(page)
    page.screenshot(path=tmp_path / "index.png")
    assert (tmp_path / "index.png").stat().st_size > 10_000

    page.locator("table.matrix tbody td.worst-fail a").first.click()
    page.wait_for_url("**/sections/*.html")
    assert page.locator("table.rules tbody tr").count() > 0
    unharmed(page)

    page.locator("td.worst-fail a").first.click()
    page.wait_for_url("**/rules/*.html#*")
    panel = page.locator(":target")
    assert "fail" in panel.locator("h2").inner_text()
    assert panel.locator("dt", has_text="Expected").first.is_visible()
    assert "0000  10" in panel.locator("pre.hex").filter(has_text="0000").first.inner_text()
    unharmed(page)
    page.screenshot(path=tmp_path / "rule.png", full_page=True)

    page.locator(".crumbs a", has_text="Matrix").click()
    page.wait_for_url("**/index.html")
    page.locator("nav a", has_text="Runs").click()
    assert page.locator("table.runs tbody tr").count() == 4
    assert "cut off in the middle" in page.locator("main").inner_text()
    unharmed(page)


def test_the_filter_leaves_only_sections_with_findings(page, site):
    page.goto((site / "index.html").as_uri())
    rows = page.locator("table.matrix tbody tr:visible")
    before = rows.count()
    page.keyboard.press("Tab")
    page.get_by_label("sections with a fail").check()
    assert 0 < rows.count() < before
    assert page.locator("table.matrix tbody tr.worst-pass:visible").count() == 0


def test_no_page_runs_a_hostile_string(page, site):
    pages = sorted(site.rglob("*.html"))
    hostile = [path for path in pages if "window.pwned" in path.read_text(encoding="utf-8")]
    assert len(hostile) > 100
    for path in [site / "index.html", site / "runs.html", *hostile[:: len(hostile) // 25]]:
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        unharmed(page)
    assert "<script>window.pwned=1</script>" in page.locator("main").inner_text()


def test_the_header_stays_in_sight_of_a_long_table(page, site):
    page.goto((site / "index.html").as_uri())
    table = page.locator("table.matrix").last
    table.locator("tbody tr").last.scroll_into_view_if_needed()
    page.mouse.wheel(0, 2_000)
    page.wait_for_function("window.scrollY > 300")
    assert table.locator("thead th").first.bounding_box()["y"] >= 0
