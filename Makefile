# Two commands do everything: `make` computes all results, `make test` runs the tests. Both first
# make the environment in .venv if it is not there. Arguments for what runs below go into ARGS:
# `make ARGS=--dry-run`, `make test ARGS="-k mvg"`. Another Python: `make PYTHON=python3.12`.
PYTHON ?= python3
ARGS ?=
BOOTSTRAP := $(PYTHON) workflow/bootstrap.py

.PHONY: all quick page docs verify reference figures test mutants faults bench lint slurm clean help

all: ## compute every table, figure and the report
	@$(BOOTSTRAP) run $(ARGS)

quick: ## the same with few trials: minutes, to see that everything works
	@$(BOOTSTRAP) run $(ARGS) --configfile config.yaml workflow/config/quick.yaml

page: ## the page on the kept results, without a run: results/page.html, in seconds
	@$(BOOTSTRAP) page $(ARGS)

docs: ## the page on what `import matrixdp` gives: results/api/index.html
	@$(BOOTSTRAP) docs

verify: ## run, then compare with the kept results of a full run on the original data
	@$(BOOTSTRAP) run $(ARGS)
	@$(BOOTSTRAP) verify

reference: ## run quickly and in full, and keep the results in results/reference
	@$(BOOTSTRAP) run $(ARGS) --configfile config.yaml workflow/config/quick.yaml
	@$(BOOTSTRAP) keep --quick
	@$(BOOTSTRAP) run $(ARGS)
	@$(BOOTSTRAP) keep

figures: ## draw the kept results' figures again and compare them, byte for byte
	@$(BOOTSTRAP) redraw $(ARGS)

test: ## run the tests
	@$(BOOTSTRAP) test $(ARGS)

faults: ## inject many faults: configurations, runs, kills (a quarter of an hour)
	@$(BOOTSTRAP) test tests/faults tests/practice/test_black_box.py --long $(ARGS)

mutants: ## inject errors one at a time and see whether the tests notice them (an hour)
	@$(BOOTSTRAP) mutants $(ARGS)

bench: ## measure speed
	@$(BOOTSTRAP) bench $(ARGS)

lint: ## check style, types and the workflow's form
	@.ci/run lint

slurm: ## add to .venv what `snakemake --workflow-profile profiles/slurm` needs
	@$(BOOTSTRAP) slurm

clean: ## delete what runs have made; kept are results/reference and .venv
	@$(BOOTSTRAP) clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /make \1: /p' Makefile
