package lsp

import (
	"context"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// wanted are the files whose findings are to be published, each once however
// often it has changed.
type wanted struct {
	mu    sync.Mutex
	files []uri.URI
	wake  chan struct{} // holds one
}

func newWanted() *wanted { return &wanted{wake: make(chan struct{}, 1)} }

// want notes a file and wakes whoever publishes.
func (w *wanted) want(id uri.URI) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, have := range w.files {
		if have == id {
			return
		}
	}
	w.files = append(w.files, id)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next takes the file that waits longest.
func (w *wanted) next() (id uri.URI, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.files) == 0 {
		return "", false
	}
	id = w.files[0]
	w.files = w.files[1:]
	return id, true
}

// publishing publishes findings until the context ends.
func (s *server) publishing(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.findings.wake:
		}
		for id, ok := s.findings.next(); ok && ctx.Err() == nil; id, ok = s.findings.next() {
			s.publish(ctx, id)
		}
	}
}

// publish sends the findings of the newest version of a file; a file that was
// closed has none. Findings of a version that is no longer the newest are not
// sent: the next ones are under way.
func (s *server) publish(ctx context.Context, id uri.URI) {
	defer s.survive("publish findings")
	params := &protocol.PublishDiagnosticsParams{URI: id, Diagnostics: []protocol.Diagnostic{}}
	if d := s.docs.get(id); d != nil {
		params.Version.Set(d.version)
		params.Diagnostics = d.diagnostics(d.findings())
		if s.docs.get(id) != d {
			return
		}
	}
	if err := s.conn.Notify(ctx, protocol.MethodTextDocumentPublishDiagnostics, params); err != nil && ctx.Err() == nil {
		s.log("publish findings of %s: %v", id, err)
	}
}

// reference is where people read about codes.
const reference = "https://github.com/pawl-ci/pawl/blob/main/docs/language.md#diagnostics"

// idle are the codes of what has no effect; editors show it faded.
var idle = map[diag.Code]bool{"P161": true, "C016": true}

// diagnostics are findings as the protocol has them.
func (d *document) diagnostics(list diag.List) []protocol.Diagnostic {
	at := d.text.places()
	out := make([]protocol.Diagnostic, len(list))
	for i, f := range list {
		out[i] = d.diagnostic(at, f)
	}
	return out
}

func (d *document) diagnostic(at *places, f diag.Diagnostic) protocol.Diagnostic {
	message := f.Message
	if f.Hint != "" {
		message += "\n" + f.Hint
	}
	out := protocol.Diagnostic{
		Range: at.span(f.Span), Severity: protocol.DiagnosticSeverityError, Code: protocol.String(f.Code),
		CodeDescription: protocol.CodeDescription{Href: reference},
		Source:          protocol.NewOptional("pawl"), Message: protocol.String(message),
	}
	if f.Severity == diag.Warning {
		out.Severity = protocol.DiagnosticSeverityWarning
	}
	if idle[f.Code] {
		out.Tags = protocol.NewDiagnosticTags(protocol.DiagnosticTagUnnecessary)
	}
	for _, r := range f.Related {
		out.RelatedInformation = append(out.RelatedInformation, protocol.DiagnosticRelatedInformation{
			Location: protocol.Location{URI: d.uri, Range: d.text.places().span(r.Span)}, Message: r.Message,
		})
	}
	return out
}
