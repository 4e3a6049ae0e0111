package main

import (
	"fmt"
	"time"
)

// table prints the medians of commands.
func table(commands []*command) {
	fmt.Println("| command | wall ms | CPU ms | memory MB |\n|---|---|---|---|")
	for _, c := range commands {
		fmt.Printf("| %s | %.0f | %.0f | %.0f |\n", c.name, ms(c.wall()), ms(c.cpu()), float64(c.memory())/1e6)
	}
	fmt.Println()
}

// verdict prints a figure and whether it meets its target.
func verdict(what string, figure, target float64) {
	word := "met"
	if figure > target {
		word = "MISSED"
	}
	fmt.Printf("- %s: %.2f [≤ %g, %s]\n", what, figure, target, word)
}

func ratio(a, b *command) float64 { return float64(a.wall()) / float64(b.wall()) }

func cpuRatio(a, b *command) float64 { return float64(a.cpu()) / float64(b.cpu()) }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
