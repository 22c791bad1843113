package lsp

import (
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/pawl-ci/pawl/runner/lang/assist"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/symbols"
)

func (s *server) hover(d *document, p *protocol.HoverParams) (*protocol.Hover, error) {
	h := d.assist().Hover(d.text.offset(p.Position), d.findings())
	if h == nil {
		return nil, nil
	}
	at := d.text.places().span(h.Span)
	return &protocol.Hover{Contents: &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: h.Markdown}, Range: &at}, nil
}

// itemKinds are the signs beside names in lists of completions.
var itemKinds = map[symbols.Kind]protocol.CompletionItemKind{
	symbols.Workflow: protocol.CompletionItemKindModule, symbols.Node: protocol.CompletionItemKindFunction,
	symbols.Prompt: protocol.CompletionItemKindText, symbols.Schema: protocol.CompletionItemKindStruct,
	symbols.Field: protocol.CompletionItemKindField, symbols.Var: protocol.CompletionItemKindVariable,
	symbols.Server: protocol.CompletionItemKindModule, symbols.Loop: protocol.CompletionItemKindReference,
	symbols.Artifact: protocol.CompletionItemKindConstant,
}

func itemKind(c *assist.Candidate) protocol.CompletionItemKind {
	switch c.Kind {
	case assist.Declaration, assist.Clause:
		return protocol.CompletionItemKindKeyword
	case assist.Property:
		return protocol.CompletionItemKindProperty
	case assist.Choice:
		return protocol.CompletionItemKindEnumMember
	case assist.Member:
		return protocol.CompletionItemKindField
	}
	if kind, known := itemKinds[c.Symbol]; known {
		return kind
	}
	return protocol.CompletionItemKindFunction
}

func (s *server) completion(d *document, p *protocol.CompletionParams) (*protocol.CompletionList, error) {
	offset := d.text.offset(p.Position)
	candidates, cut := likely(d.assist().Complete(offset), d.text.value, offset)
	list := &protocol.CompletionList{IsIncomplete: cut, Items: make([]protocol.CompletionItem, len(candidates))}
	at := d.text.places()
	for i := range candidates {
		list.Items[i] = s.item(at, &candidates[i], i)
	}
	return list, nil
}

// mostItems is how many completions are sent. Of more, those are sent that go on
// as the word has begun, and the editor asks again when it has grown.
const mostItems = 400

func likely(list []assist.Candidate, text string, offset int) (sent []assist.Candidate, cut bool) {
	if len(list) <= mostItems {
		return list, false
	}
	list = slices.DeleteFunc(list, func(c assist.Candidate) bool {
		word := strings.ToLower(text[c.Start:offset])
		return !strings.Contains(strings.ToLower(c.Label), word)
	})
	return list[:min(len(list), mostItems)], true
}

func (s *server) item(at *places, c *assist.Candidate, order int) protocol.CompletionItem {
	item := protocol.CompletionItem{Label: c.Label, Kind: itemKind(c), SortText: protocol.NewOptional(fmt.Sprintf("%05d", order))}
	if c.Detail != "" {
		item.Detail.Set(c.Detail)
	}
	if c.Doc != "" {
		item.Documentation = &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: c.Doc}
	}
	text := c.Insert
	if s.snippets && c.Snippet != "" {
		text, item.InsertTextFormat = c.Snippet, protocol.InsertTextFormatSnippet
	}
	item.TextEdit = &protocol.TextEdit{Range: at.span(diag.Span{Start: c.Start, End: c.End}), NewText: text}
	return item
}

// locations are the places of symbols; a list is never nil, which some editors
// take for an error.
func (d *document) locations(spans []diag.Span) protocol.LocationSlice {
	at := d.text.places()
	list := make(protocol.LocationSlice, len(spans))
	for i, span := range spans {
		list[i] = protocol.Location{URI: d.uri, Range: at.span(span)}
	}
	return list
}

func (s *server) definition(d *document, p *protocol.DefinitionParams) (protocol.LocationSlice, error) {
	var spans []diag.Span
	if u := d.assist().Names.At(d.text.offset(p.Position)); u != nil {
		for _, symbol := range u.Symbols {
			spans = append(spans, symbol.At)
		}
	}
	return d.locations(spans), nil
}

// uses are the places of whatever the name at a position names.
func (d *document) uses(p protocol.Position) []symbols.Use {
	names := d.assist().Names
	u := names.At(d.text.offset(p))
	if u == nil {
		return nil
	}
	var list []symbols.Use
	for _, symbol := range u.Symbols {
		for _, use := range names.Uses(symbol) {
			if !slices.ContainsFunc(list, func(have symbols.Use) bool { return len(u.Symbols) > 1 && have.Span == use.Span }) {
				list = append(list, use)
			}
		}
	}
	return list
}

func (s *server) references(d *document, p *protocol.ReferenceParams) (protocol.LocationSlice, error) {
	var spans []diag.Span
	for _, use := range d.uses(p.Position) {
		if !use.Def || p.Context.IncludeDeclaration {
			spans = append(spans, use.Span)
		}
	}
	return d.locations(spans), nil
}

