package script

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Server serves a script on the loopback interface.
type Server struct {
	*Handler
	http   *http.Server
	addr   string
	done   chan struct{}
	served error
	forget func() bool // stops watching the context
}

// Start serves s at addr, a loopback address such as "127.0.0.1:8080"; "" takes
// any free port of 127.0.0.1. It returns once requests are accepted. The server
// ends with [Server.Close] or when ctx ends.
func Start(ctx context.Context, s *Script, addr string) (*Server, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	resolved, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("start the scripted model at %s: %w", addr, err)
	}
	if !resolved.IP.IsLoopback() {
		return nil, fmt.Errorf("start the scripted model at %s: only a loopback address is served, such as 127.0.0.1:8080", addr)
	}
	listener, err := net.ListenTCP("tcp", resolved)
	if err != nil {
		return nil, fmt.Errorf("start the scripted model at %s: %w", addr, err)
	}
	h := NewHandler(s)
	srv := &Server{
		Handler: h, http: &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second},
		addr: listener.Addr().String(), done: make(chan struct{}),
	}
	go func() {
		srv.served = srv.http.Serve(listener)
		close(srv.done)
	}()
	srv.forget = context.AfterFunc(ctx, func() { _ = srv.stop() })
	return srv, nil
}

// URL is where the server listens: "http://127.0.0.1:12345".
func (s *Server) URL() string { return "http://" + s.addr }

// BaseURL is what an OpenAI-compatible client wants: the URL with /v1.
func (s *Server) BaseURL() string { return s.URL() + "/v1" }

// Close ends the server at once; requests that still hang are cut off. It may
// be called more than once.
func (s *Server) Close() error {
	s.forget()
	return s.stop()
}

func (s *Server) stop() error {
	err := s.http.Close()
	<-s.done
	if err == nil && !errors.Is(s.served, http.ErrServerClosed) {
		err = s.served
	}
	if err != nil {
		return fmt.Errorf("stop the scripted model at %s: %w", s.addr, err)
	}
	return nil
}
