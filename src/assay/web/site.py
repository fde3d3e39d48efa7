"""assay site: the read-only pages as files that open from disk, with every chart and link working."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit

from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.io.files import write_whole
from assay.store import Store
from assay.store.boards import BoardChoices
from assay.web.rendering import Page, View, html
from assay.web.routes.comparisons import across_page, years_page
from assay.web.routes.listings import collection_page, collections_page
from assay.web.routes.run_pages import run_page, score_page
from assay.web.routes.topic_pages import topic_page
from assay.web.static_files import OF_PAGES, content_of


@dataclass
class _Site:
    """The pages of a site by the path that the server has them at; links to others lead to the page of collections."""

    pages: dict[str, Page] = field(default_factory=dict)

    def add(self, path: str, page: Page) -> None:
        self.pages[path] = page

    def link(self, path: str) -> str:
        """The file of a page, as other files name it."""
        parts = urlsplit(path)
        known = unquote(parts.path)
        topic = parse_qs(parts.query).get("topic", [""])[0]
        if topic:
            known = f"{known}?topic={topic}"
        return quote(_file(known)) if known in self.pages else "index.html"

    def view(self) -> View:
        return View(is_site=True, root="", link=self.link)


@dataclass(frozen=True)
class SitePages(Result):
    """The pages of a site, as files of a folder."""

    folder: Path
    files: tuple[str, ...]

    def table(self) -> Table:
        """How many pages of each kind there are."""
        kinds = Counter(name.partition("-")[0].removesuffix(".html") for name in self.files)
        return Table.of({"kind": "", "pages": "d"}, list(kinds.items()), caption=f"{self.folder}: open index.html")


def write_site(
    store: Store,
    folder: str | Path,
    *,
    collections: Sequence[str] = (),
    topics: bool = True,
    progress: Progress = silent,
) -> SitePages:
    """Write the public pages of a store as files; `index.html` is the first, what was written is returned.

    collections: only these. topics: also a page for each judged topic, with the two best runs side by side.
    """
    chosen = [one for one in store.collections.listed() if not collections or one.name in collections]
    unknown = [name for name in collections if name not in store.collections]
    if unknown:
        raise UsageError(f"no collection {unknown[0]!r} in the store")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    site = _Site()
    site.add("/", collections_page(store))
    for one in chosen:
        site.add(f"/collection/{one.name}", collection_page(store, None, one, BoardChoices()))
        for run in store.runs.listed(one.name, seen_by="public"):
            page = run_page(store, None, run)
            site.add(f"/run/{run.short}", page)
            certificate = page.names["certificate"]
            if certificate is not None:
                site.add(f"/score/{certificate.address}", score_page(certificate))
        if topics and one.qrels and store.runs.listed(one.name, seen_by="public"):
            for topic in store.qrels.read(one.name).topics:
                site.add(f"/topic/{one.name}?topic={topic}", topic_page(store, None, one, topic))
    if any(one.qrels and one.runs > 1 for one in chosen):
        site.add("/across", across_page(store, None))
    site.add("/years", years_page(store))
    _write(site, target, progress)
    return SitePages(target, tuple(_file(path) for path in site.pages))


def _write(site: _Site, target: Path, progress: Progress) -> None:
    view = site.view()
    for done, (path, page) in enumerate(site.pages.items(), 1):
        write_whole(target / _file(path), html(page, view))
        progress(done, len(site.pages))
    static = target / "static"
    static.mkdir(exist_ok=True)
    for name in OF_PAGES:
        write_whole(static / name, content_of(name))


def _file(path: str) -> str:
    """The name of the file of a page: readable where its path is plain, and never the name of another.

    >>> _file("/"), _file("/run/abc123"), _file("/collection/a b")
    ('index.html', 'run-abc123.html', 'collection-a-b-371cbf.html')
    """
    if path == "/":
        return "index.html"
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", path.strip("/").replace("/", "-", 1))
    is_plain = plain == path.strip("/").replace("/", "-", 1)
    mark = "" if is_plain else "-" + hashlib.sha256(path.encode()).hexdigest()[:6]
    return f"{plain[:80]}{mark}.html"
