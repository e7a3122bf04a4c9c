# Every target does its own set-up (tools/setup.py installs only what is missing) and is quick to run again.
# The parts behind test, lint and prove are listed in tools/*.toml.
.PHONY: help demo test lint prove firmware generate clean

help:
	@echo 'make demo       the lunch rush: three clients, one provider that falls over, and a report'
	@echo 'make test       every test, at most 20 minutes from clean on 2 cores'
	@echo 'make lint       formatting, lints, stale generated files'
	@echo 'make prove      the long proofs'
	@echo 'make firmware   the vectors on microcontrollers in QEMU; flash and RAM of both primitives'
	@echo 'make generate   write everything that is generated from the declarations in core'
	@echo 'make clean      remove everything that was built'
	@echo
	@echo 'One part alone: tools/run_parts.py tools/test.toml "NAME"'

demo:
	@tools/setup.py venv npm debian:gcc
	@.venv/bin/python demo/build.py
	@.venv/bin/python demo/run.py

test:
	@tools/setup.py venv debian:gcc
	@tools/run_parts.py tools/test.toml

lint:
	@tools/setup.py venv debian:gcc
	@tools/run_parts.py tools/lint.toml

prove:
	@tools/setup.py venv debian:gcc
	@tools/run_parts.py tools/prove.toml

firmware:
	@tools/setup.py venv debian:gcc
	@ffi/firmware/run.py

generate:
	cargo run -q -p seawall-generate
	cargo run -q -p seawall-ffi --example header

clean:
	rm -rf target fuzz/target ffi/firmware/target node/node_modules demo/node_modules demo/out .venv .ruff_cache .pytest_cache
