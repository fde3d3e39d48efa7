"""The addresses of the workbench, a file for each kind of page."""

from __future__ import annotations

from assay.web.routes import accounts, comparisons, judging, listings, run_pages, topic_pages, uploads

ROUTERS = (
    listings.router,
    run_pages.router,
    comparisons.router,
    topic_pages.router,
    judging.router,
    uploads.router,
    accounts.router,
)
