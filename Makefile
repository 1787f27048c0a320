# Two commands: `make run` sets everything up and runs the main job; `make test` sets everything up and passes the tests.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3.11
export CARGO_TERM_COLOR ?= auto
# Modules are compiled once, and not by each process that imports them: there are hundreds.
unexport PYTHONDONTWRITEBYTECODE
# The length of random campaigns (ci, long, or a factor such as 0.2 or 50) and their seed: TWINPLANE_CAMPAIGN=5 TWINPLANE_SEED=7 make test.
# What the tests must not miss on this machine, and fail without, is TWINPLANE_REQUIRE="root tshark ip"; else they say what they skip.

RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

.PHONY: run test test-long test-rust test-rust-most test-rust-units test-rust-threads test-python test-threads test-prefixes bench bench-paired build-report lint lint-rust lint-python docs format setup wheel clean fuzz fuzz-many test-lab-cycles generated check-generated

run: $(VENV)/.built
	$(BIN)/twinplane run lsp-flap --set family=1 --set size=512 --set n=100:900:100 --set scenario=ring

setup: $(VENV)/.built

# Python's tests are only compiled: else each process that runs them does that by itself.
COMPILE_PYTHON = $(BIN)/python -m pytest --collect-only -q >/dev/null
# Some tests of Rust wait more than they compute, and so the package and the tests of libraries are built while they run. Who
# builds keeps others from starting what is built, for a minute: so the tests begin first.
test:
	cargo test $(RUST_TESTED) --no-run
	(sleep 5; $(MAKE) $(VENV)/.testable && ($(COMPILE_PYTHON) & $(MAKE) test-rust-units; units=$$?; wait && exit $$units)) & built=$$!; $(MAKE) test-rust-most; tested=$$?; \
	    wait $$built && exit $$tested
	$(MAKE) test-rust-threads test-python

# By hand: every random campaign twenty times as long, and with another seed if one is given.
test-long:
	TWINPLANE_CAMPAIGN=long $(MAKE) test

