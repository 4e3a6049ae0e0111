package toolhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

const (
	// startingFor is how long others wait at most for a process that starts an agent and does not say that it has.
	startingFor = 10 * time.Second
	// lookAgain is how often they look.
	lookAgain = 25 * time.Millisecond
)

// startAlone calls a function while no other process with the same state starts the agent. Clients have several tool
// uses judged at the same time: while one of them uses up the approval of the start and the agent does not run yet,
// another one would have a person asked for a start that is not needed.
func (a *asking) startAlone(start func() error) error {
	digest := sha256.Sum256([]byte(strings.ToLower(a.agent)))
	key := "hook/start/" + hex.EncodeToString(digest[:16])
	for {
		version, err := a.state.Put(a.ctx, key, nil, 0, startingFor)
		switch {
		case err == nil:
			err = start()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), startingFor)
			defer cancel()
			_ = a.state.Delete(ctx, key, version) // else it expires
			return err
		case !errors.Is(err, store.ErrConflict):
			return fmt.Errorf("waiting for who starts the agent: %w", err)
		}
		select {
		case <-a.ctx.Done():
			return fmt.Errorf("waiting for who starts the agent: %w", context.Cause(a.ctx))
		case <-time.After(lookAgain):
		}
	}
}
