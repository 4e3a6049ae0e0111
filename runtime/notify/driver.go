package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// Driver opens channels of one kind, which users name in a flag.
type Driver struct {
	// Name is the kind, as users write it: webhook in webhook=https://hooks.example.com/aql.
	Name string
	// Open opens the channel to a location, which is empty where the user has given none. keys are the secrets for
	// channels of this kind, the one to be used first.
	Open func(location string, keys [][]byte) (Channel, error)
}

// Teller is what a service offers its users: the value of serve.Options.Notify. The zero Teller offers no channel.
type Teller struct {
	Drivers []Driver
	// Again and PerHour are those of Options.
	Again   time.Duration
	PerHour int
}

// Open opens the channels that a text names, with commas between them: the name of a driver, and behind = a location.
// A location @FILE is what the first line of the file says, for addresses that are secret. keys has the secrets of each
// driver by its name.
func (t Teller) Open(text string, keys map[string][][]byte) ([]Channel, error) {
	for name := range keys {
		if _, err := t.driver(name); err != nil {
			return nil, err
		}
	}
	var channels []Channel
	for part := range strings.SplitSeq(text, ",") {
		name, location, _ := strings.Cut(strings.TrimSpace(part), "=")
		driver, err := t.driver(name)
		if err != nil {
			return nil, err
		}
		if path, ok := strings.CutPrefix(location, "@"); ok {
			if location, err = readLocation(path); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		channel, err := driver.Open(location, keys[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		channels = append(channels, channel)
	}
	return channels, nil
}

// driver returns the driver with a name.
func (t Teller) driver(name string) (Driver, error) {
	names := make([]string, len(t.Drivers))
	for i, driver := range t.Drivers {
		if driver.Name == name {
			return driver, nil
		}
		names[i] = driver.Name
	}
	slices.Sort(names)
	return Driver{}, fmt.Errorf("there is no channel %q: this service has %s", name, strings.Join(names, ", "))
}

// readLocation returns the first line of a file.
func readLocation(path string) (string, error) {
	const longest = 4 << 10
	if info, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("reading where people are told: %w", err)
	} else if !info.Mode().IsRegular() { // opening a named pipe would block
		return "", fmt.Errorf("reading where people are told: %s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading where people are told: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, longest))
	if err != nil {
		return "", fmt.Errorf("reading where people are told: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", errors.New("the first line of " + path + " is empty")
	}
	return line, nil
}

// Start does what the function Start does, with the Again and the PerHour of the Teller where the options have none.
func (t Teller) Start(ctx context.Context, o Options) (wait func(), err error) {
	o.Again, o.PerHour = cmp.Or(o.Again, t.Again), cmp.Or(o.PerHour, t.PerHour)
	return Start(ctx, o)
}
