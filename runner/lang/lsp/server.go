package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// Options are what the server must know beside the files.
type Options struct {
	// Check finds what is wrong with a file, as `pawl validate` does. It is called
	// from several goroutines.
	Check func(*diag.File) diag.List
	// Format writes a file in its usual form. It is nil when there is no formatter;
	// its error says why a file cannot be formatted.
	Format func(*diag.File) (string, error)
	// Tools are the names of the tools that agents may list.
	Tools []string
	// Version is what the server calls itself.
	Version string
	// Watch is told the process of the editor, once; it calls gone when that
	// process has ended. It may be nil.
	Watch func(pid int, gone func())
	// Log takes a line for the people who look after the server.
	Log func(line string)
}

// ErrNoShutdown says that the editor ended the session, or its own life, without
// the request that comes before that.
var ErrNoShutdown = errors.New("the editor left without a shutdown request")

// Serve speaks with one editor over in and out until it says exit, its stream
// ends, or ctx does. It returns nil when the editor took its leave as the
// protocol wants. in is not closed, and a read from it may still wait; so may a
// write to out, which an editor that is gone no longer reads.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opt Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newServer(opt)
	s.conn = jsonrpc2.NewConn(newStream(in, out), jsonrpc2.WithCodec(codec{}))
	go s.publishing(ctx)
	s.conn.Go(ctx, s.handler())
	select {
	case <-s.exit:
	case <-s.conn.Done():
	case <-ctx.Done():
	}
	if s.stage() != shutDown {
		return ErrNoShutdown
	}
	return nil
}

// codec writes and reads the protocol's types.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	if raw, ok := v.(jsonrpc2.RawMessage); ok {
		return raw, nil
	}
	return protocol.Marshal(v)
}

func (codec) Unmarshal(data []byte, v any) error { return protocol.Unmarshal(data, v) }

// server is one session.
type server struct {
	opt      Options
	conn     jsonrpc2.Conn
	docs     documents
	findings *wanted
	exit     chan struct{} // closed by the exit notification
	life     life
	asked    asked

	// Set by initialize, before anything else is answered.
	encoding  protocol.PositionEncodingKind
	snippets  bool // completions may have stops for the cursor
	versioned bool // edits may name the version they are for
}

func newServer(opt Options) *server {
	if opt.Log == nil {
		opt.Log = func(string) {}
	}
	return &server{
		opt: opt, docs: documents{open: make(map[uri.URI]*document)}, findings: newWanted(),
		exit: make(chan struct{}), asked: asked{cancel: make(map[jsonrpc2.ID]context.CancelFunc)},
		encoding: protocol.PositionEncodingKindUTF16,
	}
}

func (s *server) log(format string, args ...any) { s.opt.Log(fmt.Sprintf(format, args...)) }

// survive keeps the session alive when something in it breaks: the editor's user
// has other files and other questions. It must be deferred.
func (s *server) survive(what string) {
	if problem := recover(); problem != nil {
		stack := make([]byte, 1<<13)
		s.log("%s broke: %v\n%s", what, problem, stack[:runtime.Stack(stack, false)])
	}
}
