"""The addresses of the workbench, a file for each kind of page."""

from __future__ import annotations

from assay.web.routes import (
    accounts,
    comparisons,
    crowd_pages,
    judging_pages,
    listings,
    run_pages,
    second_looks,
    sent_answers,
    topic_pages,
    upload_pages,
)

ROUTERS = (
    sent_answers.router,  # first, because addresses are tried in this order and judgments come most often
    judging_pages.router,
    listings.router,
    run_pages.router,
    comparisons.router,
    topic_pages.router,
    crowd_pages.router,
    second_looks.router,
    upload_pages.router,
    accounts.router,
)
