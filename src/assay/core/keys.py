"""What a column is called by programs: ASCII keys that do not change when a heading is reworded."""

from __future__ import annotations

import re
import unicodedata

GLOSSARY = {
    "Δ": "delta", "τ": "tau", "σ": "sigma", "α": "alpha", "η": "eta", "ω": "omega", "κ": "kappa", "ρ": "rho",
    "φ": "phi", "Φ": "phi", "χ": "chi", "δ": "delta", "μ": "mu", "β": "beta", "λ": "lambda", "θ": "theta", "γ": "gamma",
    "ε": "epsilon", "π": "pi", "ν": "nu", "ψ": "psi", "²": "2", "₁": "1", "₂": "2", "%": "percent", "≥": "at_least",
    "≤": "at_most", "±": "plus_minus", "−": "minus", "#": "number", "<": "below", ">": "above",
}  # fmt: skip
"""What a sign in the name of a column is called in its key."""


def key_of(name: str) -> str:
    """The key of a column: its name in ASCII, in lower case, words joined by underscores.

    Names of measures keep their case and signs, as in scores.

    >>> key_of("Δ"), key_of("p corrected"), key_of("τ with AP"), key_of("nDCG@10"), key_of("95 % low")
    ('delta', 'p_corrected', 'tau_with_ap', 'nDCG@10', '95_percent_low')
    """
    if re.fullmatch(r"[!-~]*[A-Z@(][!-~]*", name):
        return name
    spelled = "".join(f" {GLOSSARY[c]} " if c in GLOSSARY else c for c in name)
    without_accents = unicodedata.normalize("NFKD", spelled)
    ascii_only = without_accents.encode("ascii", "ignore").decode()
    joined = re.sub(r"[^a-z0-9]+", "_", ascii_only.lower())
    return joined.strip("_") or "column"
