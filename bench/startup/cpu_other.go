//go:build !unix

package main

import "time"

// cpuTime returns 0: what a process uses of the processors is measured on Unix only.
func cpuTime() time.Duration { return 0 }
