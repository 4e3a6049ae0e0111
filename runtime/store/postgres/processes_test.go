//go:build unix

package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/postgres"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
)

// racerLocation has the test binary be one of the processes that race, at the location that it names.
const racerLocation = "AQL_TEST_RACER"

func TestMain(m *testing.M) {
	if location := os.Getenv(racerLocation); location != "" {
		if err := beRacer(location, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// beRacer reads the rounds of a race, and writes of each what it won: by changing a version, creating an entry, and
// taking the last place of a counter.
func beRacer(location string, rounds io.Reader, results io.Writer) error {
	s, err := postgres.Open(context.Background(), location)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintln(results, "ready")
	for {
		var round, version int
		if _, err := fmt.Fscan(rounds, &round, &version); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		var won [3]int
		var failures [3]error
		var wg sync.WaitGroup
		for i, try := range []func() error{
			func() error {
				_, err := s.Put(ctx, key(round), []byte("taken"), store.Version(version), time.Hour)
				return err
			},
			func() error { _, err := s.Put(ctx, key(round)+"/new", nil, 0, time.Hour); return err },
			func() error {
				counts, err := s.Take(ctx, lastPlace(round))
				if err == nil && (counts[0].Refused || counts[1].Refused) {
					return store.ErrConflict
				}
				return err
			},
		} {
			wg.Go(func() {
				if failures[i] = try(); failures[i] == nil {
					won[i] = 1
				} else if errors.Is(failures[i], store.ErrConflict) {
					failures[i] = nil
				}
			})
		}
		wg.Wait()
		cancel()
		if err := errors.Join(failures[:]...); err != nil {
			return err
		}
		fmt.Fprintln(results, won[0], won[1], won[2])
	}
}

func key(round int) string { return fmt.Sprint("race/", round) }

// lastPlace claims two counters, one of which has a single place; the other one's order differs between rounds.
func lastPlace(round int) []store.Claim {
	claims := []store.Claim{
		{Key: key(round), N: 1, Limit: 3, Window: time.Hour},
		{Key: "race", N: 1, Window: time.Hour},
	}
	if round%2 == 0 {
		claims[0], claims[1] = claims[1], claims[0]
	}
	return claims
}

// Replicas are processes of their own: of three that go for the same, one wins, each time (REQ-CT-09, REQ-CT-10).
func TestProcessesRace(t *testing.T) {
	slow(t)
	const processes, rounds = 3, 200
	server := postgrestest.Start(t)
	location := server.Location()
	s := open(t, location)
	var starts [processes]io.Writer
	var results [processes]*bufio.Reader
	for i := range processes {
		racer := exec.Command(os.Args[0]) // it ends when its input does
		racer.Env = append(os.Environ(), racerLocation+"="+location)
		racer.Stderr = os.Stderr
		in, err := racer.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := racer.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := racer.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			in.Close()
			if err := racer.Wait(); err != nil && !t.Failed() {
				t.Error(err)
			}
		})
		starts[i], results[i] = in, bufio.NewReader(out)
		if line, err := results[i].ReadString('\n'); line != "ready\n" {
			t.Fatalf("process %d: %q, %v", i, line, err)
		}
	}
	for round := range rounds {
		version := put(t, s, key(round), "free", 0, time.Hour)
		take(t, s, store.Claim{Key: key(round), N: 2, Limit: 3, Window: time.Hour})
		for _, start := range starts {
			fmt.Fprintln(start, round, version)
		}
		var won [3]int
		for i, result := range results {
			var got [3]int
			if _, err := fmt.Fscanln(result, &got[0], &got[1], &got[2]); err != nil {
				t.Fatalf("round %d, process %d: %v", round, i, err)
			}
			for i := range won {
				won[i] += got[i]
			}
		}
		if won != [3]int{1, 1, 1} {
			t.Fatalf("round %d: %d changed the entry, %d created it, %d had the last place", round, won[0], won[1], won[2])
		}
	}
	if used := take(t, s, store.Claim{Key: "race", Window: time.Hour})[0].Used; used != rounds {
		t.Errorf("%d places were taken, want %d", used, rounds)
	}
}
