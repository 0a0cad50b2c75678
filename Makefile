# Orcha: `make help` lists what can be done. Everything runs from .venv, which is made when it is missing.
PYTHON ?= python3
SHELL := /bin/bash
export PYTHON

.DEFAULT_GOAL := help
.PHONY: help demo up test bench check lint format lock clean

help: ## This list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

demo: .venv/runtime ## Sample documents become data, on real parts, before your eyes; CLOUD=simulated asks Document AI and Claude
	@.venv/bin/orcha demo $(if $(CLOUD),--cloud $(CLOUD))

up: .venv/runtime ## Everything in the foreground, with the Dagster UI; Ctrl-C stops it
	@exec .venv/bin/orcha up

test: .venv/dev ## Every check and every test
	@scripts/check
	@scripts/test

bench: .venv/runtime ## What Orcha costs, measured here; ARGS="--quick --only own-cost" for less
	@scripts/bench $(ARGS)

check: .venv/dev ## Format, lint, types and layers
	@scripts/check

lint: .venv/dev ## Lint only
	@.venv/bin/ruff check .

format: .venv/dev ## Put the code into its form
	@.venv/bin/ruff format . && .venv/bin/ruff check --fix .

lock: ## Resolve the dependencies again
	@scripts/lock

clean: ## Remove .venv; the data in .orcha stays
	@rm -rf .venv

.venv/runtime: requirements.lock pyproject.toml
	@[ -e .venv/dev ] && [ .venv/dev -nt requirements.lock ] || scripts/install requirements.lock
	@touch $@

.venv/dev: requirements-dev.lock requirements.lock pyproject.toml
	@scripts/install requirements-dev.lock
	@touch .venv/runtime $@
