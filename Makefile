# make demo    generate, build and run the example adapter, and drive it with a real MCP client
# make console starts the example with its console in the browser, and an agent that asks for a deletion; it prints where
# make quick   the tests that take less than a minute
# make test    all tests but those of make slow
# make slow    tests that take minutes: mutation, bench/gen, processes that are killed, and all that -short leaves out
GO       ?= go
MODULES   = $(shell $(GO) list -m -f '{{.Dir}}')
PACKAGES  = $(MODULES:%=%/...)
FUZZTIME ?= 10s
# TESTFLAGS are flags of go test, such as -count=1 or -run TestGolden.
RUN       = $(GO) run ./test/run

.PHONY: demo console quick test slow mutants race stale generate check fmt vet lint deadcode e2e pages exports site conversations chaos fuzz bench bench-call bench-gen startup tokens sbom vuln ci

demo:
	$(GO) -C examples/todo generate ./...
	$(GO) -C examples/todo build -o $(CURDIR)/bin/todo .
	$(GO) -C examples/todo run ./demo -adapter $(CURDIR)/bin/todo

# console keeps the example's state, with your passphrase, in bin/console. CONSOLE is another address.
console:
	$(GO) -C examples/todo build -o $(CURDIR)/bin/todo .
	$(GO) -C examples/todo build -o $(CURDIR)/bin/todo-demo ./demo
	@mkdir -p bin/console
	@if [ -e bin/console/chosen ]; then \
		echo 'Log in with the passphrase that you have chosen before. For another one: rm -r bin/console'; \
	else \
		echo 'People log in to the console with a passphrase. Choose yours.' && \
		bin/todo operator passphrase -state bin/console/state.db && touch bin/console/chosen; \
	fi
	@bin/todo-demo -adapter bin/todo -dir bin/console -console $(or $(CONSOLE),127.0.0.1:9090)

# mutants tries every mutant of the code that answers queries of collections; make slow tries some, other ones each time.
mutants:
	$(GO) -C test test ./mutation -all -timeout 45m $(TESTFLAGS)

quick test slow:
	$(RUN) -tier $@ -- $(TESTFLAGS)

# race runs the tests in the race detector, those with many rounds with fewer. Not there: what takes its time by leases
# and pauses, whose code other tests run in the race detector by a clock of their own, and what counts the memory of a
# process.
UNRACED = SurviveFailures|TenThousandItems|LeftOfThousandVisits|HasToldIsToldAgain
race:
	$(RUN) -tier race -- -race $(TESTFLAGS)
	$(GO) test -race -short -timeout 45m -skip '$(UNRACED)' $(TESTFLAGS) \
		./examples/todo/... ./test/connection ./test/state/... ./test/zoo/...

# stale breaks what only programs see that tests start, and expects go test to notice.
stale:
	./.ci/stale

generate:
	$(GO) test ./tagparse -run TestDocumented -update
	$(GO) test ./cmd/aql-tag -run TestCommandsPage -update
	$(GO) -C test test ./house -run 'Test(Flags|Policy|Errors|Encoding)Page' -update
	$(GO) -C examples/todo generate ./...
	$(GO) -C examples/todo test ./todo -run TestExports -update
	$(GO) -C examples/tickets generate ./...
	$(GO) -C test test ./golden -run TestGolden -update
	$(GO) -C bench generate ./...
	$(GO) -C bench/wire generate ./...
	$(GO) -C test/adopted generate ./...
	$(GO) -C test/collections/databases generate ./...
	$(GO) -C test/zoo generate ./...
	$(GO) run ./cmd/aql-tag ./runtime/internal/notes ./test/clients/accounts ./test/clients/fixture ./test/state/chaos/fixture ./test/collections/parts ./test/collections/crates ./test/collections/orders ./test/collections/people ./test/collections/library ./test/collections/links ./test/collections/spellings ./test/collections/verbatim ./test/collections/releases/first ./test/collections/releases/second ./test/collections/merged/north ./test/collections/merged/south

check:
	$(GO) -C examples/todo tool aql-tag check ./...
	$(GO) -C examples/todo tool aql-tag lint ./...
	$(GO) -C examples/tickets tool aql-tag check ./...
	$(GO) -C examples/tickets tool aql-tag lint ./...
	$(GO) -C bench tool aql-tag check ./...
	$(GO) -C bench/wire tool aql-tag check ./...
	$(GO) -C test/adopted tool aql-tag check ./...
	$(GO) -C test/collections/databases tool aql-tag check ./items
	$(GO) -C test/zoo tool aql-tag check ./shapes
	$(GO) run ./cmd/aql-tag check ./runtime/internal/notes ./test/clients/accounts ./test/clients/fixture ./test/state/chaos/fixture ./test/collections/parts ./test/collections/crates ./test/collections/orders ./test/collections/people ./test/collections/library ./test/collections/links ./test/collections/spellings ./test/collections/verbatim ./test/collections/releases/first ./test/collections/releases/second ./test/collections/merged/north ./test/collections/merged/south

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go' | grep -v '^testdata/')); if [ -n "$$out" ]; then echo "not gofmt-ed:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet $(PACKAGES)

lint:
	@mkdir -p bin && GOWORK=off $(GO) build -C tools -o $(CURDIR)/bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@failed=; for m in $(MODULES); do echo "== lint $$m"; (cd $$m && $(CURDIR)/bin/golangci-lint run --allow-parallel-runners --config $(CURDIR)/.golangci.yml ./...) || failed="$$failed $$m"; done; [ -z "$$failed" ] || { echo "lint failed in$$failed"; exit 1; }

