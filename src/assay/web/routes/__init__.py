"""The addresses of the workbench, a file for each kind of page."""

from __future__ import annotations

from assay.web.routes import (
    accounts,
    comparisons,
    crowd_pages,
    judging_pages,
    listings,
    run_pages,
    topic_pages,
    upload_pages,
)

ROUTERS = (
    listings.router,
    run_pages.router,
    comparisons.router,
    topic_pages.router,
    judging_pages.router,
    crowd_pages.router,
    upload_pages.router,
    accounts.router,
)
