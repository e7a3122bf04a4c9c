# Every target does its own set-up (tools/setup.py installs only what is missing) and is quick to run again.
# The parts behind test, lint and prove are listed in tools/*.toml.
.PHONY: help test lint clean

help:
	@echo 'make test       every test, at most 20 minutes from clean on 2 cores'
	@echo 'make lint       formatting, lints, stale generated files'
	@echo 'make clean      remove everything that was built'

test:
	@python3 tools/setup.py venv
	@python3 tools/run_parts.py tools/test.toml

lint:
	@python3 tools/setup.py venv
	@python3 tools/run_parts.py tools/lint.toml

clean:
	rm -rf target .venv .ruff_cache .pytest_cache
