# Two commands do everything: `make eval` grades the engine, `make test` checks
# the project. Both need only Go and a C compiler.

GO  ?= go
BIN := bin/touchstone
ORT := $(CURDIR)/.touchstone/ort

.PHONY: help eval test lint build corpus bench bench-metrics bench-packs bench-engine bless models ort

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the touchstone command into bin/
	@$(GO) build -o $(BIN) ./tools/touchstone

# The corpus of the godoc pack is the documentation of pinned modules. Without
# them the suite says COULD-NOT-MEASURE and this command; so a failed download
# does not stop the run.
corpus:
	@cd fixtures/godoc && $(GO) mod download || true

eval: build corpus ## the main job: run the suites, show the scorecard and the verdict
	@$(BIN) eval

test: lint corpus ## everything CI checks: vet, tests, race detector, the suites
	@scripts/test

lint: ## vet with and without the tag eval, gofmt
	@$(GO) vet ./...
	@$(GO) vet -tags eval ./...
	@test -z "$$(gofmt -l engine evaltests tools)" || { gofmt -l engine evaltests tools; echo 'gofmt: the files above are not formatted'; exit 1; }

bench: ## time the main job and the engine's parts
	@$(GO) test -tags eval -run '^$$' -bench . -benchtime 1x ./evaltests/suites ./engine/...

bench-metrics: ## time measures and resampling tests beside TREC_EVAL and BENCH_PYTHON: docs/metrics.md
	@$(GO) run ./evaltests/metric/trec/bench $(BENCH)

# With ONNX Runtime where `make ort` put it: without it the full model is not
# timed on this side.
bench-engine: ## time the engine on SciFact beside BENCH_PYTHON (bm25s, MiniLM): docs/engine.md
	@if [ -f "$(ORT)/stamp" ]; then \
		CGO_ENABLED=1 CGO_LDFLAGS="-L$(ORT)" TOUCHSTONE_ORT="$(ORT)" $(GO) run -tags ORT ./tools/benchengine; \
	else \
		$(GO) run ./tools/benchengine; \
	fi

bench-packs: ## stream a BEIR folder of 1,000,000 documents and 100,000 questions through loader and lock
	@$(GO) test -run '^$$' -bench ScanAndLock -benchtime 1x -timeout 60m ./evaltests/pack -documents 1000000 -questions 100000

bless: build ## make a run's rankings the golden: SUITE=.. RUN=.. REASON=..
	@$(BIN) golden accept "$(SUITE)" --run "$(RUN)" --reason "$(REASON)"

models: build ## fetch the full models of models.lock.json into .touchstone/models, or EVAL_MODELS
	@$(BIN) models get

ort: ## install ONNX Runtime into .touchstone/ort, for builds with the tag ORT
	@scripts/ort
