package redis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/redis"
	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
)

// racerVariable holds the location of the store for a process that takes part in the race.
const racerVariable = "AQL_REDIS_RACER"

// lastPlace is the claim of a round: all three places of a counter are taken but one when it begins.
func lastPlace(round int) []store.Claim {
	claim := store.Claim{Key: fmt.Sprintf("last/%d", round), N: 1, Limit: 3}
	if claim.Ends = time.UnixMilli(4_000_000_000_000); round%2 == 0 {
		claim.Ends, claim.Window = time.Time{}, time.Hour
	}
	return []store.Claim{claim}
}

// racer is what such a process does: for each round that it reads it changes an entry, takes the last place of a counter,
// and tells whether it could.
func racer(location string) error {
	s, err := redis.Open(context.Background(), location)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("ready")
	for {
		var round int
		var version store.Version
		if _, err := fmt.Scanln(&round, &version); err != nil {
			return nil // the race is over
		}
		if err := race(s, round, version); err != nil {
			return err
		}
	}
}

func race(s *redis.Store, round int, version store.Version) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	put, take := 1, 1
	if _, err := s.Put(ctx, fmt.Sprintf("one/%d", round), fmt.Append(nil, os.Getpid()), version, 0); errors.Is(err, store.ErrConflict) {
		put = 0
	} else if err != nil {
		return err
	}
	counts, err := s.Take(ctx, lastPlace(round))
	if err != nil {
		return err
	}
	if counts[0].Refused {
		take = 0
	}
	fmt.Println(put, take)
	return nil
}

// Of three processes that change one version, or take the last place of a counter, exactly one wins.
func TestOfThreeProcessesOneWins(t *testing.T) {
	slow(t)
	server := redistest.Start(t)
	s := open(t, server.Location())
	const processes, rounds = 3, 200
	var to [processes]io.Writer
	var from [processes]*bufio.Reader
	for i := range processes {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), racerVariable+"="+server.Location())
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		}()
		to[i], from[i] = in, bufio.NewReader(out)
		if line, err := from[i].ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("process %d: %q, %v", i, line, err)
		}
	}
	var winners [processes]int
	for round := range rounds {
		version, err := s.Put(t.Context(), fmt.Sprintf("one/%d", round), nil, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		claims := lastPlace(round)
		claims[0].N = 2
		if counts, err := s.Take(t.Context(), claims); err != nil || counts[0].Used != 2 {
			t.Fatalf("%+v, %v", counts, err)
		}
		for i := range processes {
			if _, err := fmt.Fprintln(to[(i+round)%processes], round, version); err != nil {
				t.Fatal(err)
			}
		}
		puts, takes := 0, 0
		for i := range processes {
			var put, take int
			if _, err := fmt.Fscanln(from[i], &put, &take); err != nil {
				t.Fatalf("process %d: %v", i, err)
			}
			puts, takes, winners[i] = puts+put, takes+take, winners[i]+put
		}
		if puts != 1 || takes != 1 {
			t.Errorf("round %d: %d changed the entry and %d took the last place", round, puts, takes)
		}
	}
	t.Logf("rounds that each process won: %v", winners)
}
