"""A page that changes while people judge: what it rests on as a tag, and no more work than a server can bear.

A reader asks again every few seconds with the tag of what it has. While nothing has changed that costs one small query;
when something has, the page is made once for all readers, and not again before a pause that grows with its cost.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from assay.web.rendering import Page

MOST = 64
"""Pages that are kept."""
LEAST_PAUSE = 1.0
"""Seconds for which a page that was just made is new enough for who follows it."""
SHARE = 0.2
"""The share of the time that may go into making a page again."""


@dataclass(frozen=True)
class LivePage:
    """A page, the tag of what it rests on, when it was made and how many seconds that took."""

    page: Page
    tag: str
    made: float
    took: float

    @property
    def is_new_enough(self) -> bool:
        """Whether who follows the page can do with it although something has changed."""
        return time.monotonic() - self.made < max(LEAST_PAUSE, self.took / SHARE)


@dataclass
class LivePages:
    """The pages that are followed, by what they show."""

    pages: OrderedDict[Hashable, LivePage] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    making: dict[Hashable, threading.Lock] = field(default_factory=dict)

    def page(self, shows: Hashable, state: Hashable, make: Callable[[], Page], *, follows: bool) -> LivePage:
        """The page as of this state. follows: who has seen it before can do with a slightly older one."""
        tag = hashlib.sha256(repr((shows, state)).encode()).hexdigest()[:24]
        known = self._known(shows)
        if known is not None and (known.tag == tag or (follows and known.is_new_enough)):
            return known
        with self._turn(shows):
            known = self._known(shows)
            if known is not None and known.tag == tag:  # somebody made it while this waited
                return known
            begun = time.monotonic()
            page = make()
            made = LivePage(page, tag, time.monotonic(), time.monotonic() - begun)
            self._keep(shows, made)
            return made

    def _known(self, shows: Hashable) -> LivePage | None:
        with self.lock:
            return self.pages.get(shows)

    def _turn(self, shows: Hashable) -> threading.Lock:
        with self.lock:
            return self.making.setdefault(shows, threading.Lock())

    def _keep(self, shows: Hashable, made: LivePage) -> None:
        with self.lock:
            self.pages[shows] = made
            self.pages.move_to_end(shows)
            while len(self.pages) > MOST:
                dropped, _ = self.pages.popitem(last=False)
                self.making.pop(dropped, None)
