"""What lasts: collections, runs, scores, published results, campaigns and judgments behind one database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.store.people import Person
    from assay.store.store import Store
    from assay.store.stored_runs import StoredRun

_HOMES = {
    "Person": "people",
    "Store": "store",
    "StoredRun": "stored_runs",
}
__all__ = ["Person", "Store", "StoredRun"]
__getattr__ = loader(__name__, _HOMES)
