package lsp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// The stages of a session.
const (
	fresh int32 = iota
	running
	shutDown
)

// requestFailed is the protocol's code for a question that is well put and has no
// answer.
const requestFailed jsonrpc2.Code = -32803

type life struct{ stage atomic.Int32 }

func (s *server) stage() int32 { return s.life.stage.Load() }

// message is what a method gets.
type message struct {
	ctx     context.Context // ends when nobody wants the answer any more
	params  []byte          // valid until the method returns
	release func()          // lets the next message be read before this one is answered
}

// method handles one kind of message. It runs where messages are read, one after
// the other, until it releases the reader.
type method func(s *server, m message) (any, error)

// note makes a method of a notification.
func note[P any](f func(*server, *P)) method {
	return func(s *server, m message) (any, error) {
		var p P
		if err := protocol.Unmarshal(m.params, &p); err != nil {
			return nil, err
		}
		f(s, &p)
		return nil, nil
	}
}

// question makes a method of a request about a file: it is answered at the side,
// on the version of the file that there is now.
func question[P any, R any](file func(*P) uri.URI, f func(*server, *document, *P) (R, error)) method {
	return func(s *server, m message) (any, error) {
		var p P
		if err := protocol.Unmarshal(m.params, &p); err != nil {
			return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, err.Error())
		}
		d := s.docs.get(file(&p))
		if d == nil {
			return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%s is not open", file(&p))
		}
		m.release()
		r, err := f(s, d, &p)
		switch {
		case m.ctx.Err() != nil:
			return nil, protocol.ErrRequestCancelled
		case err != nil:
			return nil, jsonrpc2.NewError(requestFailed, err.Error())
		}
		return r, nil
	}
}

// methods are the messages that the server understands.
func methods() map[string]method {
	return map[string]method{
		protocol.MethodInitialize:            (*server).initialize,
		protocol.MethodInitialized:           note(func(*server, *protocol.InitializedParams) {}),
		protocol.MethodSetTrace:              note(func(*server, *protocol.SetTraceParams) {}),
		protocol.MethodShutdown:              (*server).shutdown,
		protocol.MethodTextDocumentDidOpen:   note((*server).didOpen),
		protocol.MethodTextDocumentDidChange: note((*server).didChange),
		protocol.MethodTextDocumentDidClose:  note((*server).didClose),

		protocol.MethodTextDocumentHover:             question(func(p *protocol.HoverParams) uri.URI { return p.TextDocument.URI }, (*server).hover),
		protocol.MethodTextDocumentCompletion:        question(func(p *protocol.CompletionParams) uri.URI { return p.TextDocument.URI }, (*server).completion),
		protocol.MethodTextDocumentDefinition:        question(func(p *protocol.DefinitionParams) uri.URI { return p.TextDocument.URI }, (*server).definition),
		protocol.MethodTextDocumentReferences:        question(func(p *protocol.ReferenceParams) uri.URI { return p.TextDocument.URI }, (*server).references),
		protocol.MethodTextDocumentDocumentHighlight: question(func(p *protocol.DocumentHighlightParams) uri.URI { return p.TextDocument.URI }, (*server).highlight),
		protocol.MethodTextDocumentPrepareRename:     question(func(p *protocol.PrepareRenameParams) uri.URI { return p.TextDocument.URI }, (*server).prepareRename),
		protocol.MethodTextDocumentRename:            question(func(p *protocol.RenameParams) uri.URI { return p.TextDocument.URI }, (*server).rename),
		protocol.MethodTextDocumentDocumentSymbol:    question(func(p *protocol.DocumentSymbolParams) uri.URI { return p.TextDocument.URI }, (*server).outline),
		protocol.MethodTextDocumentFoldingRange:      question(func(p *protocol.FoldingRangeParams) uri.URI { return p.TextDocument.URI }, (*server).folds),
		protocol.MethodTextDocumentCodeAction:        question(func(p *protocol.CodeActionParams) uri.URI { return p.TextDocument.URI }, (*server).actions),
		protocol.MethodTextDocumentFormatting:        question(func(p *protocol.DocumentFormattingParams) uri.URI { return p.TextDocument.URI }, (*server).format),
	}
}

