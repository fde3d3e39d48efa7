"""All benchmarks, or those named: `make bench`, `make bench ONLY=score`.

Every row is a ratio that was measured in one run on one machine: how many times faster than the peer or the plain
reference named. Times by themselves say nothing and are not kept.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
if (found := importlib.util.find_spec("coverage")) is not None and found.origin is None:
    sys.modules["coverage"] = None  # type: ignore[assignment]  # numba would take the folder here for the program


def main() -> None:
    """Print the table of each benchmark asked for."""
    wanted = sys.argv[1:] or sorted(p.stem.removeprefix("bench_") for p in HERE.glob("bench_*.py"))
    for name in wanted:
        spec = importlib.util.spec_from_file_location(f"bench_{name}", HERE / f"bench_{name}.py")
        if spec is None or spec.loader is None or not (HERE / f"bench_{name}.py").exists():
            sys.exit(f"no benchmark {name!r}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # its dataclasses look themselves up there
        spec.loader.exec_module(module)
        print(f"\n{name}: {(module.__doc__ or '').strip().splitlines()[0]}")
        print(f"{'what':<62} {'asked':>8} {'seen':>8}  note")
        for what, asked, seen, note in module.rows():
            mark = "" if seen >= asked else "  << below"
            print(f"{what:<62} {asked:>7g}x {seen:>7.1f}x  {note}{mark}", flush=True)


if __name__ == "__main__":
    main()
