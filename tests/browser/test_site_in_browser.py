"""Tests of the site in a real browser: pages are displayed, links and scripts work, and hostile text runs no code."""

import contextlib
import shutil

import pytest
from browsed_site import SYSTEMS, made_site
from patience import PATIENCE_S
from playwright.sync_api import sync_playwright

LONG_MS = PATIENCE_S * 1_000
KINDS = ("", "systems", "rules", "sections", "documents", "runs")
OURS = "[src$='rules-data.js'], [src$='elements.js'], [src$='search.js'], [src$='compare.js']"


def chromium():
    """Return the path of Debian's chromium; fail if chromium is missing, because otherwise no test would check the
    site.
    """
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.fail("there is no chromium on the PATH: run `make setup` (Debian: apt-get install chromium)")
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return made_site(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def browser():
    path = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"], timeout=LONG_MS
        )
        yield opened
        opened.close()


@contextlib.contextmanager
def new_page(browser, **options):
    """Yield a page whose actions have a long time limit, because the machine may be loaded."""
    context = browser.new_context(**options)
    context.set_default_timeout(LONG_MS)
    yield context.new_page()
    context.close()


BOTH_SCHEMES = pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
"""The color scheme for tests of visible content; the other scheme differs only in its colors."""


@pytest.fixture
def page(browser, request):
    """Yield a page that fails the test when a script runs, a dialog opens or a request leaves file://."""
    scheme = getattr(request, "param", "light")
    with new_page(browser, color_scheme=scheme, viewport={"width": 1280, "height": 900}) as page:
        page.wrong = []
        page.on("dialog", lambda dialog: (page.wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda asked: asked.url.startswith("file:///") or page.wrong.append(f"request {asked.url}"))
        page.on("requestfailed", lambda asked: page.wrong.append(f"not found {asked.url}"))
        page.on("pageerror", lambda error: page.wrong.append(f"script {error}"))
        page.on("console", lambda message: page.wrong.append(f"console {message.text}"))
        yield page
        assert page.wrong == []


def unharmed(page):
    assert page.evaluate("window.pwned") is None
    assert page.locator(f"script:not({OURS}), img, iframe, object").count() == 0


def opened(page, path):
    page.goto(path.as_uri())
    return page


def followed(page, act, *what):
    """Perform an action that leads to another page, and wait until that page is complete. A click alone
    would not wait.
    """
    with page.expect_navigation():
        act(*what)


@BOTH_SCHEMES
def test_coverage_page_counts_sections_and_unfolds_reasons(page, site, tmp_path):
    followed(page, opened(page, site / "index.html").get_by_role("link", name="Coverage").click)
    assert page.locator("h1").inner_text() == "Coverage of the documents"
    assert page.locator("table.coverage").count() == 2
    assert "checked" in page.locator(".shares li").first.inner_text()
    reason = page.locator("details").first
    assert not reason.locator("li").first.is_visible()
    reason.locator("summary").click()
    followed(page, reason.locator("li a").first.click)
    assert page.locator("h1").count() == 1
    unharmed(page)
    page.go_back()
    page.screenshot(path=tmp_path / "coverage.png")
    assert (tmp_path / "coverage.png").stat().st_size > 10_000


@BOTH_SCHEMES
def test_failure_count_of_a_card_links_to_failures_and_failures_to_packets(page, site):
    opened(page, site / "index.html")
    assert page.locator("h1").inner_text() == "Conformance of systems"
    assert page.locator(".cards .card").count() == len(SYSTEMS)
    assert page.locator(".legend li").count() == 9
    radius = page.evaluate("getComputedStyle(document.querySelector('.badge')).borderRadius")
    assert radius == "4px", "the style sheet is off"
    unharmed(page)

    followed(page, page.locator(".card", has_text="Contoso").last.locator("a.bad").click)
    page.wait_for_url("**/systems/*.html#fail")
    failure = page.locator("article.todo").first
    assert failure.locator("dt", has_text="Expected").is_visible()
    assert "mqconform run --rule " in failure.locator(".repeat").inner_text()
    unharmed(page)

    followed(page, failure.locator("h3 a").first.click)
    page.wait_for_url("**/rules/*.html#*")
    panel = page.locator(":target")
    assert "fail" in panel.locator("h2").inner_text()
    assert "0000  10" in page.locator("pre.hex").filter(has_text="0000").first.inner_text()
    unharmed(page)

    followed(page, page.locator(".crumbs a").nth(2).click)
    page.wait_for_url("**/sections/*.html")
    assert page.locator("table.rules tbody tr").count() > 0
    followed(page, page.locator("nav a", has_text="Runs").click)
    assert page.locator("table.runs tbody tr").count() == 5
    assert "cut off in the middle" in page.locator("main").inner_text()
    unharmed(page)


def test_rule_search_filters_rules_and_puts_query_into_url(page, site):
    followed(page, opened(page, site / "index.html").locator("nav a", has_text="Rules").click)
    rows = page.locator("#rules tbody tr:visible")
    everything = int(page.locator("#found").inner_text().split()[0])
    assert rows.count() == 0
    page.get_by_label("Words or id").fill("session ping")
    assert rows.count() == 0
    page.get_by_label("Words or id").fill("mqqb-2.1.2-01")
    assert rows.count() == 1
    page.get_by_label("Words or id").fill("")
    page.get_by_label("Verdict").select_option("fail")
    page.get_by_label("Level").select_option("MUST")
    page.get_by_label("Section").fill("MQQB 3.1.5")
    few = rows.count()
    assert 0 < few < everything
    assert {
        text.split()[1].startswith("3.1.5")
        for text in page.locator("#rules tr:visible td:nth-child(2)").all_inner_texts()
    } == {True}
    assert page.locator("#found").inner_text() == f"{few} of {everything} rules"
    url = page.url
    assert "#verdict=fail&level=MUST&section=MQQB+3.1.5" in url
    page.goto("about:blank")
    page.goto(url)
    assert rows.count() == few
    assert page.get_by_label("Verdict").input_value() == "fail"


def test_rules_page_lists_all_rules_without_scripts(browser, site):
    with new_page(browser, java_script_enabled=False) as page:
        opened(page, site / "rules.html")
        assert page.locator("#findings + .scroll tbody tr:visible").count() > 100
        followed(page, page.locator(".sections a").first.click)
        assert page.locator("table.rules tbody tr:visible").count() > 0
        page.go_back()
        assert not page.locator("#search").is_visible()


def test_findings_filter_shows_only_sections_with_findings(page, site):
    followed(page, opened(page, site / "index.html").locator("#sections + ul a").last.click)
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
    lists = [site / name for name in ("index.html", "runs.html", "rules.html", "errata.html", "pairs.html")]
    lists += [site / "compare.html", *(site / "runs").iterdir()]
    for path in [*lists, *(site / "systems").iterdir(), *hostile[:: len(hostile) // 25]]:
        opened(page, path)
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        unharmed(page)
    opened(page, site / "index.html")
    assert "<script>window.pwned=1</script>" in page.locator("main").inner_text()


@pytest.mark.parametrize("folder", KINDS)
def test_pages_fit_the_width_of_a_telephone(browser, site, folder):
    with new_page(browser, viewport={"width": 390, "height": 800}) as page:
        for path in sorted((site / folder).glob("*.html"))[:8]:
            opened(page, path)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path.name


@pytest.mark.parametrize("folder", KINDS)
def test_printed_page_fits_its_sheet_and_shows_all_content(browser, site, folder):
    with new_page(browser, viewport={"width": 1040, "height": 720}, color_scheme="dark") as page:
        page.emulate_media(media="print")
        for path in sorted((site / folder).glob("*.html"))[:4]:
            opened(page, path)
            assert page.evaluate("document.documentElement.scrollWidth") <= 1040, path.name
            assert page.evaluate("getComputedStyle(document.body).color") == "rgb(23, 32, 43)", "dark ink on paper"
            assert not page.locator(".top nav").is_visible()
            for inner in page.locator("details > *:not(summary)").all()[:5]:
                assert inner.bounding_box()["height"] > 0, path.name
        assert page.pdf(format="A4").startswith(b"%PDF")


def test_pages_show_essential_content_without_scripts(browser, site):
    with new_page(browser, java_script_enabled=False) as page:
        opened(page, site / "index.html")
        followed(page, page.locator(".card", has_text="Contoso").last.locator("a.bad").click)
        followed(page, page.locator("article.todo h3 a").first.click)
        assert page.locator(":target .compare").first.is_visible()
        followed(page, page.locator("nav a", has_text="Pairs").click)
        rows = page.locator("table.pairs tbody tr:visible")
        assert rows.count() == 2
        page.get_by_label("systems with a fail").check()
        assert rows.count() == 1


def tab_to(page, wanted):
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("wanted => document.activeElement.closest(wanted) !== null", wanted):
            return
    pytest.fail(f"60 steps and not in {wanted}")


@BOTH_SCHEMES
def test_page_can_be_used_with_keyboard_only(page, site):
    opened(page, site / "index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    followed(page, page.keyboard.press, "Enter")
    assert page.evaluate("location.hash") == "#main"
    tab_to(page, ".card")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    followed(page, page.keyboard.press, "Enter")
    page.wait_for_url("**/systems/*.html")
    tab_to(page, "article.todo")
    followed(page, page.keyboard.press, "Enter")
    page.wait_for_url("**/rules/*.html#*")
    assert page.locator(":target").is_visible()


def test_page_of_a_system_begins_with_the_next_step(page, site):
    opened(page, site / "systems" / f"{SYSTEMS[1].key}.html")
    first = page.locator(".next li").first
    assert "newly failing" in first.inner_text()
    assert first.bounding_box()["y"] < 900
    assert "newly failing" in page.locator("article.todo").first.inner_text()


def test_matrix_cell_shows_only_findings_of_its_document(page, site):
    opened(page, site / "index.html")
    row = page.locator("table.matrix tbody tr", has_text="Contoso").last
    followed(page, row.locator("td.worst-fail a").last.click)
    page.wait_for_url("**/systems/*.html#in-*")
    named = page.locator(":is(article.todo h3, .cause li):visible")
    shown = named.all_inner_texts()
    assert shown
    assert len({text.partition("-")[0] for text in shown}) == 1
    page.locator("#findings a").first.click()
    assert named.count() > len(shown)


def test_comparison_page_shows_two_systems_named_in_url(page, site):
    followed(page, opened(page, site / "index.html").locator("nav a", has_text="Compare").click)
    rows = page.locator("#rules tbody tr")
    differ = rows.count()
    assert differ > 0
    page.get_by_label("First system").select_option(SYSTEMS[0].key)
    page.get_by_label("Second system").select_option(SYSTEMS[1].key)
    assert page.locator("#head-a").inner_text() == SYSTEMS[0].label
    first = rows.first.locator("td").all_inner_texts()
    assert first[0] != first[1]
    url, number = page.url, rows.count()
    page.goto("about:blank")
    page.goto(url)
    assert rows.count() == number
    page.get_by_label("Second system").select_option(SYSTEMS[0].key)
    assert rows.count() == 0
    unharmed(page)


@pytest.mark.parametrize("name", ["index.html", "runs.html"])
def test_no_column_of_a_table_breaks_a_word(page, site, name):
    """Each word of a table heading, and each document name, fits on one line: the browser draws at most one box for
    each word.
    """
    opened(page, site / name)
    broken = page.evaluate(
        """() => Array.from(document.querySelectorAll("thead th a, thead th, .lacking")).filter((one) => {
            const range = document.createRange();
            return Array.from(one.childNodes).filter((node) => node.nodeType === 3).some((node) =>
                Array.from(node.data.matchAll(/[\\p{L}-]+/gu)).some((word) => {
                    range.setStart(node, word.index);
                    range.setEnd(node, word.index + word[0].length);
                    return !word[0].includes("-") && new Set(
                        Array.from(range.getClientRects(), (box) => Math.round(box.top))).size > 1;
                }));
        }).map((one) => one.textContent)"""
    )
    assert broken == []


def test_header_of_a_long_table_stays_visible(page, site):
    opened(page, site / "rules.html")
    table = page.locator("#findings + .scroll table")
    table.locator("tbody tr").last.scroll_into_view_if_needed()
    page.mouse.wheel(0, 2_000)
    page.wait_for_function("window.scrollY > 300")
    assert table.locator("thead th").first.bounding_box()["y"] >= 0
