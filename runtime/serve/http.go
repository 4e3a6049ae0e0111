package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/connections"
	"github.com/aqltag/aqltag/runtime/internal/loopback"
	"github.com/aqltag/aqltag/runtime/mcpserver"
)

// mcpPath is where MCP is served.
const mcpPath = "/mcp"

// beside is what is served beside MCP.
type beside struct {
	health  func(context.Context) []aql.Check
	metrics http.Handler    // nil: they are served elsewhere, or not
	leaves  <-chan struct{} // is closed when the process is to end, which ctx may do later
}

// serveHTTP serves MCP at /mcp, a health check at /healthz, what health gives at /readyz, and metrics, until ctx ends.
// /readyz answers that it will as soon as also.leaves is closed.
func serveHTTP(
	ctx context.Context, server *mcpserver.Server, also beside, s settings, options Options, log *slog.Logger,
) error {
	if err := checkAddress(s.addr, options.AllowRemote || options.MCP.Bearer != nil); err != nil {
		return err
	}
	handler, err := server.Handler()
	if err != nil {
		return usageError{err}
	}
	listener, url, err := listen(ctx, s.addr)
	if err != nil {
		return usageError{fmt.Errorf("listening on %s: %w", s.addr, err)}
	}
	var leaving, stopping atomic.Bool
	mux := http.NewServeMux()
	mux.Handle(mcpPath, handler)
	if metadata := options.MCP.Bearer.MetadataHandler(); metadata != nil {
		mux.Handle(mcpserver.MetadataPath, metadata)
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if stopping.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, `{"status":"stopping"}`+"\n")
			return
		}
		io.WriteString(w, `{"status":"ok"}`+"\n")
	})
	mux.Handle("GET /readyz", newReadiness(also.health, log, &leaving))
	if also.metrics != nil {
		if err := checkMetrics(s.addr, log); err != nil {
			return usageError{err}
		}
		mux.Handle("GET "+metricsPath, guardMetrics(also.metrics, options.MCP.AllowedHosts))
	}
	// No ReadTimeout and WriteTimeout: they would cut event streams. The handler has a deadline for each body and write.
	web := &http.Server{
		Handler:           tracked(mux),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ConnState:         connections.Changed,
		ConnContext:       connections.Context,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		// It would wait without a deadline for the body of OPTIONS *.
		DisableGeneralOptionsHandler: true,
	}
	// A client's open event stream would otherwise hold the shutdown until its deadline.
	web.RegisterOnShutdown(server.Close)
	log.Info("serving MCP over HTTP", slog.String("url", url))

	failed := make(chan error, 1)
	go func() { failed <- web.Serve(connections.Limit(listener, cmp.Or(options.MaxConnections, 1024))) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving HTTP: %w", err)
	case <-also.leaves:
	}
	leaving.Store(true)
	if options.Drain > 0 {
		log.Info("the process is to end, and serves calls a while longer", slog.Duration("drain", options.Drain))
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serving HTTP: %w", err)
	case <-ctx.Done():
	}
	stopping.Store(true)
	log.Info("shutting down")
	timeout := options.shutdownTimeout()
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	if err := web.Shutdown(deadline); errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(fmt.Errorf("some calls did not end in time, and were cut off after %s", timeout), web.Close())
	} else if err != nil {
		return fmt.Errorf("shutting down: %w", err)
	}
	return nil
}

// bodyTimeout bounds how long the body of a request may take that is not for MCP, and that nobody reads.
const bodyTimeout = 10 * time.Second

// tracked is a handler whose connections are seen to wait, or to be served, and whose requests arrive in time.
func tracked(next http.Handler) http.Handler {
	track := connections.Track(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 && r.URL.Path != mcpPath {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // it has one
		}
		track.ServeHTTP(w, r)
	})
}

// checkAddress refuses an address that other machines can reach, unless allowRemote is set: callers are not
// authenticated.
func checkAddress(addr string, allowRemote bool) error {
	if strings.HasPrefix(addr, socketScheme) {
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usageError{fmt.Errorf("-addr %s: it is host:port, such as 127.0.0.1:8080, or unix:PATH", addr)}
	}
	if allowRemote || loopback.Is(host) {
		return nil
	}
	return usageError{fmt.Errorf("-addr %s can be reached from other machines and callers are not authenticated; "+
		"listen on 127.0.0.1, authenticate callers with serve.Options.MCP.Bearer, "+
		"or set serve.Options.AllowRemote when something in front does", addr)}
}
