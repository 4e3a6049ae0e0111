package river

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/aqltag/aqltag/runtime/execution"
)

const (
	// soon is how far off a job may be that is handed out at once and waits then: River's leader makes later ones ready,
	// and there may be none for a while.
	soon = 5 * time.Second
	// cooldown is the least time between two looks for jobs. It bounds how many short ones a process runs.
	cooldown = 20 * time.Millisecond
)

// job is what River has of an execution.
type job struct {
	Adapter   string    `json:"adapter"`
	Execution string    `json:"execution"`
	Due       time.Time `json:"due"`
}

// kind is the name of all jobs.
const kind = "aql_execution"

// Kind implements River's JobArgs.
func (job) Kind() string { return kind }

// Enqueue implements execution.Dispatcher.
func (s *Store) Enqueue(ctx context.Context, j execution.Job) (bool, error) {
	o := &queue.InsertOpts{
		Queue: queueName(j.Adapter), MaxAttempts: 1,
		UniqueOpts: queue.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateScheduled,
		}},
	}
	if time.Until(j.Due) > soon {
		o.ScheduledAt = j.Due
	}
	inserted, err := s.client.Insert(ctx, job{j.Adapter, j.Execution, j.Due.UTC().Round(0)}, o)
	if err != nil {
		return false, s.Failure(ctx, "queueing an execution with River", err)
	}
	return !inserted.UniqueSkippedAsDuplicate, nil
}

// Work implements execution.Dispatcher.
func (s *Store) Work(ctx context.Context, r execution.Receiver) error {
	workers := queue.NewWorkers()
	queue.AddWorker(workers, &worker{receive: r.Do})
	client, err := queue.NewClient(riverpgxv5.New(s.Pool()), &queue.Config{
		ID: r.Worker, Schema: s.Schema(), Workers: workers, JobTimeout: -1, MaxAttempts: 1,
		Queues:        map[string]queue.QueueConfig{queueName(r.Adapter): {MaxWorkers: r.Slots}},
		FetchCooldown: cooldown, FetchPollInterval: max(r.Poll, cooldown),
		PollOnly: s.deaf(), Logger: slog.New(warnings{r.Logger.Handler()}),
	})
	if err != nil {
		return fmt.Errorf("preparing River: %w", err)
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return s.Failure(ctx, "starting River", err)
	}
	<-ctx.Done()
	return s.Failure(ctx, "stopping River", client.Stop(context.WithoutCancel(ctx)))
}

// deaf reports whether the connections may be those of a pool that assigns them by transaction, where LISTEN has no
// effect.
func (s *Store) deaf() bool {
	mode := s.Pool().Config().ConnConfig.DefaultQueryExecMode
	return mode == pgx.QueryExecModeExec || mode == pgx.QueryExecModeSimpleProtocol
}

// worker carries out jobs.
type worker struct {
	queue.WorkerDefaults[job]
	receive func(execution.Job) time.Duration
}

// Timeout implements River's Worker: an attempt is bounded where it runs.
func (*worker) Timeout(*queue.Job[job]) time.Duration { return -1 }

// Work implements River's Worker.
func (w *worker) Work(_ context.Context, j *queue.Job[job]) error {
	again := w.receive(execution.Job{Adapter: j.Args.Adapter, Execution: j.Args.Execution, Due: j.Args.Due})
	if again == 0 {
		return nil
	}
	return queue.JobSnooze(again)
}

// statements are the SQL statements, with the name of the schema.
type statements struct{ held, drop string }

func newStatements(schema string) statements {
	in := func(text string) string { return strings.ReplaceAll(text, "SCHEMA", schema) } // it needs no quotes
	const holder = `attempted_by[array_upper(attempted_by, 1)]`
	return statements{
		held: in(`
			select id, args, coalesce(` + holder + `, '') from SCHEMA.river_job
			where state = 'running' and queue = $1::text and kind = $2::text`),
		drop: in(`
			update SCHEMA.river_job set state = 'discarded', finalized_at = now()
			where id = $1::bigint and state = 'running' and ` + holder + ` = $2::text`),
	}
}

// Held implements execution.Dispatcher.
func (s *Store) Held(ctx context.Context, adapter string) ([]execution.Held, error) {
	rows, err := s.Pool().Query(ctx, s.sql.held, queueName(adapter), kind)
	if err != nil {
		return nil, s.Failure(ctx, "listing the jobs of River", err)
	}
	held, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (execution.Held, error) {
		var id int64
		var j job
		var worker string
		err := row.Scan(&id, &j, &worker)
		return execution.Held{
			Job:    execution.Job{Adapter: j.Adapter, Execution: j.Execution, Due: j.Due},
			Worker: worker, Ref: strconv.FormatInt(id, 10),
		}, err
	})
	return held, s.Failure(ctx, "listing the jobs of River", err)
}

// Drop implements execution.Dispatcher.
func (s *Store) Drop(ctx context.Context, h execution.Held) error {
	id, err := strconv.ParseInt(h.Ref, 10, 64)
	if err != nil {
		return fmt.Errorf("dropping a job of River: %w", err)
	}
	_, err = s.Pool().Exec(ctx, s.sql.drop, id, h.Worker)
	return s.Failure(ctx, "dropping a job of River", err)
}

// longestQueue is how many bytes of an adapter's name the name of its queue has.
const longestQueue = 40

var plain = regexp.MustCompile(`^[a-z0-9]+([_-][a-z0-9]+)*$`)

// queueName returns the name of the queue of an adapter. Other adapters have other ones.
func queueName(adapter string) string {
	if plain.MatchString(adapter) && len(adapter) <= longestQueue {
		return "aql_" + adapter
	}
	readable := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(adapter), "-"), "-")
	digest := fnv.New128a()
	digest.Write([]byte(adapter))
	return fmt.Sprintf("aql_%s|%x", cmp.Or(strings.Trim(readable[:min(len(readable), 16)], "-"), "x"), digest.Sum(nil))
}

// warnings leaves out what River says that is no warning.
type warnings struct{ slog.Handler }

// Enabled implements slog.Handler.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
