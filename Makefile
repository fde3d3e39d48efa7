# Everything a newcomer or a machine needs: make demo, make test.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
READY  := $(VENV)/.ready

.PHONY: demo test test-spark services check format docs reproduce bench coverage clean

# The demo needs the program, its charts and its pages, not what the tests need.
demo: $(READY)
	$(BIN)/assay demo --folder demo

test: $(STAMP) services check
	$(BIN)/pytest -n 2 --dist worksteal

# Pages are opened in a real browser and stores tried on a real PostgreSQL where they are installed; a machine of a build
# farm gets them if they can be had.
services:
	@if [ "$$CI" = true ] && ! (command -v chromium && ls /usr/lib/postgresql/*/bin/initdb) > /dev/null 2>&1; then \
	  (timeout 60 apt-get update -qq && timeout 150 apt-get install -y -qq chromium postgresql) > /dev/null 2>&1 || true; fi

# Spark is heavy and needs Java 17; its tests are run when they are asked for.
test-spark: $(STAMP)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[spark]"
	ASSAY_SPARK=1 $(BIN)/pytest tests/spark

check: $(STAMP)
	$(BIN)/ruff format --check src tests benchmarks coverage reproduction
	$(BIN)/ruff check src tests benchmarks coverage reproduction
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff format src tests benchmarks coverage reproduction
	$(BIN)/ruff check --fix src tests benchmarks coverage reproduction

docs: $(STAMP)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[docs]"
	$(BIN)/mkdocs build --strict

# The page of the literature's numbers; needs the public data in ASSAY_DATA and takes some minutes.
reproduce: $(STAMP)
	$(BIN)/python -m reproduction.page

# The peers of the benchmarks are heavy; they have an environment of their own. They come compiled, so the package is too.
bench:
	test -d .bench-venv || $(PYTHON) -m venv .bench-venv
	.bench-venv/bin/pip install --quiet --disable-pip-version-check --editable ".[test,bench]"
	.bench-venv/bin/python -m compileall -q src/assay
	.bench-venv/bin/python benchmarks/run.py $(ONLY)

# Every claim tried on data whose truth is known, and the page of it: about 90 minutes of CPU if nothing is stored yet.
coverage: $(STAMP)
	$(BIN)/python coverage/bench.py --rows "$(ROWS)" --only "$(ONLY)" $(ARGS)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[report,web]"
	touch $(READY)

$(STAMP): $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test]"
	touch $(STAMP)

clean:
	rm -rf $(VENV) .bench-venv demo site build dist
