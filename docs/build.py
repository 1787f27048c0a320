"""Renders the documentation to a static site, and checks its links.

    python docs/build.py            write docs/site
    python docs/build.py --check    write nothing; fail if a link leads nowhere or a page cannot be reached

Pages are `docs/**/*.md`, README and CHANGELOG. A link may lead to a page, to a heading of a page, to a
file below `docs`, or outside; links to the outside are not followed.
"""

from __future__ import annotations

import html
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
SITE = DOCS / "site"
START = DOCS / "index.md"
STYLE = DOCS / "style.css"
BESIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
"""Pages that live beside `docs`, and stand at the top of the site."""


@dataclass
class Page:
    """A source file, its tokens, and what can be linked to in it."""

    source: Path
    target: str
    tokens: list[Token]
    title: str = ""
    anchors: set[str] = field(default_factory=set)


def markdown() -> MarkdownIt:
    """The dialect: CommonMark with tables."""
    return MarkdownIt("commonmark").enable("table")


def sources() -> list[Path]:
    """Every page."""
    found = [path for path in sorted(DOCS.rglob("*.md")) if SITE not in path.parents]
    return [*found, *(ROOT / name for name in BESIDE)]


def target_of(source: Path) -> str:
    """Where a page stands in the site."""
    base = DOCS if DOCS in source.parents else ROOT
    return source.relative_to(base).with_suffix(".html").as_posix()


def slug(text: str) -> str:
    """The anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def read(source: Path) -> Page:
    """Parse a page and give its headings anchors."""
    page = Page(source, target_of(source), markdown().parse(source.read_text()))
    for place, token in enumerate(page.tokens):
        if token.type == "heading_open":
            text = "".join(
                child.content
                for child in page.tokens[place + 1].children or []
                if child.type in ("text", "code_inline")
            )
            name = slug(text)
            token.attrSet("id", name)
            page.anchors.add(name)
            if token.tag == "h1" and not page.title:
                page.title = text
    return page


def links(page: Page) -> Iterator[tuple[Token, str]]:
    """Every link and image of a page, with the attribute that holds its target."""
    for token in page.tokens:
        for child in token.children or []:
            if child.type in ("link_open", "image"):
                yield child, "href" if child.type == "link_open" else "src"


def relative(here: str, there: str) -> str:
    """From one file of the site to another."""
    return "../" * here.count("/") + there


def resolve(pages: dict[Path, Page], page: Page) -> tuple[list[str], list[Path], set[Path]]:
    """Rewrite a page's links for the site: complaints, files to copy, and pages that it leads to."""
    wrong: list[str] = []
    files: list[Path] = []
    reached: set[Path] = set()
    for token, key in links(page):
        link = str(token.attrGet(key) or "")
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        path = (page.source.parent / unquote(parts.path)).resolve() if parts.path else page.source
        if path in pages:
            reached.add(path)
            if parts.fragment and parts.fragment not in pages[path].anchors:
                wrong.append(f"{link}: {path.name} has no such heading")
            new = relative(page.target, pages[path].target) if parts.path else ""
            token.attrSet(key, new + (f"#{parts.fragment}" if parts.fragment else ""))
        elif path.is_file() and DOCS in path.parents:
            files.append(path)
            token.attrSet(key, relative(page.target, path.relative_to(DOCS).as_posix()))
        elif path.exists():
            wrong.append(f"{link}: it is neither a page nor a file below docs")
        else:
            wrong.append(f"{link}: there is no such file")
    where = page.source.relative_to(ROOT)
    return [f"{where}: {text}" for text in wrong], files, reached


def navigation(pages: dict[Path, Page], here: Page) -> str:
    """The list of all pages, by folder."""
    lines: list[str] = []
    folder = None
    for page in sorted(pages.values(), key=lambda p: (p.target.count("/"), p.target)):
        if page.target.rpartition("/")[0] != folder:
            folder = page.target.rpartition("/")[0]
            lines.append(f"<p>{html.escape(folder.capitalize() or 'Twinplane')}</p>")
        current = ' aria-current="page"' if page is here else ""
        href = relative(here.target, page.target)
        lines.append(f'<a href="{href}"{current}>{html.escape(page.title)}</a>')
    return "\n".join(lines)


def rendered(pages: dict[Path, Page], page: Page) -> str:
    """A page of the site."""
    parser = markdown()
    body = parser.renderer.render(page.tokens, parser.options, {})
    body = body.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")
    title = html.escape(page.title)
    if "Twinplane" not in title:
        title += " - Twinplane"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE.read_text()}</style></head>\n<body>"
        f"<nav>{navigation(pages, page)}</nav>\n<main>{body}</main></body></html>\n"
    )


def build() -> tuple[dict[str, str], list[Path], list[str]]:
    """The site's pages by place, the files beside them, and what is wrong."""
    pages = {source: read(source) for source in sources()}
    if len(pages) <= len(BESIDE):
        return {}, [], ["no page was found"]
    wrong = [f"{p.source.relative_to(ROOT)}: no title" for p in pages.values() if not p.title]
    files: list[Path] = []
    leads: dict[Path, set[Path]] = {}
    for source, page in pages.items():
        complaints, found, leads[source] = resolve(pages, page)
        wrong += complaints
        files += found
    seen, waiting = {START}, [START]
    while waiting:
        fresh = leads.get(waiting.pop(), set()) - seen
        seen |= fresh
        waiting += fresh
    wrong += [
        f"{p.relative_to(ROOT)}: no link leads to it from docs/index.md" for p in pages if p not in seen
    ]
    return {page.target: rendered(pages, page) for page in pages.values()}, files, wrong


def main() -> int:
    """See the module."""
    made, files, wrong = build()
    for text in wrong:
        print(f"docs: {text}", file=sys.stderr)
    if wrong:
        return 1
    if "--check" in sys.argv:
        print(f"docs: {len(made)} pages, all links lead somewhere")
        return 0
    shutil.rmtree(SITE, ignore_errors=True)
    for place, text in made.items():
        path = SITE / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for file in files:
        copy = SITE / file.relative_to(DOCS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    print(f"docs: {len(made)} pages in {SITE.relative_to(ROOT)}; begin with index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
