# Every target does its own set-up (tools/setup.py installs only what is missing) and is quick to run again.
# The parts behind test, lint and prove are listed in tools/*.toml.
.PHONY: help demo test lint prove bench bench-instructions firmware generate clean

help:
	@echo 'make demo       the lunch rush: three clients, one provider that falls over, and a report'
	@echo 'make test       every test, at most 20 minutes from clean on 2 cores'
	@echo 'make lint       formatting, lints, stale generated files'
	@echo 'make prove      the long proofs'
	@echo 'make bench      speed, with peers in the same run; make bench-instructions counts instead of timing'
	@echo 'make firmware   the vectors on microcontrollers in QEMU; flash and RAM of both primitives'
	@echo 'make generate   write everything that is generated from the declarations in core'
	@echo 'make clean      remove everything that was built'
	@echo
	@echo 'One part alone: tools/run_parts.py tools/test.toml "NAME"'

demo:
	@tools/setup.py venv npm debian:gcc debian:libc6-dev
	@.venv/bin/python demo/build.py
	@.venv/bin/python demo/run.py

test:
	@tools/setup.py venv debian:gcc debian:libc6-dev
	@tools/run_parts.py tools/test.toml

lint:
	@tools/setup.py venv debian:gcc debian:libc6-dev
	@tools/run_parts.py tools/lint.toml

prove:
	@tools/setup.py venv debian:gcc debian:libc6-dev
	@tools/run_parts.py tools/prove.toml

bench:
	@tools/setup.py npm debian:gcc debian:libc6-dev debian:python3-venv
	cargo bench -q -p seawall-benches --bench circuit_breaker --bench token_bucket -- \
		--warm-up-time 0.3 --measurement-time 1 --sample-size 20 --noplot --quiet
	@tools/bench_table.py
	python3 -m venv target/bench-venv
	target/bench-venv/bin/pip install -q --disable-pip-version-check -r python/requirements-bench.txt ./python
	target/bench-venv/bin/python python/benches/faces.py
	cd node && npm run --silent bench

bench-instructions:
	@tools/setup.py debian:gcc debian:libc6-dev debian:valgrind cargo:gungraun-runner@0.20.0
	cargo bench -p seawall-benches --bench instructions

firmware:
	@tools/setup.py venv debian:gcc debian:libc6-dev
	@ffi/firmware/run.py

generate:
	cargo run -q -p seawall-generate
	cargo run -q -p seawall-ffi --example header

clean:
	rm -rf target fuzz/target ffi/firmware/target node/node_modules demo/node_modules demo/out .venv .ruff_cache .pytest_cache
