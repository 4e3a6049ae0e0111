package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"unsafe"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/bench/wire/service"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// adapter makes an adapter with the options that everyone gets who sets none.
func adapter(registry *aql.Registry) (*aql.Adapter, error) {
	return aql.New(registry, aql.Options{Name: "bench", Version: "1.0.0"})
}

// protocolLimits are the limits of the protocol, which Session.Call reads with.
func protocolLimits() (wire.Limits, error) {
	a, err := adapter(service.NewRegistry(new(service.Service)))
	if err != nil {
		return wire.Limits{}, err
	}
	limits := a.Limits()
	return wire.Limits{MaxStringLength: limits.StringLength, MaxArrayElements: limits.ArrayElements, MaxDepth: limits.NestingDepth}, nil
}

// definitions are what the generator found in the service.
func definitions() gen.Adapter { return service.NewRegistry(new(service.Service)).Definitions() }

// definition finds an operation of the service.
func definition(name string) (*gen.Operation, *codec.Set, error) {
	all := definitions()
	for i := range all.Operations {
		if all.Operations[i].Name == name {
			return &all.Operations[i], codec.NewSet(all.Types), nil
		}
	}
	return nil, nil, fmt.Errorf("the service has no operation %s", name)
}

// decoder returns what reads the parameters of an operation, from bytes to the request struct, as Session.Call does once it
// knows the operation.
func decoder[T any](operation string) (func(text []byte) (*T, error), error) {
	o, set, err := definition(operation)
	if err != nil {
		return nil, err
	}
	request, err := set.Request(reflect.TypeFor[T](), o)
	if err != nil {
		return nil, err
	}
	limits, err := protocolLimits()
	if err != nil {
		return nil, err
	}
	r := wire.NewReader("", limits)
	return func(text []byte) (*T, error) {
		value := new(T)
		r.ResetBytes(text, limits)
		return value, readParams(r, request, unsafe.Pointer(value))
	}, nil
}

// readParams reads a params object into a request struct. It is all that the benchmarks know of how a session uses a codec.
func readParams(r *wire.Reader, request *codec.Request, value unsafe.Pointer) error {
	var given codec.Given
	if r.Object() {
		for known, more := request.Next(r, value, &given); more; known, more = request.Next(r, value, &given) {
			if !known {
				r.Unknown(nil)
			}
		}
		request.Complete(r, value, &given)
	}
	r.End()
	if r.OK() {
		return nil
	}
	if fault := r.Fault(); fault != nil {
		return fault
	}
	return fmt.Errorf("refused: %v", r.Problems())
}

// encoder returns what writes the results of an operation. It appends to buf.
func encoder(operation string, result reflect.Type) (func(buf []byte, value any) ([]byte, error), error) {
	o, set, err := definition(operation)
	if err != nil {
		return nil, err
	}
	codec, err := set.Result(result, o.Returns.Name)
	if err != nil {
		return nil, err
	}
	w := wire.NewWriter(nil)
	return func(buf []byte, value any) ([]byte, error) {
		w.Reset(buf)
		codec.Write(w, value, nil)
		return w.Bytes(), w.Err()
	}, nil
}

// selecting returns what writes the selected fields of results. What a request asks for is found out each time.
func selecting(operation string, result reflect.Type) (func(buf []byte, value any) ([]byte, error), error) {
	o, set, err := definition(operation)
	if err != nil {
		return nil, err
	}
	request, err := set.Request(reflect.TypeFor[service.ListTodosRequest](), o)
	if err != nil {
		return nil, err
	}
	encoder, err := set.Result(result, o.Returns.Name)
	if err != nil {
		return nil, err
	}
	selector, err := set.Selector(request, encoder, false)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string][]string{"fields": selected})
	if err != nil {
		return nil, err
	}
	asked := new(service.ListTodosRequest)
	if err := readParams(wire.NewReader(string(text), wire.Limits{}), request, unsafe.Pointer(asked)); err != nil {
		return nil, err
	}
	w := wire.NewWriter(nil)
	return func(buf []byte, value any) ([]byte, error) {
		subset, _ := selector.Select(unsafe.Pointer(asked))
		w.Reset(buf)
		encoder.Write(w, value, subset)
		return w.Bytes(), w.Err()
	}, nil
}

// caller returns what sends a request through a session of its own and expects success.
func caller(ctx context.Context, a *aql.Adapter, tool string) func(request []byte) ([]byte, error) {
	session := a.NewSession()
	return func(request []byte) ([]byte, error) {
		reply := session.Call(ctx, tool, request)
		if !bytes.HasPrefix(reply.JSON, []byte(`{"success":true`)) && !bytes.HasPrefix(reply.JSON, []byte(`{"_protocol"`)) {
			return nil, fmt.Errorf("refused: %s", reply.JSON)
		}
		return reply.JSON, nil
	}
}
