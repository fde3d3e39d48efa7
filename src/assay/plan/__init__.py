"""How many topics, how deep, and is a collection big enough?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.plan.audits import audit
    from assay.plan.depths import depth
    from assay.plan.powers import power, power_curve
    from assay.plan.sequential import Experiment, next_step
    from assay.plan.stopping import stopping_bias
    from assay.plan.topic_sizes import sizes
    from assay.plan.trials import trial
    from assay.stats.t_power import TTest

_HOMES = {
    "Experiment": "sequential",
    "TTest": "powers",
    "audit": "audits",
    "depth": "depths",
    "next_step": "sequential",
    "power": "powers",
    "power_curve": "powers",
    "sizes": "topic_sizes",
    "stopping_bias": "stopping",
    "trial": "trials",
}
__all__ = [
    "Experiment",
    "TTest",
    "audit",
    "depth",
    "next_step",
    "power",
    "power_curve",
    "sizes",
    "stopping_bias",
    "trial",
]
__getattr__ = loader(__name__, _HOMES)
