# Two commands do everything: `make` computes all results, `make test` runs the tests. Both first
# make the environment in .venv if it is not there. Arguments for what runs below go into ARGS:
# `make ARGS=--dry-run`, `make test ARGS="-k mvg"`. Another Python: `make PYTHON=python3.12`.
# The words behind ## are what `make help` says, and a start without arguments.
PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null || true)
# What .venv depends on: the lock, the interpreter (the one beneath, where .venv is activated), the place.
export BASE := $(shell "$(PYTHON)" -c 'import sys; print(sys._base_executable)' 2>/dev/null || true)
export STATE := $(shell cksum <workflow/requirements.lock; "$(PYTHON)" -V 2>&1 || true) $(BASE) $(CURDIR)/src
export ARGS
# The library, and the study that uses it.
export PYTHONPATH := $(CURDIR)/src:$(CURDIR)/workflow
# What becomes of the host's variables, and why: see workflow/reproduction/environment.py.
unexport PYTHONDONTWRITEBYTECODE PIP_USER PIP_TARGET PIP_PREFIX PIP_CONSTRAINT PIP_NO_DEPS
unexport UV_CONSTRAINT UV_OVERRIDE
export HOME ?= $(CURDIR)/.snakemake
export USER ?= nobody

.PHONY: all quick mnist images verify reference kept-page kept-article check-figures docs test test-all
.PHONY: mutants bench lint slurm clean help setup page article figures

all: setup ## every table, figure and the report, in about half an hour on two idle cores
	@$(snakemake) $(ARGS)

quick: setup ## the same with few trials, to see that everything works, in about 3 minutes
	@$(snakemake) $(ARGS) --configfile workflow/config/quick.yaml

mnist: setup ## private gradients on MNIST and their claim, in results/mnist, in about half an hour
	@$(snakemake) mnist mnist_features claims $(ARGS) --configfile workflow/config/mnist.yaml

images: setup ## private features on CIFAR-10's pictures, in results/images, in about a quarter of an hour
	@$(snakemake) cifar10_features figure1 table1 $(ARGS) --configfile workflow/config/images.yaml

verify: setup ## compare the last run with the kept results of the same trials, cell by cell
	@$(BIN)/python -m reproduction verify $(ARGS)

reference: quick ## run quickly, on MNIST and in full, and keep the results in results/reference
	@$(BIN)/python -m reproduction save-reference --quick
	@$(snakemake) mnist mnist_features claims $(ARGS) --configfile workflow/config/mnist.yaml
	@$(snakemake) $(ARGS)
	@$(BIN)/python -m reproduction save-reference

kept-page: setup ## the page on the kept results, without a run: results/page.html, in seconds
	@$(BIN)/python -m reproduction report $(ARGS)

kept-article: setup ## the article of the kept results: results/kept/article.pdf, in seconds
	@$(BIN)/python -m reproduction article --out results/kept/article.pdf $(ARGS)

check-figures: setup ## draw the kept results' figures again and compare them, byte for byte
	@$(BIN)/python -m reproduction redraw $(ARGS)

docs: setup ## the page on what `import matrixdp` gives: results/api/index.html
	@$(BIN)/python docs/api.py $(ARGS)

test: setup ## run the tests of every day
	@$(tests) $(ARGS)

test-all: setup ## run all tests, whole workflows and searches too, and count intervals (two hours)
	@$(tests) --nightly $(ARGS)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/coverage.py
tests = OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

mutants: setup ## inject errors one at a time and see whether the tests notice them (hours)
	@$(BIN)/python tests/mutants/mutate.py $(ARGS)

