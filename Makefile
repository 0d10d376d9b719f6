# Thin: each recipe is a command that a person could type.
.DEFAULT_GOAL := help
.PHONY: help release release-files setup demo test test-build test-long soak relations kills lint lint-rust lint-python docs docs-rust generated clean bench bench-peers bench-live bench-guard audit fuzz fuzz-build flips validate-uml validate-ns2 validate-live validate-explicit validate-thesis validate-paths validate-objects validate-selftests validate-packetdrill bpf wheel wheels wheel-tools wheel-test validate-elastic validate-matrix develop check test-rust test-python test-live test-alone test-changed
SHELL := /bin/bash
PYTHON ?= python3
# Tests start hundreds of Pythons: compiling Longfat in each of them would take longer than what some of them do.
export PYTHONDONTWRITEBYTECODE :=
export PIP_DISABLE_PIP_VERSION_CHECK := 1
MINUTES ?= 10
BIN := .venv/bin
# The loader of kernel algorithms is compiled in where libbpf can be built
LOADER := $(shell pkg-config --exists libelf zlib 2>/dev/null && echo --features longfat-bpf-loader/loader)
# Wheels and benchmarks are built by a record of the usual ways through the core, where the compiler's own tool can read it.
PROFILE := $(if $(wildcard $(shell rustc --print sysroot 2>/dev/null)/lib/rustlib/*/bin/llvm-profdata),target/profile/core.profdata)
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml 2>/dev/null) Cargo.toml Cargo.lock

help:
	@echo "make setup   .venv with longfat in it; develop also what tests, lints and documents need"
	@echo "make demo    the quick form of the Li-Leith-Shorten experiments, report in out/demo"
	@echo "make check   formatting, lints, types and the tests of what has changed, two minutes; for daily work"
	@echo "make test    every test, and how long each part took; test-long those that take minutes"
	@echo "make soak MINUTES=10   random scenarios and killed sweeps; goes on where the last one ended"
	@echo "make relations MINUTES=10   random scenarios whose results a change has to leave alone, such as what is sampled"
	@echo "make kills KILLS=200   commands that are killed at random and run again"
	@echo "make lint    formatting, lints, types"
	@echo "make docs    the documentation as a site in out/docs; docs-rust the Rust crates' documentation"
	@echo "make generated   the schemas, the constructors, the generated text of pages and the README's figure again, after a change of a key, a registry or an option"
	@echo "make bench   what a packet and a run cost; bench-peers beside ns-2 and ns-3; bench-live what live runs carry; bench-guard instruction counts"
	@echo "make bpf     the algorithms for the Linux kernel, for live runs (needs clang and libbpf-dev)"
	@echo "make wheel   wheels of Longfat and of its papers, a bill of materials, and the source distribution, in dist/; wheel-test tries them"
	@echo "make wheels  the same, and wheels for older Linux on x86-64 and aarch64, for macOS and for Windows"
	@echo "make release VERSION=0.2.0   set the version, build and test the files of a release, commit and tag; DRY=1 prints the steps"
	@echo "make release-files   those files of this commit in dist/: wheels, source distribution, bill of materials, site, digests"
	@echo "make audit   licences, sources and known holes of what Longfat is built from, as far as that can be checked here"
	@echo "make fuzz MINUTES=10  hostile inputs, from where the last time ended; flips: 1000 changed bits in stored sweeps"
	@echo "make validate-uml   the Linux kernel's own modules beside Longfat, tables in docs/validation.md"
	@echo "make validate-ns2   ns-2's agents beside Longfat, table there too; its thesis figures (needs ns2)"
	@echo "make validate-paths stack = \"linux\" beside this machine's own TCP on 48 random paths, 25 minutes, table there too"
	@echo "make validate-objects, make validate-selftests  eBPF objects in the simulator and in the kernel, tables there"
	@echo "make validate-packetdrill SCRIPTS=DIR  the kernel's own scripts about a TCP sender against stack = \"linux\", table in docs/stacks/linux.md"
	@echo "make validate-explicit  XCP and others between this machine's own TCPs beside the simulator, half an hour, table there too"
	@echo "make validate-thesis    the thesis's experiments between this machine's own TCPs, more than an hour, table there too"
	@echo "make validate-elastic   the elastic drop probability of friendly beside the printed one, table in docs/models/friendly.md"
	@echo "make validate-matrix    every TCP algorithm on three stacks over 14 kinds of paths, minutes, validation/matrix/matrix.txt"
	@echo "make validate-live  this machine's own TCP beside Longfat, takes hours, tables in docs/validation-live.md"

setup: .venv/.core .venv/.papers

develop: setup .venv/.develop

# uv installs packages with a tenth of pip's work. It does not read pip's settings: where those name a mirror, pip does it.
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) || $(BIN)/python -m pip install --quiet $(1)

.venv/.requirements: requirements.lock
	@command -v cargo >/dev/null || { echo "cargo, which builds Longfat's core, is missing; install Rust: https://rustup.rs" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Longfat needs Python 3.11 or newer; $(PYTHON) is older or missing" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "python3-venv is missing; on Debian: apt install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r <(sed -n '/^uv==/,/[^\\]$$/p' requirements.lock)
	$(call INSTALL,--require-hashes -r requirements.lock)
	@touch $@

.venv/.develop: .venv/.requirements requirements-dev.lock
	$(call INSTALL,--require-hashes -r requirements.lock -r requirements-dev.lock)
	@touch $@

# Installers must not write into one environment at once: with `make --jobs` too they take turns.
ALONE := $(if $(filter-out setup demo,$(MAKECMDGOALS)),.venv/.develop)

# The profile is `dev`: Cargo.toml says what that leaves out.
.venv/.core: .venv/.requirements pyproject.toml $(RUST) | $(ALONE)
	PATH="$(abspath $(BIN)):$$PATH" PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --quiet $(if $(LOADER),--features loader)
	@touch $@

.venv/.papers: .venv/.requirements papers/pyproject.toml | .venv/.core
	$(call INSTALL,--no-deps --no-build-isolation -e papers)
	@touch $@

target/profile/core.profdata: $(RUST) benches/pgo.py | .venv/.requirements
	$(BIN)/python benches/pgo.py

demo: setup
	$(BIN)/longfat suite li2007 --quick --out out/demo

WORKERS ?= 2
DEFAULT := not wheel and not long
PYTEST := $(BIN)/python -m pytest
MARKED := $$(grep -lE 'mark\.(live|alone)\b' tests/python/*/test_*.py)
# Examples and the Python module have no tests, and each would compile both drivers; lint checks them.
CARGO_TEST := cargo test --workspace --exclude longfat-python $(LOADER) --quiet --lib --bins --tests

test:
	+@MAKE="$(MAKE)" tests/timed.sh develop test-build test-rust test-python test-live test-alone

test-build:
	$(CARGO_TEST) --no-run
	cargo build --profile test --quiet --package longfat-sim --example sender

test-rust:
	$(CARGO_TEST)

test-python: develop
	$(PYTEST) -n $(WORKERS) --dist worksteal -m "$(DEFAULT) and not live and not alone"

# Live runs mostly wait, and their threads have realtime priority: other live tests run beside them, and nothing else.
# One that has lost its processor to another all the same is judged by a run of its own.
LIVE_TESTS := -m "$(DEFAULT) and live and not alone" $(MARKED)
test-live: develop
	$(PYTEST) -n $(WORKERS) --dist worksteal $(LIVE_TESTS) || $(PYTEST) --last-failed $(LIVE_TESTS)

# Nothing runs beside tests that look at a clock or at other processes.
test-alone: develop
	$(PYTEST) -m "$(DEFAULT) and alone" $(MARKED)

check:
	+@MAKE="$(MAKE)" tests/timed.sh develop lint test-changed

test-changed: develop
	$(BIN)/python tests/changed.py --workers $(WORKERS) $(LOADER:--features%=--loader%)

test-long: develop
	$(BIN)/python -m pytest -m long

soak: develop
	$(BIN)/python tests/soak/soak.py --minutes $(MINUTES) --state tests/soak/totals.json

# Thousands of random scenarios, each with all changes that leave results as they are.
relations: develop
	$(BIN)/python tests/soak/soak.py --relations --minutes $(MINUTES) --folder out/relations

KILLS ?= 200
kills: develop
	$(BIN)/python tests/soak/kill.py --kills $(KILLS)

lint: lint-rust lint-python

# The second call of clippy reads the code that stands in for live runs off Linux.
lint-rust:
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy --workspace $(LOADER) --all-targets --quiet -- -D warnings
	cargo clippy --package longfat-python --no-default-features --quiet -- -D warnings

lint-python: .venv/.develop
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# Pictures of the gallery are kept in docs/_generated, the built site in out/docs.
docs: develop
	$(BIN)/sphinx-build -b html -a -E -W --keep-going -n -q docs out/docs

# The files in the repository that follow from the keys of scenarios, the registries and the commands.
generated: develop
	$(BIN)/longfat schema > schemas/scenario.json
	$(BIN)/python -c "from longfat import _core; print(_core.definition('constructors'), end='')" > python/longfat/scenario/tables.py
	$(BIN)/longfat schema --sweep > schemas/sweep.json
	$(BIN)/python docs/tables.py

docs-rust:
	cargo doc --workspace --no-deps

bench: develop $(PROFILE)
	$(BIN)/python benches/bench.py
	$(BIN)/python benches/steps.py
	$(BIN)/python benches/own.py
	cargo bench --quiet -p longfat-sim -p longfat-net -p longfat-transport -p longfat-wire \
	    --bench agenda --bench queue --bench scoreboard --bench real_packet

bench-peers: .venv/.requirements $(PROFILE)
	$(BIN)/python benches/peers/peers.py

bench-live: develop
	$(BIN)/python benches/live.py

bench-guard:
	$(PYTHON) benches/guard.py

# The algorithms for the kernel. Everything else builds without them, and without clang and libbpf-dev.
BPF_OBJECTS := $(patsubst bpf/%.c,bpf/out/%.o,$(wildcard bpf/lf_*.c))

bpf: $(BPF_OBJECTS)

bpf/out/%.o: bpf/%.c $(wildcard bpf/*.h)
	@command -v clang >/dev/null || { echo "clang, which compiles the kernel algorithms, is missing; on Debian: apt install clang libbpf-dev" >&2; exit 1; }
	@test -e /usr/include/bpf/bpf_helpers.h || { echo "bpf/bpf_helpers.h is missing; on Debian: apt install libbpf-dev" >&2; exit 1; }
	@mkdir -p bpf/out
	clang -target bpf -mcpu=v3 -O2 -g -Wall -Werror -Wno-unused-function -ffile-prefix-map=$(CURDIR)=. -c $< -o $@

# The target that builds the wheels of a release
WHEELS ?= wheel

# A wheel for any CPython from 3.11 on and any Linux with this machine's glibc or a newer one, and the source distribution.
# The kernel algorithms and the commit are put where pyproject.toml includes them from, and removed again.
wheel: .venv/.develop bpf $(PROFILE)
	@test -n "$(LOADER)" || { echo "the wheel needs libelf and zlib; on Debian: apt install pkg-config libelf-dev zlib1g-dev" >&2; exit 1; }
	rm -rf dist python/longfat/bpf
	mkdir -p python/longfat/bpf
	cp bpf/out/*.o python/longfat/bpf/
	if [ -e .git ]; then git describe --always --exclude='*' --abbrev=40 --dirty > COMMIT; fi
	$(BIN)/maturin sdist --out dist
	$(if $(PROFILE),RUSTFLAGS="-Cprofile-use=$(abspath $(PROFILE))" CARGO_TARGET_DIR=target/profile/core) \
	    LONGFAT_COMMIT="$$(cat COMMIT 2>/dev/null)" PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin build --release --locked --strip --quiet \
	    --interpreter $(abspath $(BIN))/python --features loader --auditwheel repair --out dist
	rm -rf python/longfat/bpf $$(test -e .git && echo COMMIT)
	$(BIN)/python supply/sbom.py dist/longfat-*.whl
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist ./papers
	@ls -l dist

# Built here for every platform. What that needs is checked before the long build of `wheel`.
wheels: wheel-tools wheel
	$(BIN)/python supply/wheels.py

wheel-tools: .venv/.develop
	$(BIN)/python supply/wheels.py --tools

wheel-test: $(WHEELS)
	$(BIN)/python -m pytest -m wheel tests/python/project/test_wheel.py

release-files: $(WHEELS) docs
	cd out && $(abspath $(BIN))/python -m zipfile -c $$(ls ../dist/longfat-*.tar.gz | sed 's/\.tar\.gz$$/-docs.zip/') docs/
	cp CITATION.cff dist/
	cd dist && sha256sum * > ../out/SHA256SUMS && mv ../out/SHA256SUMS .

release:
	@test -n "$(VERSION)" || { echo "VERSION=0.2.0 names the release" >&2; exit 2; }
	$(PYTHON) supply/release.py $(VERSION) --wheels $(WHEELS) $(if $(DRY),--dry-run)

audit:
	$(PYTHON) supply/audit.py

# The time is that of all targets together.

fuzz: develop
	$(BIN)/python fuzz/run.py $(MINUTES)

FUZZ ?= plan reader packet queue capacity capture ebpf
fuzz-build:
	$(PYTHON) fuzz/run.py 0 --only $(FUZZ)

flips: develop
	$(BIN)/python fuzz/flips.py 1000

validate-uml: develop
	$(BIN)/python validation/uml/compare.py --write

validate-ns2: develop
	$(BIN)/python benches/peers/agents.py --write
	$(BIN)/python benches/peers/thesis.py

# Finished live runs are kept in out/live and not repeated.
validate-live: develop bpf
	$(BIN)/python validation/live/matrix.py --write

validate-explicit: develop bpf
	$(BIN)/python validation/live/explicit.py --write

validate-thesis: develop bpf
	$(BIN)/longfat suite lopez2008 --backend live --out out/lopez2008-live
	$(BIN)/python validation/live/thesis.py --write

validate-elastic: develop
	$(BIN)/python validation/elastic.py --write

validate-matrix: develop
	$(BIN)/python validation/matrix/stack_matrix.py --write

validate-paths: develop
	$(BIN)/python validation/live/paths.py --write

# EVERY=1 runs all of them, which takes hours
EVERY ?= 3
validate-objects: develop bpf
	$(BIN)/python validation/live/matrix.py --objects --every $(EVERY) --write

validate-selftests: develop
	$(BIN)/python validation/live/selftests.py --write

# docs/stacks/linux.md says where the scripts come from. PACKETDRILL=PROGRAM has this machine's kernel run them too.
validate-packetdrill: develop
	@test -n "$(SCRIPTS)" || { echo "SCRIPTS=DIR names a folder with scripts: docs/stacks/linux.md" >&2; exit 2; }
	$(BIN)/python validation/packetdrill/scripts.py --scripts $(SCRIPTS) $(if $(PACKETDRILL),--packetdrill $(PACKETDRILL)) --write

clean:
	rm -rf .venv target out bpf/out dist docs/_generated
