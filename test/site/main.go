// Command site checks the documentation site that make site has built: that every link leads somewhere, that the pages
// ask no other host for anything, that the search and the first page have all others, and that pages have the headings
// and rows of the documents. In a browser, it looks whether pages are accessible, fit the screen, and are found.
//
//	site DIRECTORY REPOSITORY
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: site DIRECTORY REPOSITORY")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// run checks the site in a directory against the repository that it was built from.
func run(ctx context.Context, directory, repository string) error {
	s, err := read(os.DirFS(directory))
	if err != nil {
		return fmt.Errorf("reading %s: %w", directory, err)
	}
	seen, err := browse(ctx, directory, repository)
	if err != nil {
		return fmt.Errorf("opening %s in a browser: %w", directory, err)
	}
	faults := append(s.check(os.DirFS(repository)), seen...)
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, fault)
	}
	if len(faults) > 0 {
		return errors.New("the site is not as it should be")
	}
	links := 0
	for _, p := range s.pages {
		links += len(p.links)
	}
	fmt.Printf("  ok %d pages, %d links, no request to another host\n", len(s.pages), links)
	return nil
}
