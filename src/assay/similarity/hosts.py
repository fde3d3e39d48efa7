"""Docs that are addresses of the Web: only the first result of each host, as search engines group them."""

from __future__ import annotations

from urllib.parse import urlsplit

from assay.core.errors import DataError
from assay.data import Run


def first_per_host(run: Run) -> Run:
    """The run with the first doc of each host on each topic; docs are addresses such as http://host/page.

    Engines show several pages of a host together, which would count as many agreements (Webber 2010, §7.4.1).
    Addresses are not changed otherwise.

    >>> docs = ["http://a.org/1", "http://b.org/", "http://a.org/2", "http://c.org/x"]
    >>> first_per_host(Run.from_lists("r", {"1": docs})).ranking("1")
    ['http://a.org/1', 'http://b.org/', 'http://c.org/x']
    """
    kept: dict[str, list[str]] = {}
    for topic in run.topics:
        seen: set[str] = set()
        of_topic: list[str] = []
        for doc in run.ranking(topic):
            host = _host(run, topic, doc)
            if host not in seen:
                seen.add(host)
                of_topic.append(doc)
        kept[topic] = of_topic
    return Run.from_lists(run.name, kept)


def _host(run: Run, topic: str, doc: str) -> str:
    """The host of an address, in lower case; an error for a doc that is no address."""
    try:
        host = urlsplit(doc).hostname
    except ValueError:
        host = None
    if not host:
        raise DataError(f"run {run.name!r}, topic {topic!r}: doc {doc!r} has no host; write addresses as http://host/…")
    return host