// handler is how messages are handled. A notification never ends the session,
// whatever is wrong with it.
func (s *server) handler() jsonrpc2.Handler {
	table := methods()
	return func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		if req.IsCall() {
			inner, done := s.asked.begin(jsonrpc2.DetachContext(ctx), req.ID())
			defer done()
			return s.handle(table, req.Method(), message{inner, req.Params(), func() { jsonrpc2.Async(ctx) }})
		}
		switch name := req.Method(); name {
		case protocol.MethodExit:
			s.leave()
		case protocol.MethodCancelRequest:
			s.cancel(req.Params())
		default:
			_, err := s.handle(table, name, message{jsonrpc2.DetachContext(ctx), req.Params(), func() {}})
			if err != nil && table[name] != nil {
				s.log("%s: %v", name, err)
			}
		}
		return nil, nil
	}
}

// handle gives a message to its method. What is not understood, comes too early or
// too late, or breaks, is answered as the protocol says.
func (s *server) handle(table map[string]method, name string, m message) (result any, err error) {
	name = strings.Clone(name) // it is the reader's, and the answer may come later
	broken := true
	defer func() {
		if broken {
			result, err = nil, jsonrpc2.Errorf(jsonrpc2.InternalError, "%s broke; pawl lsp goes on", name)
		}
	}()
	defer s.survive(name)
	if err = s.timely(name); err == nil && table[name] == nil {
		err = jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "this server has no method %s", name)
	}
	if err == nil {
		result, err = table[name](s, m)
	}
	broken = false
	return result, err
}

// asked are the requests that are being answered. The library has such a table;
// its contexts hang on requests that it has recycled.
type asked struct {
	mu     sync.Mutex
	cancel map[jsonrpc2.ID]context.CancelFunc
}

// begin makes the context of a request; done must be called when it is answered.
func (a *asked) begin(parent context.Context, id jsonrpc2.ID) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(parent)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cancel[id] = cancel
	return ctx, func() {
		cancel()
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.cancel, id)
	}
}

func (a *asked) end(id jsonrpc2.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if cancel := a.cancel[id]; cancel != nil {
		cancel()
	}
}

// timely says whether a message may come now.
func (s *server) timely(name string) error {
	switch stage := s.stage(); {
	case stage == fresh && name != protocol.MethodInitialize:
		return jsonrpc2.NewError(jsonrpc2.ServerNotInitialized, "initialize comes first")
	case stage == running && name == protocol.MethodInitialize:
		return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "initialize has come already")
	case stage == shutDown:
		return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the session is shut down")
	}
	return nil
}

// cancel ends a question that nobody wants answered any more.
func (s *server) cancel(params []byte) {
	var p protocol.CancelParams
	if err := protocol.Unmarshal(params, &p); err != nil {
		s.log("cancel: %v", err)
		return
	}
	switch id := p.ID.(type) {
	case protocol.Integer:
		s.asked.end(jsonrpc2.NewNumberID(int64(id)))
	case protocol.String:
		s.asked.end(jsonrpc2.NewStringID(string(id)))
	}
}

// leave ends the session.
func (s *server) leave() {
	select {
	case <-s.exit:
	default:
		close(s.exit)
	}
}

func (s *server) shutdown(message) (any, error) {
	s.life.stage.Store(shutDown)
	return nil, nil
}

// initialize agrees with the editor on what both can.
func (s *server) initialize(m message) (any, error) {
	var p protocol.InitializeParams
	if err := protocol.Unmarshal(m.params, &p); err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf("initialize: %v", err))
	}
	s.learn(&p.Capabilities)
	if p.ProcessID != nil && s.opt.Watch != nil {
		s.opt.Watch(int(*p.ProcessID), s.leave)
	}
	s.life.stage.Store(running)
	return s.capabilities(), nil
}
