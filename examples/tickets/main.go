// Command tickets serves the tickets of a help desk to agents over MCP.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/aqltag/aqltag/examples/tickets/helpdesk"
	"github.com/aqltag/aqltag/examples/tickets/tickets"
	"github.com/aqltag/aqltag/runtime/serve"
)

func main() {
	api := flag.String("api", "", "`URL` of the help desk; default: one of the program's own, with a thousand tickets")
	serve.Flags(flag.CommandLine)
	flag.Parse()

	if *api == "" {
		url, err := startAPI()
		if err != nil {
			fmt.Fprintln(os.Stderr, "tickets:", err)
			os.Exit(1)
		}
		*api = url
	}
	service := &tickets.Service{API: &helpdesk.Client{URL: *api}}
	serve.Main(tickets.NewRegistry(service), serve.Options{Name: "tickets", Version: "1.0.0"})
}

// startAPI serves sample tickets on this machine, until the process ends, and returns where.
func startAPI() (url string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("starting the help desk: %w", err)
	}
	go func() { _ = http.Serve(listener, helpdesk.NewServer(helpdesk.Sample(1000))) }()
	return "http://" + listener.Addr().String(), nil
}
