# Two commands do everything: `make` computes all results, `make test` runs the tests. Both first
# make the environment in .venv if it is not there. Arguments for what runs below go into ARGS:
# `make ARGS=table4`, `make test ARGS="-k mvg"`. Another Python: `make PYTHON=python3.12`.
# The words behind ## are what `make help` says, and a start without arguments.
# Make before 4.3 takes a # inside of $(...) for a comment, so a variable has it there.
HELP := \#\#
PYTHON ?= python3
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null || true)
export ARGS
# The library, and the study that uses it.
export PYTHONPATH := $(CURDIR)/src:$(CURDIR)/workflow
# What becomes of the host's variables, and why: see workflow/reproduction/environment.py.
unexport PYTHONDONTWRITEBYTECODE PIP_USER PIP_TARGET PIP_PREFIX PIP_CONSTRAINT PIP_NO_DEPS
unexport UV_CONSTRAINT UV_OVERRIDE
# In a HOME that is none or cannot be written Snakemake keeps nothing.
ifneq ($(shell [ "$${HOME:-/}" != / ] && [ -w "$$HOME/." ] && echo yes),yes)
export HOME := $(CURDIR)/.snakemake
endif
export USER ?= nobody

# A run says in one line how far it is, and what is wrong (workflow/snakemake_logger_plugin_lines); a dry
# run all that Snakemake does.
DRY = $(filter -n --dry-run --dryrun,$(ARGS))
LINES = $(if $(DRY),,--logger lines --quiet host)
snakemake = $(if $(ARGS),,sed -n 's/^$@:.*$(HELP) /make $@: /p' Makefile >&2;) exec $(BIN)/snakemake \
    $(LINES) --show-failed-logs