func (s *server) highlight(d *document, p *protocol.DocumentHighlightParams) ([]protocol.DocumentHighlight, error) {
	at := d.text.places()
	list := []protocol.DocumentHighlight{}
	for _, use := range d.uses(p.Position) {
		kind := protocol.DocumentHighlightKindRead
		if use.Def {
			kind = protocol.DocumentHighlightKindWrite
		}
		list = append(list, protocol.DocumentHighlight{Range: at.span(use.Span), Kind: kind})
	}
	return list, nil
}

func (s *server) prepareRename(d *document, p *protocol.PrepareRenameParams) (*protocol.PrepareRenamePlaceholder, error) {
	u, err := d.assist().Renamable(d.text.offset(p.Position))
	if err != nil {
		return nil, err
	}
	return &protocol.PrepareRenamePlaceholder{Range: d.text.places().span(u.Span), Placeholder: u.Name}, nil
}

func (s *server) rename(d *document, p *protocol.RenameParams) (*protocol.WorkspaceEdit, error) {
	edits, err := d.assist().Rename(d.text.offset(p.Position), p.NewName)
	if err != nil {
		return nil, err
	}
	return s.edit(d, edits), nil
}

// edit is a change of a file, for its version where the editor understands that.
func (s *server) edit(d *document, edits []assist.Edit) *protocol.WorkspaceEdit {
	at := d.text.places()
	list := make([]protocol.TextEdit, len(edits))
	for i, e := range edits {
		list[i] = protocol.TextEdit{Range: at.span(e.Span), NewText: e.Text}
	}
	if !s.versioned {
		return &protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{d.uri: list}}
	}
	change := &protocol.TextDocumentEdit{TextDocument: protocol.OptionalVersionedTextDocumentIdentifier{
		TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: d.uri}, Version: &d.version,
	}}
	for i := range list {
		change.Edits = append(change.Edits, &list[i])
	}
	return &protocol.WorkspaceEdit{DocumentChanges: []protocol.DocumentChange{change}}
}

// symbolKinds are the signs in outlines.
var symbolKinds = map[symbols.Kind]protocol.SymbolKind{
	symbols.Workflow: protocol.SymbolKindModule, symbols.Node: protocol.SymbolKindFunction, symbols.Prompt: protocol.SymbolKindString,
	symbols.Schema: protocol.SymbolKindStruct, symbols.Field: protocol.SymbolKindField, symbols.Var: protocol.SymbolKindVariable,
	symbols.Server: protocol.SymbolKindNamespace,
}

func (s *server) outline(d *document, _ *protocol.DocumentSymbolParams) (protocol.DocumentSymbolSlice, error) {
	return outlineOf(d.text.places(), d.assist().Outline()), nil
}

func outlineOf(at *places, items []assist.Item) protocol.DocumentSymbolSlice {
	list := make(protocol.DocumentSymbolSlice, len(items))
	for i := range items {
		item := &items[i]
		list[i] = protocol.DocumentSymbol{
			Name: item.Name, Detail: &item.Detail, Kind: symbolKinds[item.Kind],
			Range: at.span(item.Whole), SelectionRange: at.span(item.At), Children: outlineOf(at, item.Children),
		}
	}
	return list
}

func (s *server) folds(d *document, _ *protocol.FoldingRangeParams) ([]protocol.FoldingRange, error) {
	list := []protocol.FoldingRange{}
	for _, f := range d.assist().Folds() {
		r := protocol.FoldingRange{StartLine: uint32(f.First), EndLine: uint32(f.Last)}
		if f.Comment {
			r.Kind = protocol.FoldingRangeKindComment
		}
		list = append(list, r)
	}
	return list, nil
}

func (s *server) actions(d *document, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	list := []protocol.CommandOrCodeAction{}
	if len(p.Context.Only) > 0 && !slices.ContainsFunc(p.Context.Only, wantsFixes) {
		return list, nil
	}
	start, end := d.text.offset(p.Range.Start), d.text.offset(p.Range.End)
	for _, f := range d.findings() {
		if f.Span.End < start || f.Span.Start > end {
			continue
		}
		for _, fix := range d.assist().Fixes(f) {
			kind, preferred := protocol.CodeActionKindQuickFix, fix.Preferred
			list = append(list, &protocol.CodeAction{
				Title: fix.Title, Kind: &kind, IsPreferred: &preferred, Edit: s.edit(d, fix.Edits),
				Diagnostics: []protocol.Diagnostic{d.diagnostic(d.text.places(), f)},
			})
		}
	}
	return list, nil
}

func wantsFixes(kind protocol.CodeActionKind) bool {
	return kind == protocol.CodeActionKindQuickFix || kind == protocol.CodeActionKindEmpty
}

func (s *server) format(d *document, _ *protocol.DocumentFormattingParams) ([]protocol.TextEdit, error) {
	if s.opt.Format == nil {
		return nil, fmt.Errorf("this build has no formatter")
	}
	formatted, err := s.opt.Format(diag.NewFile(fileName(d.uri), d.text.value))
	if err != nil {
		return nil, err
	}
	at := d.text.places()
	list := []protocol.TextEdit{}
	for _, h := range hunks(d.text.value, formatted) {
		list = append(list, protocol.TextEdit{Range: at.span(diag.Span{Start: h.start, End: h.end}), NewText: h.text})
	}
	return list, nil
}
