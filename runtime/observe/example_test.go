package observe_test

import (
	"context"
	"fmt"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/observe"
)

func ExampleHooks() {
	hooks := &observe.Hooks{
		Operation: func(ctx context.Context, o observe.Operation) (context.Context, func(observe.OperationEnd)) {
			return ctx, func(end observe.OperationEnd) { fmt.Println(o.Name, end.Code) }
		},
		Gate: func(_ context.Context, d observe.Decision) { fmt.Println(d.Operation, "is", d.Effect, "for", d.Reason) },
	}
	adapter, err := aql.New(gen.NewRegistry([]gen.Handler{{
		Name: "wipe_disk", Category: gen.Delete, Danger: gen.Destructive, Request: (*struct{})(nil),
		Call: func(context.Context, []any, any) (any, error) { return nil, nil },
	}}, nil), aql.Options{Observe: hooks})
	if err != nil {
		panic(err)
	}
	adapter.NewSession().Call(context.Background(), "mcp_aql_delete", []byte(`{"operation":"wipe_disk"}`))
	// Output:
	// wipe_disk is held for confirmation
	// wipe_disk CONFIRMATION_REQUIRED
}