# Targets with the settings of make's own target. Of two --configfile Snakemake heeds the last alone.
OVERLAY = workflow/config/$(subst -,_,$@).yaml
overlay_run = $(if $(filter --configfile%,$(ARGS)),$(call FAILS,make $@ has settings of its own; put \
    yours on top by \`make ARGS='$(strip $(1) --configfile $(OVERLAY)) YOURS.yaml'\`.),$(snakemake) \
    $(1) $(ARGS) --configfile $(OVERLAY))
tests = OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: all quick mnist images second-seed plan claim verify reference kept-page kept-article texts check-figures
.PHONY: docs test test-all mutants bench lint slurm clean help setup
all: setup ## every table, figure and the report, in 20 to 30 minutes on two idle cores
	@$(snakemake) $(ARGS)
quick: setup ## the same with few trials, to see that everything works, in 3 to 7 minutes
	@$(overlay_run)
mnist: setup ## private gradients on MNIST and their claim, in results/mnist, in about half an hour
	@$(call overlay_run,mnist mnist_features claims)
images: setup ## private features on CIFAR-10's pictures, in results/images, in about an hour
	@$(call overlay_run,cifar10_features figure1 table1)
second-seed: setup ## the verdicts with another root seed, in results/second_seed, in 20 to 30 minutes
	@$(call overlay_run,results/second_seed/claims.csv)
plan: setup ## what a run would do: each job that has a reason of its own, and why, all jobs by rule, and the time
	@$(BIN)/snakemake --logger lines --dry-run $(ARGS)
claim: setup ## one claim, judged on the trials of its own rows: make claim ID=M16, a minute without trainings
	@[ "$(ID)" ] || { echo "Say which claim, as in \`make claim ID=M16\`; results/reference/tables/claims.md has all." >&2; exit 2; }
	@grep -qx -e '- id: $(ID)' workflow/claims.yaml || { echo "There is no claim $(ID); \
	results/reference/tables/claims.md has all." >&2; exit 2; }
	@$(snakemake) .snakemake/claims/$(ID).txt $(ARGS)
	$(if $(DRY),,@cat .snakemake/claims/$(ID).txt)
verify: setup ## compare the last run with the kept results of the same trials, cell by cell
	@$(BIN)/python -m reproduction verify $(ARGS)
reference: quick ## run quickly, on MNIST, in full and with another seed, and keep it in results/reference
	@$(BIN)/python -m reproduction save-reference --quick
	@$(snakemake) mnist mnist_features claims $(ARGS) --configfile workflow/config/mnist.yaml
	@$(snakemake) $(ARGS)
	@$(BIN)/python -m reproduction save-reference
	@$(snakemake) results/second_seed/claims.csv $(ARGS) --configfile workflow/config/second_seed.yaml
	@$(BIN)/python -m reproduction save-reference --verdicts results/second_seed
	@$(BIN)/python -m reproduction texts
kept-page: setup ## the page on the kept results, without a run: results/page.html, in seconds
	@$(BIN)/python -m reproduction report $(ARGS)
kept-article: setup ## the article of the kept results: results/kept/article.pdf, in seconds
	@$(BIN)/python -m reproduction article --out results/kept/article.pdf $(ARGS)
texts: setup ## the sentences in README and docs/results.md again, with numbers of the kept results
	@$(BIN)/python -m reproduction texts $(ARGS)
check-figures: setup ## draw the kept results' figures again and compare them, byte for byte
	@$(BIN)/python -m reproduction redraw $(ARGS)
docs: setup ## the page on what `import matrixdp` gives: results/api/index.html
	@$(BIN)/python docs/api.py $(ARGS)
test: setup ## run the tests of every day
	@$(tests) $(ARGS)
test-all: setup ## run all tests, whole workflows and searches too, and count intervals (two hours)
	@$(tests) --nightly $(ARGS)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/coverage.py
mutants: setup ## inject errors one at a time and see whether the tests notice them (hours)
	@$(BIN)/python tests/mutants/mutate.py $(ARGS)
bench: setup ## run all benchmarks: of speed, and of errors, audits and intervals that docs/ shows
	@code=0; for file in benchmarks/*.py; do $(BIN)/python $$file $(ARGS) || code=1; done; exit $$code
lint: ## check style, types and the workflow's form
	@.ci/run lint
slurm: setup ## add to .venv what `snakemake --workflow-profile profiles/slurm` needs
	@$(INSTALL) 'snakemake-executor-plugin-slurm>=2.8,<3'
clean: ## delete what the present configuration has made, logs too, and no file of yours
	@[ -x $(BIN)/snakemake ] || { echo "There is no .venv/bin/snakemake: say \`make setup\`." >&2; exit 1; }
	@logs=$$($(BIN)/snakemake --quiet all --summary $(ARGS) | cut -f 4 | grep '/logs/' | sort -u); \
	$(BIN)/snakemake --quiet all --delete-all-output $(ARGS) || exit 1; \
	echo "$$logs" | sed 'p; s|/logs/\(.*\)\.log$$|/benchmarks/\1.tsv|p; s|/benchmarks/.*|/job_seconds.csv|' | \
	    while read -r file; do rm -f "$$file"; rmdir -p "$${file%/*}" 2>/dev/null; done; true
help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1: /p' Makefile

# The environment. Its stamp has a name by the place and the Python that it is made for. A .venv without
# any stamp belongs to somebody else: it is filled, never wiped. Of ours .venv/stamp goes last, so that
# one that is half deleted is deleted again, whatever of its packages seems to be there.
# Versions of what runs, on which results rest, and of what checks.
LOCKS = workflow/requirements.lock workflow/development.lock
INSTALL = $(if $(UV),uv pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install -qq)
STAMP := .venv/stamp.$(shell { pwd; "$(PYTHON)" -V; } 2>&1 | cksum | cut -d ' ' -f 1)
FAILS = { echo "$(1)" >&2; exit 1; }
# One set-up after another: an installer that a killed make leaves behind holds the lock to its end.
# Some disks have no locks.
ALONE = "$(PYTHON)" -c 'import fcntl, os, sys; file = os.open(sys.argv[1], os.O_RDONLY); \
    exec("try: fcntl.flock(file, fcntl.LOCK_EX)\nexcept OSError: pass"); os.set_inheritable(file, True); \
    os.execvp(sys.argv[2], sys.argv[2:])' $(firstword $(LOCKS))

setup: $(STAMP) ## make .venv, or make it anew after a change of a lock, and nothing else
$(STAMP): $(LOCKS)
ifndef IS_ALONE
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || $(call FAILS,$(PYTHON) \
	is missing or older than Python 3.11: install a newer one and say \`make PYTHON=python3.12\`.)
	@[ -w . ] || $(call FAILS,You may not write to $(CURDIR): make a clone of your own and start there.)
	@[ ! -L .venv ] || $(call FAILS,.venv is a link: remove it and start again.)
	@echo "Setting up .venv with $(if $(UV),uv: half a minute,pip: up to two minutes) ..."
	@$(ALONE) $(MAKE) --silent --no-print-directory IS_ALONE=1 $@
else
	@[ -e .venv ] || { mkdir .venv && touch .venv/stamp; }
	@base="$$("$(PYTHON)" -c 'import sys; print(sys._base_executable)')" && \
	if ls .venv/stamp* >/dev/null 2>&1; then touch .venv/stamp && rm -f .venv/stamp.* && \
	    find .venv -mindepth 1 -maxdepth 1 ! -name stamp -exec rm -rf {} +; fi && \
	"$$base" -m venv $(if $(UV),--without-pip) .venv && touch .venv/stamp
	@$(INSTALL) --require-hashes $(LOCKS:%=-r %) || \
	$(call FAILS,The set-up failed: check the network and the space on the disk and start again.)
	@printf '#!/bin/sh\nexec "$${0%%/*}/python" -m matrixdp "$$@"\n' >$(BIN)/matrixdp
	@chmod +x $(BIN)/matrixdp
	@for library in .venv/lib/python3*/site-packages; do \
	    printf '%s\n' "$(CURDIR)/src" "$(CURDIR)/workflow" >"$$library/matrixdp.pth"; done
	@touch $@
endif
