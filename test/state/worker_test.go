package state

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/quota"
)

func runWorker(work string, args []string) error {
	switch work {
	case "race":
		return race(args[0])
	case "execute":
		return execute(args[0], args[1], newExecutionEngine)
	case "hang":
		return execute(args[0], args[1], newHangingEngine)
	case "together":
		return together(args[0], args[1])
	case "measure":
		return execute(args[0], args[1], newMeasuredEngine)
	case "answer":
		return answerExecutions(args[0], args[1])
	case "cycle":
		return cycle(args[0], args[1], args[2], args[3])
	case "approvals":
		return approvals(args[0])
	case "guard":
		return guard(args[0])
	case "service":
		return service()
	case "console":
		return showConsole(args[0])
	case "tell":
		return tell(args[0], args[1])
	default:
		return fmt.Errorf("no such work: %s", work)
	}
}

// raceQuota lets each caller make one call a day.
var raceQuota = quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, HardStop: 1}}}

// race is an adapter on shared state that does what its input says, with many goroutines at once, and tells how many of
// them got through:
//
//	delete CALLER TOKEN N
//	get CALLER N
func race(location string) error {
	ctx := context.Background()
	state, err := openStore(ctx, location)
	if err != nil {
		return err
	}
	defer state.Close()
	var ran atomic.Int32
	adapter, err := newAdapter(aql.Options{State: state, StateTimeout: patience, Quota: raceQuota},
		func(string) { ran.Add(1) })
	if err != nil {
		return err
	}
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var what, caller, token string
		var n int
		if _, err := fmt.Sscan(in.Text(), &what, &caller, &token, &n); err != nil {
			return fmt.Errorf("%q: %w", in.Text(), err)
		}
		var wg sync.WaitGroup
		var unexpected atomic.Value
		before := ran.Load()
		for range n {
			wg.Go(func() {
				session := adapter.NewSession()
				defer session.Close()
				var a answer
				var err error
				if what == "get" {
					a, err = call(ctx, session, caller, "mcp_aql_read", "get_thing", "x", "")
				} else {
					a, err = remove(ctx, session, caller, "x", token)
				}
				switch a.Error.Code {
				case "", "TOKEN_ALREADY_USED", "RATE_LIMIT_QUOTA_EXHAUSTED":
				default:
					unexpected.Store(a.Error.Code + " " + a.Error.Message)
				}
				if err != nil {
					unexpected.Store(err.Error())
				}
			})
		}
		wg.Wait()
		if u := unexpected.Load(); u != nil {
			return errors.New(u.(string))
		}
		fmt.Println(ran.Load() - before)
	}
	return in.Err()
}

// cycle is an adapter that asks for confirmation, confirms and runs, again and again, until it is killed. What it did
// is on its standard output, in a file that handlers write, and in its audit log.
func cycle(location, executions, auditFile, prefix string) error {
	ctx := context.Background()
	state, err := openStore(ctx, location)
	if err != nil {
		return err
	}
	executed, err := os.OpenFile(executions, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	file, err := audit.OpenFile(ctx, auditFile, audit.FileOptions{})
	if err != nil {
		return err
	}
	log := audit.New(audit.Options{Sinks: []audit.Sink{file}, Wait: true})
	adapter, err := newAdapter(aql.Options{
		State: state, StateTimeout: patience, Audit: log,
		Confirmation: aql.Confirmation{Lifetime: 15 * time.Minute}, // the tokens are judged when all are killed
	}, func(id string) {
		if _, err := io.WriteString(executed, id+"\n"); err != nil {
			panic(err)
		}
	})
	if err != nil {
		return err
	}
	session := adapter.NewSession()
	for i := 0; ; i++ {
		id := fmt.Sprintf("%s-%d", prefix, i)
		asked, err := remove(ctx, session, "ann", id, "")
		if err != nil {
			return err
		}
		token := asked.Error.Details.Token
		if token == "" {
			return fmt.Errorf("%+v", asked)
		}
		fmt.Println("asked", id, token)
		confirmed, err := remove(ctx, session, "ann", id, token)
		if err != nil {
			return err
		}
		if !confirmed.Success {
			return fmt.Errorf("%+v", confirmed)
		}
		fmt.Println("done", id)
	}
}

// process is a worker seen from outside.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t testing.TB, work string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0], args...)}
	p.Env = append(os.Environ(), workerVariable+"="+work)
	p.Stderr = os.Stderr
	var err error
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// line reads the next line of a worker's output.
func (p *process) line(t testing.TB) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatalf("a worker ended: %v", errors.Join(p.out.Err(), p.Wait()))
	}
	return p.out.Text()
}

// soon waits for a condition.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for reported := time.Now(); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Since(reported) > patience {
			t.Logf("still waiting: %s", what)
			reported = time.Now()
		}
	}
}
