package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// sample is one run of a command.
type sample struct {
	wall, cpu time.Duration
	memory    int64 // bytes: the largest resident set of the process and of those it waited for
}

// command is what is measured, again and again.
type command struct {
	name    string
	prepare func() error // before each run, not measured
	dir     string
	args    []string
	env     []string
	samples []sample
}

// measure runs the commands in turn, so that what disturbs the machine disturbs all of them.
func measure(commands []*command, runs int) error {
	for range runs {
		for _, c := range commands {
			if c.prepare != nil {
				if err := c.prepare(); err != nil {
					return fmt.Errorf("preparing %s: %w", c.name, err)
				}
			}
			s, err := c.run()
			if err != nil {
				return err
			}
			c.samples = append(c.samples, s)
		}
	}
	return nil
}

func (c *command) run() (sample, error) {
	process := exec.Command(c.args[0], c.args[1:]...)
	process.Dir = c.dir
	process.Env = append(append(os.Environ(), "GOWORK=off"), c.env...)
	start := time.Now()
	out, err := process.CombinedOutput()
	wall := time.Since(start)
	if err != nil {
		return sample{}, fmt.Errorf("%s: %v: %w\n%s", c.name, c.args, err, out)
	}
	s := sample{wall: wall, cpu: process.ProcessState.UserTime() + process.ProcessState.SystemTime()}
	if usage, ok := process.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.memory = usage.Maxrss * 1024
	}
	return s, nil
}

// median returns the median of one figure of the samples.
func median[T time.Duration | int64](samples []sample, figure func(sample) T) T {
	if len(samples) == 0 {
		return 0
	}
	values := make([]T, len(samples))
	for i, s := range samples {
		values[i] = figure(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (c *command) wall() time.Duration {
	return median(c.samples, func(s sample) time.Duration { return s.wall })
}
func (c *command) cpu() time.Duration {
	return median(c.samples, func(s sample) time.Duration { return s.cpu })
}
func (c *command) memory() int64 { return median(c.samples, func(s sample) int64 { return s.memory }) }
