# make demo   generate, build and run the example adapter, and drive it with a real MCP client
# make test   all unit and integration tests
GO       ?= go
MODULES   = . runtime runtime/aqltest examples/todo bench bench/gen bench/wire aqlvet/golangci test test/adopted test/validator runtime/store/sqlite runtime/store/redis runtime/store/postgres test/state test/conform
# SHORTER is what does fewer rounds in the race detector, and all of them without it.
SHORTER   = examples/todo test/state
FUZZTIME ?= 10s

.PHONY: demo test race rounds generate check fmt vet lint e2e pages exports fuzz bench bench-gen startup tokens ci

demo:
	$(GO) -C examples/todo generate ./...
	$(GO) -C examples/todo build -o $(CURDIR)/bin/todo .
	$(GO) -C examples/todo run ./demo -adapter $(CURDIR)/bin/todo

test:
	@set -e; for m in $(MODULES); do echo "== go test $$m"; $(GO) -C $$m test $(TESTFLAGS) ./...; done

race:
	@set -e; for m in $(filter-out $(SHORTER),$(MODULES)); do echo "== go test -race $$m"; $(GO) -C $$m test -race $(TESTFLAGS) ./...; done
	@set -e; for m in $(SHORTER); do echo "== go test -race -short $$m"; $(GO) -C $$m test -race -short $(TESTFLAGS) ./...; done

# rounds runs those in full: random requests to the example; races for tokens and quotas in several processes on every store,
# adapters that are killed, and servers that go away.
rounds:
	@set -e; for m in $(SHORTER); do echo "== go test $$m"; $(GO) -C $$m test $(TESTFLAGS) ./...; done

generate:
	$(GO) -C examples/todo generate ./...
	$(GO) -C examples/todo test ./todo -run TestExports -update
	$(GO) -C test test ./golden -run TestGolden -update
	$(GO) -C bench generate ./...
	$(GO) -C bench/wire generate ./...
	$(GO) -C test/adopted generate ./...

check:
	$(GO) -C examples/todo tool aql-tag check ./...
	$(GO) -C examples/todo tool aql-tag lint ./...
	$(GO) -C bench tool aql-tag check ./...
	$(GO) -C bench/wire tool aql-tag check ./...
	$(GO) -C test/adopted tool aql-tag check ./...

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go' | grep -v '^testdata/')); if [ -n "$$out" ]; then echo "not gofmt-ed:"; echo "$$out"; exit 1; fi

vet:
	@set -e; for m in $(MODULES); do $(GO) -C $$m vet ./...; done

lint:
	@mkdir -p bin && GOWORK=off $(GO) build -C tools -o $(CURDIR)/bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@set -e; for m in $(MODULES); do echo "== lint $$m"; (cd $$m && $(CURDIR)/bin/golangci-lint run --allow-parallel-runners --config $(CURDIR)/.golangci.yml ./...); done

e2e:
	./test/clients/run.sh

exports:
	./test/clients/exports.sh

# pages does what the README and the pages in docs/ say, in fresh modules.
pages:
	$(GO) -C test test -count=1 ./pages

# fuzz runs every fuzz target for FUZZTIME: a duration, or a number of inputs such as 10000x.
fuzz:
	@set -e; for dir in $$(git ls-files '*_test.go' | xargs grep -l '^func Fuzz' | xargs -n1 dirname | sort -u); do \
		for target in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go | sed 's/func //' | sort -u); do \
			echo "== $$dir $$target"; $(GO) test -C $$dir -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x .; \
		done; done

# bench prints the table of the wire, then the benchmarks of calls. ROUNDS and BENCHTIME bound the table.
bench:
	$(GO) -C bench/wire run ./table $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(BENCHTIME),-time $(BENCHTIME))
	$(GO) -C bench test -run '^$$' -bench . -benchmem -count $(or $(COUNT),1) ./...

# bench-gen measures the generator on modules of up to 5,000 operations; SIZES, RUNS and COMPILE bound it.
bench-gen:
	cd bench/gen && GOWORK=off $(GO) run . -sizes $(if $(SIZES),$(SIZES),10,100,1000,5000) -runs $(or $(RUNS),5) -compile $(or $(COMPILE),1000)

# startup prints how long the example takes to its first answer, and what memory it holds then.
startup:
	$(GO) -C examples/todo build -o $(CURDIR)/bin/todo .
	$(GO) -C bench run ./startup -adapter $(CURDIR)/bin/todo

tokens:
	$(GO) -C bench run ./tokens

ci: fmt vet lint
	$(MAKE) race rounds
	$(MAKE) check e2e exports pages
	$(MAKE) demo tokens startup
	$(MAKE) bench COUNT=1 ROUNDS=1 BENCHTIME=20ms
	$(MAKE) bench-gen SIZES=10,100 RUNS=1 COMPILE=100
	$(MAKE) fuzz FUZZTIME=10000x
