package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/connections"
	"github.com/aqltag/aqltag/runtime/internal/loopback"
)

// metricsPath is where metrics are served.
const metricsPath = "/metrics"

// mostScrapers bounds the connections of who reads metrics. One more closes another, as those of MCP do.
const mostScrapers = 64

// sameAddress has metrics served where MCP is.
const sameAddress = "same"

// serveMetrics serves metrics on a listener of their own, until the function that it returns is called.
func serveMetrics(ctx context.Context, addr string, metrics http.Handler, log *slog.Logger) (end func(), err error) {
	if err := checkMetrics(addr, log); err != nil {
		return nil, err
	}
	listener, _, err := listen(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("-metrics: listening on %s: %w", addr, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+metricsPath, guardMetrics(metrics, nil))
	web := &http.Server{
		Handler: connections.Track(mux), ConnState: connections.Changed, ConnContext: connections.Context,
		ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), DisableGeneralOptionsHandler: true,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := web.Serve(connections.Limit(listener, mostScrapers)); !errors.Is(err, http.ErrServerClosed) {
			log.Error("serving metrics failed", slog.Any("error", err))
		}
	}()
	log.Info("serving metrics", slog.String("address", cmp.Or(listener.Addr().String(), addr)),
		slog.String("path", metricsPath))
	return func() {
		_ = web.Close() // who reads them asks again
		<-ended
	}, nil
}

// guardMetrics refuses requests of web pages whose name was rebound to this machine, and those for other hosts than the
// ones in hosts, if there are some. This machine may always ask by its own name.
func guardMetrics(metrics http.Handler, hosts []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if host, _, err := net.SplitHostPort(name); err == nil {
			name = host
		}
		allowed := !loopback.Rebound(r) && (len(hosts) == 0 || loopback.Local(r)) ||
			slices.Contains(hosts, name) || slices.Contains(hosts, r.Host)
		if !allowed {
			http.Error(w, "this host name is not allowed", http.StatusForbidden)
			return
		}
		metrics.ServeHTTP(w, r)
	})
}

// checkMetrics refuses what is no address, and warns of one that other machines can reach.
func checkMetrics(addr string, log *slog.Logger) error {
	if strings.HasPrefix(addr, socketScheme) {
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("-metrics %s: it is host:port, such as 127.0.0.1:9464, unix:PATH, or same", addr)
	}
	if !loopback.Is(host) {
		log.Warn("whoever reaches the address of -metrics can read the names and numbers of this service's operations",
			slog.String("address", addr))
	}
	return nil
}
