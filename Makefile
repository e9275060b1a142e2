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
# Containers set it; each of some two hundred jobs would then compile its code anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: all quick mnist images verify reference kept-page kept-article check-figures docs test test-all
.PHONY: mutants bench lint slurm clean help setup page article figures

all: setup ## every table, figure and the report, in about half an hour on two idle cores
	@$(snakemake) $(ARGS)

quick: setup ## the same with few trials, to see that everything works, in about 3 minutes
	@$(snakemake) $(ARGS) --configfile workflow/config/quick.yaml

mnist: setup ## private gradients on MNIST and their claim, in results/mnist, in about half an hour
	@$(snakemake) mnist mnist_features claims $(ARGS) --configfile workflow/config/mnist.yaml

images: setup ## private features on CIFAR-10's pictures, in results/images, in about half an hour
	@$(snakemake) cifar10_features figure1 table1 $(ARGS) --configfile workflow/config/images.yaml

verify: setup ## compare the last run with the kept results of the same trials, cell by cell
	@$(BIN)/python -m reproduction verify $(ARGS)

reference: quick ## run quickly, on MNIST and in full, and keep the results in results/reference
	@$(BIN)/python -m reproduction save-reference --quick
	@$(snakemake) mnist mnist_features claims $(ARGS) --configfile workflow/config/mnist.yaml && \
	    run $(ARGS)
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
	@[ "$$(cat $(STAMP) 2>/dev/null)" = "$$STATE" ] || { $(alone); $(install); }

define install
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

# One run at a time. The system frees this lock with the last process that holds it, also after a
# kill. A snakemake without `make` holds none.
define alone
mkdir -p .snakemake && exec 9>>.snakemake/make.lock || exit 1; \
if command -v flock >/dev/null; then \
    flock -n 9 || { \
        echo "Another make is at work in $(CURDIR): wait until it ends, or stop it." >&2; exit 1; }; \
fi; \
for process in /proc/[0-9]*; do \
    if [ $$process/cwd -ef . ] && grep -qsz '\(^\|/\)snakemake$$' $$process/cmdline; then \
        echo "A snakemake (process $${process#/proc/}) is at work here: wait for it." >&2; exit 1; \
    fi; \
done
endef

# What is killed with kill -9 leaves Snakemake's locks. Those of a `make` of this machine go: of the
# same host, since the same boot, with the same numbers of processes, and dead. Others may be of a live
# run on another node or in a container: they stay, and Snakemake says what to do. The mark lies beside
# the locks because Snakemake removes the folder at any other end, and so does `--unlock`.
MARK := .snakemake/locks/make
define unlock
boot=$$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || sysctl -n kern.bootsessionuuid 2>/dev/null); \
machine=$$(uname -n)/$$boot/$$(readlink /proc/self/ns/pid 2>/dev/null); \
locked() { ls .snakemake/locks/*.lock >/dev/null 2>&1; }; \
dead() { \
    if command -v flock >/dev/null; then return; fi; \
    command -v ps >/dev/null || return 1; \
    case $$(ps -o stat= -p "$$1" 2>/dev/null) in ''|Z*) ;; *) return 1;; esac; \
}; \
if read -r process place 2>/dev/null <$(MARK) && \
    [ "$${boot:+$$place}" = "$$machine" ] && dead "$$process"; then \
    rm -f .snakemake/locks/0.input.lock .snakemake/locks/0.output.lock $(MARK); \
fi
endef

# Snakemake with the arguments that follow; then `run` does it with others under the same lock. It is
# in the background because a shell cannot pass signals on to a program in front, and there Ctrl-C
# would be ignored. Only a run that finds no locks has the first ones, and is marked.
FOREGROUND = import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); \
    os.execv(sys.argv[1], sys.argv[1:])
# A run does not say of each job why, which takes a screen for the last ones; a dry run does.
QUIET = $(if $(filter -n --dry-run --dryrun,$(ARGS)),,--quiet host reason --show-failed-logs)
define snakemake
$(if $(ARGS),,sed -n 's/^$@:.*## /make $@: /p' Makefile >&2;) $(alone); $(unlock); \
run() { \
    $(BIN)/python -IS -c '$(FOREGROUND)' $(BIN)/snakemake $(QUIET) "$$@" & process=$$!; \
    mkdir -p .snakemake/locks; mark=; \
    [ -z "$$boot" ] || locked || { mark=$(MARK); echo "$$process $$machine" >$$mark; }; \
    trap : INT; trap "kill -TERM $$process" TERM; trap "kill -HUP $$process" HUP; \
    wait $$process; code=$$?; \
    while kill -0 $$process 2>/dev/null; do wait $$process; code=$$?; done; \
    trap - INT TERM HUP; \
    [ -z "$$mark" ] || { [ $$code -gt 128 ] && locked; } || rm -f $$mark; \
    return $$code; \
}; run
endef

# Snakemake deletes outputs alone. Logs go by its own record of each output, benchmarks have their
# names, and the record goes last, so that what was interrupted can be done again.
define clean
[ -x $(BIN)/snakemake ] || { \
    echo "There is no .venv/bin/snakemake, which knows what a run has made: say \`make setup\`." >&2; \
    exit 1; }; \
$(alone); $(unlock); \
if locked; then \
    echo "A snakemake on another machine is at work here, or was killed: stop it, or remove its locks" \
        "with \`.venv/bin/snakemake --unlock\`." >&2; exit 1; \
fi; \
made=$$($(BIN)/snakemake --quiet all --summary $(ARGS)) || exit 1; \
$(BIN)/snakemake --quiet all --delete-all-output $(ARGS) || exit 1; \
column() { echo "$$made" | awk -F '\t' "NR > 1 && \$$4 != \"-\" {print \$$$$1}" | sort -u; }; \
column 4 | sed 'p; s|/logs/\(.*\)\.log$$|/benchmarks/\1.tsv|' | while IFS= read -r file; do \
    rm -f "$$file"; rmdir -p "$${file%/*}" 2>/dev/null; \
done; \
[ -z "$$(column 1)" ] || column 1 | tr '\n' '\0' | \
    xargs -0 $(BIN)/snakemake --quiet all $(ARGS) --cleanup-metadata
endef
