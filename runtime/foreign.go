package aql

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// foreignFailure returns what an agent learns of an error of a library whose meaning is known by its type; nil: it is
// not known. Nothing of its text is shown. The types are found by their methods, so that this package links none of
// those libraries.
func foreignFailure(err error) (f *Error) {
	defer func() {
		if recover() != nil { // a method of the error cannot be called
			f = nil
		}
	}()
	if answered := (*gen.ResponseError)(nil); errors.As(err, &answered) {
		return responseFailure(answered)
	}
	f = sentinelFailure(err)
	if f == nil {
		f = statusFailure(err)
	}
	if f == nil {
		f = httpFailure(err)
	}
	if f != nil {
		f.cause = err
	}
	return f
}

// sentinelFailure knows errors of the standard library.
func sentinelFailure(err error) *Error {
	var timed interface{ Timeout() bool }
	switch {
	case errors.Is(err, fs.ErrExist):
		return failure(CodeAlreadyExists, "The resource already exists")
	case errors.Is(err, fs.ErrPermission):
		return Denied("the service has no access to it")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timed) && timed.Timeout():
		return internal(timedOut)
	}
	return nil
}

// timedOut is the description of a failure of which the agent learns that it took too long.
const timedOut = "operation timed out"

// responseFailure is what Upstream makes of a response that a handler of a web framework returned; nil: its status is
// not that of a failure.
func responseFailure(err *gen.ResponseError) *Error {
	if err.Status < 400 || err.Status > 599 {
		return nil
	}
	body, fault := json.Marshal(err.Response)
	if fault != nil || err.Response == nil {
		body = nil
	}
	return Upstream(err.Status, nil, body)
}

// httpFailure knows errors that have the status of an HTTP response.
func httpFailure(err error) *Error {
	var byCode interface{ StatusCode() int }
	var byHTTPCode interface{ HTTPStatusCode() int }
	var byStatus interface{ GetStatus() int }
	var status int
	switch {
	case errors.As(err, &byCode):
		status = byCode.StatusCode()
	case errors.As(err, &byHTTPCode):
		status = byHTTPCode.HTTPStatusCode()
	case errors.As(err, &byStatus):
		status = byStatus.GetStatus()
	default:
		status = responseStatus(err)
	}
	if status < 400 || status > 599 {
		return nil
	}
	return Upstream(status, nil, nil)
}

// responseStatus is the status of the *http.Response in the field Response of an error, as clients of APIs return it;
// 0: there is none.
func responseStatus(err error) int {
	for ; err != nil; err = errors.Unwrap(err) {
		v := reflect.Indirect(reflect.ValueOf(err))
		if v.Kind() != reflect.Struct {
			continue
		}
		response := v.FieldByName("Response")
		if response.Kind() != reflect.Pointer || response.IsNil() {
			continue
		}
		response = response.Elem()
		if t := response.Type(); t.PkgPath() == "net/http" && t.Name() == "Response" {
			return int(response.FieldByName("StatusCode").Int())
		}
	}
	return 0
}

// statusFailure knows the statuses of gRPC: errors with a method GRPCStatus, and those of Connect and Twirp, with a
// method Code.
func statusFailure(err error) *Error {
	for ; err != nil; err = errors.Unwrap(err) {
		if several, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // the chain is being followed
			for _, inner := range several.Unwrap() {
				if f := statusFailure(inner); f != nil {
					return f
				}
			}
			return nil
		}
		if f := statusNamed(statusName(err)); f != nil {
			return f
		}
	}
	return nil
}

// statusName returns the name of the status of an error, in lower case and without underscores; empty: it has none. A
// number alone may be that of another library, so that only a code with a name counts.
func statusName(err error) string {
	holder := reflect.ValueOf(err)
	if status, ok := callGetter(holder.MethodByName("GRPCStatus")); ok {
		holder = status
	}
	if !holder.IsValid() || holder.Kind() == reflect.Pointer && holder.IsNil() {
		return ""
	}
	code, ok := callGetter(holder.MethodByName("Code"))
	if !ok || code.Kind() != reflect.Uint32 && code.Kind() != reflect.String {
		return ""
	}
	name := ""
	if named, ok := code.Interface().(fmt.Stringer); ok {
		name = named.String()
	} else if code.Kind() == reflect.String {
		name = code.String()
	}
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}

// callGetter returns the result of a method without parameters and with one result.
func callGetter(method reflect.Value) (reflect.Value, bool) {
	if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
		return reflect.Value{}, false
	}
	return method.Call(nil)[0], true
}

// statusNamed returns the failure for a status of gRPC; nil: there is none of this name.
func statusNamed(name string) *Error {
	switch name {
	case "invalidargument":
		return failure(CodeInvalidType, "The service refused a parameter")
	case "outofrange":
		return failure(CodeOutOfRange, "The service refused a parameter: a value is out of range")
	case "notfound":
		return &Error{Code: CodeResourceNotFound, Message: "Resource not found", ofTarget: true}
	case "alreadyexists":
		return failure(CodeAlreadyExists, "The resource already exists")
	case "permissiondenied":
		return Denied("the service does not allow it")
	case "unauthenticated":
		return Denied("the service does not accept the credentials")
	case "resourceexhausted":
		return RateLimited(0)
	case "failedprecondition":
		return &Error{
			Code: CodeInvalidState, Message: "The state of the resource does not allow it", ofTarget: true,
			general: "The state of the service does not allow the operation",
		}
	case "aborted":
		return &Error{
			Code: CodeVersionMismatch, Message: "The resource was changed by another request; read it and try again",
			ofTarget: true, general: "The service stopped the operation because of a concurrent change",
		}
	case "deadlineexceeded":
		return internal(timedOut)
	case "unavailable":
		return internal("the service is unavailable")
	case "unimplemented":
		return internal("the service does not implement it")
	}
	return nil // canceled, unknown, internal and data loss say nothing that helps
}

// mapped is what Options.MapError makes of an error; the error itself where there is no such option or it returns nil.
func (r *run) mapped(ctx context.Context, err error) (mapped error) {
	if r.mapError == nil {
		return err
	}
	defer func() {
		if v := recover(); v != nil {
			mapped = fmt.Errorf("MapError panicked: %v; it was given: %w", v, err)
		}
	}()
	mapped = r.mapError(ctx, r.operation.Name, err)
	if f := (*Error)(nil); errors.As(mapped, &f) && f != nil && f.cause == nil {
		return f.WithCause(err)
	}
	return cmp.Or(mapped, err)
}
