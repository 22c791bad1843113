package agent

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"time"
)

// proxy stands on loopback between a program and its provider and puts the key
// in. It serves nobody who does not know its word.
type proxy struct {
	word     string
	listener net.Listener
	server   *http.Server
}

func newProxy(upstream, header, key string) (*proxy, error) {
	target, err := url.Parse(upstream)
	if err != nil || target.Host == "" {
		return nil, fmt.Errorf("the provider's address %q is none", upstream)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the proxy that holds the key: %w", err)
	}
	p := &proxy{word: "pawl-" + rand.Text(), listener: listener}
	forward := &httputil.ReverseProxy{
		FlushInterval: -1, // answers are streams
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("X-Api-Key")
			r.Out.Header.Del("Authorization")
			r.Out.Header.Set(header, withScheme(header, key))
		},
	}
	p.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.knows(r) {
			http.Error(w, "this proxy is for one run", http.StatusUnauthorized)
			return
		}
		forward.ServeHTTP(w, r)
	})}
	go func() { _ = p.server.Serve(listener) }() // ends when the server is closed
	return p, nil
}

func withScheme(header, key string) string {
	if header == "Authorization" {
		return "Bearer " + key
	}
	return key
}

// knows reports whether the request carries the word as programs carry keys.
func (p *proxy) knows(r *http.Request) bool {
	given := r.Header.Get("X-Api-Key")
	if given == "" {
		given = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(p.word)) == 1
}

func (p *proxy) address() string { return "http://" + p.listener.Addr().String() }

func (p *proxy) close() { _ = p.server.Close() }

// makeDir makes a directory for what a program keeps.
func makeDir(path string) error {
	if path == "" {
		return errors.New("there is no directory for what the program keeps")
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("make the directory for what the program keeps: %w", err)
	}
	return nil
}
