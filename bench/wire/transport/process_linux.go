package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns what a process has used of the processors, all its threads together.
func cpuTime(pid int) (time.Duration, error) {
	var used unix.Timespec
	clock := int32(^pid<<3 | 2) // of another process: clock_getcpuclockid(3)
	if err := unix.ClockGettime(clock, &used); err != nil {
		return 0, fmt.Errorf("reading the processor time of process %d: %w", pid, err)
	}
	return time.Duration(used.Nano()), nil
}

// resident returns the bytes of a process that are in memory.
func resident(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			kibibytes, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			return kibibytes << 10, err
		}
	}
	return 0, fmt.Errorf("process %d has no resident memory", pid)
}
