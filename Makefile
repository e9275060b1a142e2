# Two commands do everything: `make` computes all results, `make test` runs the tests. Both first
# make the environment in .venv if it is not there. Arguments for what runs below go into ARGS:
# `make ARGS=--dry-run`, `make test ARGS="-k mvg"`. Another Python: `make PYTHON=python3.12`.
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

.PHONY: all quick page docs verify reference figures test mutants faults bench lint slurm clean
.PHONY: help setup article

all: setup ## compute every table, figure and the report
	@$(alone); exec $(BIN)/snakemake $(ARGS)

quick: setup ## the same with few trials: minutes, to see that everything works
	@$(alone); exec $(BIN)/snakemake $(ARGS) --configfile config.yaml workflow/config/quick.yaml

page: setup ## the page on the kept results, without a run: results/page.html, in seconds
	@$(BIN)/python -m reproduction report $(ARGS)

article: setup ## the article of the last run, or of the kept results: results/article.pdf, in seconds
	@$(BIN)/python -m reproduction article $(ARGS)

docs: setup ## the page on what `import matrixdp` gives: results/api/index.html
	@$(BIN)/python docs/api.py $(ARGS)

verify: all ## run, then compare with the kept results of a full run on the original data
	@$(BIN)/python -m reproduction verify

reference: quick ## run quickly and in full, and keep the results in results/reference
	@$(BIN)/python -m reproduction keep --quick
	@$(alone); exec $(BIN)/snakemake $(ARGS)
	@$(BIN)/python -m reproduction keep

figures: setup ## draw the kept results' figures again and compare them, byte for byte
	@$(BIN)/python -m reproduction figure $(ARGS)

test: setup ## run the tests
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

faults: setup ## inject many faults: downloads, configurations, kills (a quarter of an hour)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --long \
	    tests/reproduction/faults tests/matrixdp/release/test_black_box.py \
	    tests/reproduction/auditing/test_searches.py \
	    tests/matrixdp/auditing/test_composed_parts.py tests/matrixdp/auditing/test_request_searches.py \
	    tests/matrixdp/release/test_private_count.py tests/matrixdp/release/test_people.py \
	    tests/matrixdp/release/test_data_sets.py tests/reproduction/release/test_experiment.py \
	    tests/reproduction/workflow/test_my_matrix.py tests/matrixdp/mechanisms \
	    tests/reproduction/mechanisms tests/matrixdp/privacy tests/reproduction/privacy $(ARGS)

mutants: setup ## inject errors one at a time and see whether the tests notice them (an hour)
	@$(BIN)/python tests/mutants/mutate.py $(ARGS)

bench: setup ## measure speed
	@code=0; for file in benchmarks/*.py; do $(BIN)/python $$file $(ARGS) || code=1; done; exit $$code

lint: ## check style, types and the workflow's form
	@.ci/run lint

slurm: setup ## add to .venv what `snakemake --workflow-profile profiles/slurm` needs
	@$(INSTALL) 'snakemake-executor-plugin-slurm>=2.8,<3'

clean: setup ## delete the results of the present configuration, and nothing else
	@$(alone); $(BIN)/snakemake --quiet all --delete-all-output $(ARGS)

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /make \1: /p' Makefile

# The set-up. A .venv without our stamp belongs to somebody else: it is filled, never wiped.
INSTALL = $(if $(UV),uv pip install --quiet --compile-bytecode --python $(BIN)/python,$(BIN)/python -m pip install -qq)
STAMP := .venv/matrixdp.stamp

setup:
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
# kill. Snakemake's own locks then stay behind: they go unless a snakemake without `make` is at work.
define alone
mkdir -p .snakemake && exec 9>>.snakemake/make.lock || exit 1; \
if command -v flock >/dev/null && [ -d /proc/self ]; then \
    flock -n 9 || { \
        echo "Another make is at work in $(CURDIR): wait until it ends, or stop it." >&2; exit 1; }; \
    for process in /proc/[0-9]*; do \
        if [ $$process/cwd -ef . ] && grep -qsz '\(^\|/\)snakemake$$' $$process/cmdline; then \
            echo "A snakemake (process $${process#/proc/}) is at work here: wait for it." >&2; exit 1; \
        fi; \
    done; \
    rm -rf .snakemake/locks; \
fi
endef
