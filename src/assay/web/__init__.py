"""The workbench: pages where people compare runs and judge documents. URL → store → result → page or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.web.app import workbench
    from assay.web.serving import serve
    from assay.web.site import write_site

_HOMES = {"serve": "serving", "workbench": "app", "write_site": "site"}
__all__ = ["serve", "workbench", "write_site"]
__getattr__ = loader(__name__, _HOMES)
