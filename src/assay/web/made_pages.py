"""Pages that were made before: what rests on the same runs, judgments and choices is not computed again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from assay.web.rendering import Page

MOST = 64
"""Pages that are kept."""


@dataclass
class MadePages:
    """The pages that were asked for last, by what they rest on."""

    pages: OrderedDict[Hashable, Page] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def page(self, rests_on: Hashable, make: Callable[[], Page]) -> Page:
        """The page that rests on this, made now where it is not kept."""
        with self.lock:
            known = self.pages.get(rests_on)
            if known is not None:
                self.pages.move_to_end(rests_on)
                return known
        made = make()  # two who ask at the same time may both make it, which is better than to wait
        with self.lock:
            self.pages[rests_on] = made
            while len(self.pages) > MOST:
                self.pages.popitem(last=False)
        return made
