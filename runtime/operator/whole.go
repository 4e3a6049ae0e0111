package operator

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// showWhole prints everything about one item, with all of its parameters.
func (d *Desk) showWhole(ctx context.Context, f Flags, item *approve.Item) error {
	whole, err := d.Inbox.Whole(ctx, *item)
	if err != nil {
		return err
	}
	item.Whole = 0
	if f.JSON {
		item.Params = whole
		return d.printJSON(item)
	}
	item.Params = ""
	if err := d.writeItem(d.Stdout, item); err != nil {
		return err
	}
	return writeWhole(d.Stdout, fmt.Sprintf("%s, all of their %d bytes", paramsTitle(item), len(whole)), whole)
}

// writeWhole writes all of a JSON object. Each member begins with its name. What an agent has written begins no line.
func writeWhole(w io.Writer, title, object string) error {
	var out strings.Builder
	out.WriteString("  " + title + ":\n")
	for name, value := range desk.All(object) {
		fmt.Fprintf(&out, "    %s\n", words.Printable(name))
		for line := range desk.Lines(value) {
			fmt.Fprintf(&out, "      %s\n", line)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
