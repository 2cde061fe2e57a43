"""Finds defects of a site: links without a target, and files without a link to them."""

import re


def dead_links(site):
    """Return the links of all pages whose target file, or element of the page, does not exist; each as "page: link"."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(site.resolve().rglob("*.html"))}
    anchors = {path: set(re.findall(r'\bid="([^"]*)"', text)) for path, text in texts.items()}
    dead = []
    for path, text in texts.items():
        for link in dict.fromkeys(_links(text)):
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            if not target.is_file() or (anchor and anchor not in anchors[target]):
                dead.append(f"{path.name}: {link}")
    return dead


def files_that_nothing_leads_to(site):
    """Return the files of a site that no page links to or loads."""
    pages = sorted(site.resolve().rglob("*.html"))
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in pages
        for link in _links(page.read_text(encoding="utf-8"))
    }
    return [str(path.relative_to(site.resolve())) for path in site.resolve().rglob("*") if _is_alone(path, linked)]


def _is_alone(path, linked):
    return path.is_file() and path not in linked


def _links(text):
    return [link for link in re.findall(r'(?:href|src)="([^"]*)"', text) if not link.startswith("https:")]
