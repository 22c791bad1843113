package lsp

import (
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/pawl-ci/pawl/runner/lang/assist"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// document is one version of an open file. It does not change; what is known
// about it is computed when somebody asks, and once.
type document struct {
	uri      uri.URI
	version  int32
	text     *text
	assist   func() *assist.Document
	findings func() diag.List
}

// newDocument makes a version of a file.
func (s *server) newDocument(id uri.URI, version int32, t *text) *document {
	source := sync.OnceValue(func() *diag.File { return diag.NewFile(fileName(id), t.value) })
	return &document{
		uri: id, version: version, text: t,
		assist:   sync.OnceValue(func() *assist.Document { return assist.Read(source(), s.opt.Tools) }),
		findings: sync.OnceValue(func() diag.List { return s.opt.Check(source()) }),
	}
}

// fileName is what messages call a file.
func fileName(id uri.URI) string {
	name := string(id)
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			return name[i+1:]
		}
	}
	return name
}

// documents are the open files.
type documents struct {
	mu   sync.Mutex
	open map[uri.URI]*document
}

func (ds *documents) get(id uri.URI) *document {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	return ds.open[id]
}

func (ds *documents) put(d *document) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.open[d.uri] = d
}

func (ds *documents) remove(id uri.URI) (was bool) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	_, was = ds.open[id]
	delete(ds.open, id)
	return was
}

func (s *server) didOpen(p *protocol.DidOpenTextDocumentParams) {
	s.docs.put(s.newDocument(p.TextDocument.URI, p.TextDocument.Version, newText(p.TextDocument.Text, s.encoding)))
	s.findings.want(p.TextDocument.URI)
}

func (s *server) didChange(p *protocol.DidChangeTextDocumentParams) {
	d := s.docs.get(p.TextDocument.URI)
	if d == nil {
		return
	}
	t := d.text
	for _, change := range p.ContentChanges {
		t = t.apply(change)
	}
	s.docs.put(s.newDocument(d.uri, p.TextDocument.Version, t))
	s.findings.want(d.uri)
}

func (s *server) didClose(p *protocol.DidCloseTextDocumentParams) {
	if s.docs.remove(p.TextDocument.URI) {
		s.findings.want(p.TextDocument.URI)
	}
}