bench: setup ## measure speed
	@code=0; for file in benchmarks/*.py; do $(BIN)/python $$file $(ARGS) || code=1; done; exit $$code

lint: ## check style, types and the workflow's form
	@.ci/run lint

slurm: setup ## add to .venv what `snakemake --workflow-profile profiles/slurm` needs
	@$(INSTALL) 'snakemake-executor-plugin-slurm>=2.8,<3'

clean: ## delete what the present configuration has made, logs too, and no file of yours
	@$(clean)

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1: /p' Makefile

# What `snakemake` means by these words is something else: a run's figures, page and article.
figures:
	@echo "Say \`make check-figures\`; \`snakemake figures\` draws those of a run." >&2; exit 2
page:
	@echo "Say \`make kept-page\`; \`snakemake report\` makes the page of a run." >&2; exit 2
article:
	@echo "Say \`make kept-article\`; \`snakemake article\` typesets that of a run." >&2; exit 2

# The set-up. A .venv without our stamp belongs to somebody else: it is filled, never wiped.
INSTALL = $(if $(UV),uv pip install --quiet --compile-bytecode --python $(BIN)/python,$(BIN)/python -m pip install -qq)
STAMP := .venv/matrixdp.stamp

setup: ## make .venv, or make it anew after a change of the lock, and nothing else
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "$(PYTHON) is missing or older than Python 3.11: install a newer one and name it, as" \
	        "in \`make PYTHON=python3.12\`." >&2; exit 1; }
	@[ "$$(cat $(STAMP) 2>/dev/null)" = "$$STATE" ] || { $(install); }

define install
[ -w . ] || { \
    echo "You may not write to $(CURDIR): make a clone of your own and start there." >&2; exit 1; }; \
[ ! -L .venv ] || { echo ".venv is a link: remove it and start again." >&2; exit 1; }; \
"$$BASE" -c 'import venv$(if $(UV),,, ensurepip)' 2>/dev/null || { \
    echo "$(PYTHON) cannot make environments: install what it lacks (on Debian and Ubuntu:" \
        "\`sudo apt install python3-venv\`) and start again." >&2; exit 1; }; \
echo "Setting up .venv with $(if $(UV),uv: half a minute,pip: up to two minutes) ..."; \
"$$BASE" -m venv $(if $(UV),--without-pip) $$([ ! -e $(STAMP) ] || echo --clear) .venv && \
touch $(STAMP) && $(INSTALL) --require-hashes -r workflow/requirements.lock && \
printf '#!/bin/sh\nexec "$${0%%/*}/python" -m matrixdp "$$@"\n' >$(BIN)/matrixdp && \
chmod +x $(BIN)/matrixdp && \
for library in .venv/lib/python3*/site-packages; do \
    printf '%s\n' "$(CURDIR)/src" "$(CURDIR)/workflow" >"$$library/matrixdp.pth"; \
done && echo "$$STATE" >$(STAMP) || { \
    echo "The set-up failed: check the network and the space on the disk, then start again." >&2; \
    exit 1; }
endef

# A run does not say of each job why, which takes a screen for the last ones; a dry run does.
QUIET = $(if $(filter -n --dry-run --dryrun,$(ARGS)),,--quiet host reason)
# Snakemake has its own lock, and says how to remove what a kill has left of it. Jobs together get no
# more memory than the machine or the container has.
MEMORY = $(shell { awk '/^MemTotal/ {print int($$2 / 1024)}' /proc/meminfo; \
    awk '$$1 + 0 > 0 {print int($$1 / 1048576)}' /sys/fs/cgroup/memory.max; } 2>/dev/null | \
    sort -n | head -n 1)
snakemake = $(if $(ARGS),,sed -n 's/^$@:.*## /make $@: /p' Makefile >&2;) exec $(BIN)/snakemake \
    $(if $(MEMORY),--resources mem_mb=$(MEMORY)) $(QUIET) --show-failed-logs

# Snakemake deletes outputs alone. Logs go by its own record of each output, benchmarks have their
# names, and the record goes last, so that what was interrupted can be done again.
define clean
[ -x $(BIN)/snakemake ] || { \
    echo "There is no .venv/bin/snakemake, which knows what a run has made: say \`make setup\`." >&2; \
    exit 1; }; \
made=$$($(BIN)/snakemake --quiet all --summary $(ARGS)) || exit 1; \
$(BIN)/snakemake --quiet all --delete-all-output $(ARGS) || exit 1; \
column() { echo "$$made" | awk -F '\t' "NR > 1 && \$$4 != \"-\" {print \$$$$1}" | sort -u; }; \
column 4 | sed 'p; s|/logs/\(.*\)\.log$$|/benchmarks/\1.tsv|' | while IFS= read -r file; do \
    rm -f "$$file"; rmdir -p "$${file%/*}" 2>/dev/null; \
done; \
[ -z "$$(column 1)" ] || column 1 | tr '\n' '\0' | \
    xargs -0 $(BIN)/snakemake --quiet all $(ARGS) --cleanup-metadata
endef
