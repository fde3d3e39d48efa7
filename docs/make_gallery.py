"""Make the figures of docs/gallery.md: run what the page shows on the collection of `assay demo`, keep the SVGs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent


def main() -> None:
    """Run the blocks of the page in a folder of their own; copy every figure that the page shows."""
    page = (DOCS / "gallery.md").read_text()
    shown = re.findall(r"\]\(gallery/([\w-]+\.svg)\)", page)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run("assay demo --folder demo --no-report --quiet")
        names: dict[str, object] = {}
        for language, block in re.findall(r"^```(python|text)\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
            if language == "python":
                exec(compile(block, "gallery.md", "exec"), names)
            else:
                run(block.strip())
        for name in shown:
            shutil.copy(name, DOCS / "gallery" / name)
            print(f"{name}: {Path(name).stat().st_size / 1000:.0f} kB")


def run(command: str) -> None:
    """A command of the page, its tables thrown away."""
    path = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    subprocess.run(["bash", "-c", f"{command} > tables.txt"], check=True, env={**os.environ, "PATH": path})


if __name__ == "__main__":
    main()