# Examples are compiled by `make lint`, and linked by who runs them. Some tests wait, so there are three at once for each
# processor. What the tests of a crate's library compute is little beside what it takes to compile them: they are compiled
# without optimisation, which takes a fifth as long, and what they depend on with it.
RUST_TESTED := --workspace --exclude twinplane-py --quiet --bins --test '*'
# Those of the wire formats take longest to compile behind those of the control planes.
UNIT_TESTED := wire $(filter-out py wire,$(patsubst crates/%/src/lib.rs,%,$(wildcard crates/*/src/lib.rs)))
# Threads that work on one network wait for each other without sleeping: such tests take four times as long beside others.
THREADED := threads:: windows::
test-rust: test-rust-most test-rust-units test-rust-threads
test-rust-most test-rust-units: export RUST_TEST_THREADS ?= $(shell expr 3 \* $$(nproc))
# The tests of nodes wait for sockets and timers most of the time, so those of other crates run beside them.
test-rust-most:
	cargo test --package twinplane-node --quiet --bins --test '*' & waited=$$!; \
	    cargo test $(RUST_TESTED) --exclude twinplane-node -- $(addprefix --skip ,$(THREADED)); tested=$$?; \
	    wait $$waited && exit $$tested

# Those of the control planes compute for half a minute; the next ones are compiled meanwhile.
test-rust-units:
	units() { cargo test --quiet --package twinplane-$$1 --lib --config profile.dev.package.twinplane-$$1.opt-level=0; }; \
	units control & longest=$$!; failed=; \
	for crate in $(filter-out control,$(UNIT_TESTED)); do units $$crate || { failed=1; break; }; done; \
	wait $$longest && [ -z "$$failed" ]
	cargo test --workspace --exclude twinplane-py --quiet --doc

test-rust-threads:
	cargo test $(RUST_TESTED) -- $(THREADED)

# A million generated prefixes of ExaBGP come into a router and go out again: minutes, as root. It prints how long that took.
test-prefixes: $(VENV)/.installed
	TWINPLANE_CAMPAIGN=500 TWINPLANE_REQUIRE=root cargo test --package twinplane-node --test all prefixes_of_exabgp -- --nocapture

# By hand, after work on threads: their meetings in every order that the memory model allows, and the tests of threads with
# every access to memory watched by the compiler's thread sanitizer.
test-threads:
	cd interleavings && cargo test --release
	interleavings/sanitize.sh

# Tests wait half of their time, so there are more processes than processors. The tests of a file share one, in their order.
WORKERS ?= $(shell expr 3 \* $$(nproc))
test-python: $(VENV)/.testable
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# Up, kill -9 of a random process, down: so often, and nothing is left. Needs root.
LAB_CYCLES ?= 100
test-lab-cycles: $(VENV)/.built
	TWINPLANE_LAB_CYCLES=$(LAB_CYCLES) $(BIN)/python -m pytest tests/lab/test_lifecycle.py -k cycles

bench: $(VENV)/.built
	$(BIN)/python benches/run.py

# The working tree's speed beside an older revision's: exit code 1 if a row is below 0.97 of it. ROWS is a shell pattern.
BASE ?= e97eafa
PAIRS ?= 11
ROWS ?= *
bench-paired:
	$(PYTHON) benches/paired.py --base '$(BASE)' --pairs '$(PAIRS)' --rows '$(ROWS)'

# Time and size of a build from nothing, of these revisions side by side.
REVISIONS ?= HEAD
build-report: $(VENV)/.installed
	$(BIN)/python benches/build_report.py $(REVISIONS)

lint: lint-rust lint-python

# What clippy looks at: tests too, unless there is no time.
LINTED ?= --all-targets
lint-rust:
	cargo fmt --all --check
	cargo clippy --workspace $(LINTED) --quiet -- -D warnings

lint-python: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Every fuzz target for so many seconds: arbitrary bytes into the decoders and into the port of a live router.
FUZZ_SECONDS ?= 60
fuzz:
	fuzz/run.sh $(FUZZ_SECONDS)

# So many changed inputs to one target, counted; for `formats` to each of the formats.
TARGET ?= formats
COUNT ?= 1000000
fuzz-many:
	cd fuzz && cargo run --release --quiet --bin seeds -- corpus && cargo run --release --quiet --bin many -- corpus $(TARGET) $(COUNT)

format: $(VENV)/.installed
	cargo fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Files that are made from declarations, docstrings and runs. The tests check that each is what would be made.
generated: $(VENV)/.built
	$(BIN)/python docs/generated.py

check-generated: $(VENV)/.built
	$(BIN)/python docs/generated.py --check

docs: $(VENV)/.built
	$(BIN)/python docs/build.py

$(VENV)/.installed: requirements.txt tests/os_ken/requirements.txt
	$(PYTHON) -m venv $(VENV) 2>/dev/null || python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r tests/os_ken/requirements.txt
	touch $@

# The router is built as if beside the extension module: else other features of a shared crate (syn) build everything twice.
define install-built
	@echo "building ..."
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --profile $(1) $(2) --quiet
	cargo build --profile $(1) $(2) --quiet --package twinplane-py --package twinplane-router --bin twinplane-router
	install -m 755 "$${CARGO_TARGET_DIR:-target}/$(if $(filter dev,$(1)),debug,$(1))/twinplane-router" $(BIN)/
endef

$(VENV)/.built: $(VENV)/.installed $(RUST) pyproject.toml
	$(call install-built,release)
	touch $@

# What is built for use is tested if it is there; else what is built for tests of Rust, assertions included, which is no
# more than that: who uses it next builds for use.
$(VENV)/.testable: $(VENV)/.installed $(RUST) pyproject.toml
	$(MAKE) --question $(VENV)/.built || { rm -f $(VENV)/.built && $(MAKE) $(VENV)/.dev; }
	touch $@

.PHONY: $(VENV)/.dev
$(VENV)/.dev:
	$(call install-built,dev,--features twinplane-py/tested)

# A wheel for pip, with the program that runs a router in the package. PROFILE is cargo's: release, or dev for a quick look.
OUT ?= dist
PROFILE ?= release
WHEEL_BIN := python/twinplane/bin
wheel: $(VENV)/.installed
	cargo build --profile $(PROFILE) --quiet --package twinplane-router --bin twinplane-router
	trap 'rm -rf $(WHEEL_BIN)' EXIT && install -D -m 755 \
	    "$${CARGO_TARGET_DIR:-target}/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))/twinplane-router" $(WHEEL_BIN)/twinplane-router && \
	    VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin build --profile $(PROFILE) --quiet --out $(OUT)

clean:
	rm -rf target $(VENV)
