package notify_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/notify"
)

// opened returns a Teller whose drivers note what they open.
func opened(calls *[]string) notify.Teller {
	driver := func(name string) notify.Driver {
		return notify.Driver{Name: name, Open: func(location string, keys [][]byte) (notify.Channel, error) {
			call := name + " " + location
			for _, key := range keys {
				call += " " + string(key)
			}
			*calls = append(*calls, call)
			if location == "bad" {
				return nil, errors.New("that is no address")
			}
			return &bell{name: name}, nil
		}}
	}
	return notify.Teller{Drivers: []notify.Driver{driver("bell"), driver("flag")}}
}

// A text names channels with their locations, which may be in files, and each kind has its keys.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"address": "https://h.example.com/a=b\nmore", "empty": "\nhttps://x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keys := map[string][][]byte{"flag": {[]byte("new"), []byte("old")}}
	for text, want := range map[string]struct {
		calls []string
		err   string
	}{
		"bell":                            {calls: []string{"bell "}},
		"flag=https://h.example.com/?a=b": {calls: []string{"flag https://h.example.com/?a=b new old"}},
		"bell, flag=x":                    {calls: []string{"bell ", "flag x new old"}},
		"flag=@" + dir + "/address":       {calls: []string{"flag https://h.example.com/a=b new old"}},
		"flag=@" + dir + "/empty":         {err: "is empty"},
		"flag=@" + dir:                    {err: "is not a regular file"},
		"flag=@" + dir + "/nothing":       {err: "reading where people are told"},
		"horn":                            {err: `there is no channel "horn": this service has bell, flag`},
		"":                                {err: `there is no channel ""`},
		"bell,":                           {calls: []string{"bell "}, err: `there is no channel ""`},
		"bell=bad":                        {calls: []string{"bell bad"}, err: "bell: that is no address"},
	} {
		var calls []string
		channels, err := opened(&calls).Open(text, keys)
		if diff := cmp.Diff(want.calls, calls); diff != "" {
			t.Errorf("%q opens (-want +got):\n%s", text, diff)
		}
		if (err == nil) != (want.err == "") || err != nil && !strings.Contains(err.Error(), want.err) {
			t.Errorf("%q: %v, want %q", text, err, want.err)
		}
		if err == nil && len(channels) != len(want.calls) {
			t.Errorf("%q has %d channels", text, len(channels))
		}
	}
	var calls []string
	if _, err := opened(&calls).Open("bell", map[string][][]byte{"horn": nil}); err == nil || calls != nil {
		t.Errorf("a key of no kind is accepted: %v", err)
	}
}
