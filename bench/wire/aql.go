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

// adapter returns an adapter with default options.
func adapter(registry *aql.Registry) (*aql.Adapter, error) {
	return aql.New(registry, aql.Options{Name: "bench", Version: "1.0.0"})
}

// protocolLimits returns the limits with which Session.Call reads by default.
func protocolLimits() (wire.Limits, error) {
	a, err := adapter(service.NewRegistry(new(service.Service)))
	if err != nil {
		return wire.Limits{}, err
	}
	limits := a.Limits()
	return wire.Limits{
		MaxStringLength: limits.StringLength, MaxArrayElements: limits.ArrayElements, MaxDepth: limits.NestingDepth,
	}, nil
}

// definitions returns the definitions of the service.
func definitions() gen.Definitions { return service.NewRegistry(new(service.Service)).Definitions() }

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

// decoder returns a function that reads the parameters of an operation into its request struct, as a session does: the
// struct does not share the memory of the request.
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

// readParams reads a params object into a request struct, as a session does.
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

// encoder returns a function that appends a result of an operation to buf.
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

// selecting returns a function that appends the selected fields of a result to buf. It finds them by the request each
// time.
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
	selection := new(service.ListTodosRequest)
	if err := readParams(wire.NewReader(string(text), wire.Limits{}), request, unsafe.Pointer(selection)); err != nil {
		return nil, err
	}
	w := wire.NewWriter(nil)
	return func(buf []byte, value any) ([]byte, error) {
		chosen, _ := selector.Select(unsafe.Pointer(selection), nil)
		w.Reset(buf)
		encoder.Write(w, value, chosen.Subset)
		return w.Bytes(), w.Err()
	}, nil
}

// caller returns a function that sends requests through a session and fails where the answer is a failure.
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