# deadcode lists functions that nothing calls, tests included. Not counted: examples without output, which are only
# compiled; gen.Exactly and gen.Elements, which only generated code calls; a handler that test/validator only has scanned;
# the types and the handler of test/zoo that the generator refuses.
NOTDEAD = unreachable func: (Example.*|Exactly|Elements|Check|(Cat|Dog).Legs|Refuse)$$
deadcode:
	@mkdir -p bin && GOWORK=off $(GO) build -C tools -o $(CURDIR)/bin/deadcode golang.org/x/tools/cmd/deadcode
	@all=$$(bin/deadcode -test $(PACKAGES)) || exit 1; out=$$(echo "$$all" | grep -vE '$(NOTDEAD)'); \
		if [ -n "$$out" ]; then echo "$$out"; exit 1; fi

e2e:
	./test/clients/run.sh
	./test/clients/conformance.sh
	./test/deploy/container.sh

exports:
	./test/clients/exports.sh

# site builds the documentation site from the README and docs/ into bin/artefacts/site, and checks its links. Needs node.
site:
	./site/build.sh

# pages does what the README and the pages in docs/ say, in fresh modules.
pages:
	$(GO) -C test test -count=1 ./pages

# conversations compares our server with a plain one of the SDK in 100,000 random conversations, half of them over HTTP; an
# hour of processor time. ROUNDS is half of their number, SEED the first.
conversations:
	$(GO) -C test test -count=1 -timeout 4h ./connection -conversations $(or $(ROUNDS),50000) -seed $(or $(SEED),1)

# chaos kills, freezes and cuts off processes that share their state, for FOR on each store, and holds all that they
# answered against what they did. SEED repeats a plan. As root it fills disks, too.
chaos:
	$(GO) -C test/state test -count=1 -timeout 0 ./chaos -run TestChaos -v -for $(or $(FOR),10m) -seed $(or $(SEED),0)

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

# bench-call measures what a call costs a server beside its peers, over stdio and HTTP. MEMORY=1 adds memory after a million
# calls; WRITE=1 writes the table into docs/performance.md. Without npm it goes without the TypeScript SDK. Needs Linux.
bench-call:
	$(GO) -C bench/wire run ./transport -packages $(CURDIR)/bin/bench-call $(if $(ROUNDS),-rounds $(ROUNDS)) \
		$(if $(BENCHTIME),-time $(BENCHTIME)) $(if $(MEMORY),-memory) $(if $(WRITE),-write $(CURDIR)/docs/performance.md)

# bench-gen measures the generator on modules of up to 5,000 operations; SIZES, RUNS and COMPILE bound it.
bench-gen:
	cd bench/gen && GOWORK=off $(GO) run . -sizes $(if $(SIZES),$(SIZES),10,100,1000,5000) -runs $(or $(RUNS),5) -compile $(or $(COMPILE),1000)

# startup prints how long the example takes to its first answer, and what memory it holds then; and what adapters of
# 1,000 and 10,000 operations cost until they have answered what an agent asks first, with targets.
startup:
	$(GO) -C examples/todo build -o $(CURDIR)/bin/todo .
	$(GO) -C bench run ./startup -adapter $(CURDIR)/bin/todo

tokens:
	$(GO) -C bench run ./tokens

# sbom writes bills of materials in CycloneDX: of the command as it is released, and of an adapter that uses the runtime
# alone. Both are compared with what the built programs say of themselves.
sbom:
	@mkdir -p bin && GOWORK=off $(GO) build -C tools -o $(CURDIR)/bin/cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/aql-tag ./cmd/aql-tag
	CGO_ENABLED=0 bin/cyclonedx-gomod app -json -std -noserial -main cmd/aql-tag -output bin/aql-tag.cdx.json .
	$(GO) -C test run ./sbom $(CURDIR)/bin/aql-tag.cdx.json $(CURDIR)/bin/aql-tag
	GOWORK=off CGO_ENABLED=0 $(GO) build -C test -trimpath -o $(CURDIR)/bin/adapter ./clients/fixture
	GOWORK=off CGO_ENABLED=0 bin/cyclonedx-gomod app -json -std -noserial -main clients/fixture -output bin/adapter.cdx.json test
	$(GO) -C test run ./sbom $(CURDIR)/bin/adapter.cdx.json $(CURDIR)/bin/adapter

# vuln looks for known vulnerabilities in what is released. What it finds fails; a database out of reach does not.
vuln:
	@mkdir -p bin && GOWORK=off $(GO) build -C tools -o $(CURDIR)/bin/govulncheck golang.org/x/vuln/cmd/govulncheck
	./.ci/vuln

# ci takes no test result from the cache.
ci: export TESTFLAGS = -count=1
ci: fmt vet lint deadcode sbom vuln
	$(MAKE) race slow stale
	$(MAKE) check e2e exports site
	$(MAKE) demo tokens startup
	$(MAKE) bench COUNT=1 ROUNDS=1 BENCHTIME=20ms
	$(GO) -C test/state test -short -run '^$$' -bench Fleet -benchtime 1x .
	$(MAKE) bench-call ROUNDS=1 BENCHTIME=20ms
	$(MAKE) bench-gen SIZES=10,100 RUNS=1 COMPILE=100
	$(MAKE) fuzz FUZZTIME=3000x
