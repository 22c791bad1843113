package lsp

import (
	"slices"

	"go.lsp.dev/protocol"
)

// learn takes what the editor can.
func (s *server) learn(c *protocol.ClientCapabilities) {
	if c.General != nil {
		s.encoding = agreed(c.General.PositionEncodings)
	}
	if t := c.TextDocument; t != nil && t.Completion != nil && t.Completion.CompletionItem != nil {
		s.snippets = given(t.Completion.CompletionItem.SnippetSupport)
	}
	if w := c.Workspace; w != nil && w.WorkspaceEdit != nil {
		s.versioned = given(w.WorkspaceEdit.DocumentChanges)
	}
}

func given(flag *bool) bool { return flag != nil && *flag }

// agreed is the way of counting that costs us least among those that the editor
// knows. UTF-16 is what everybody must know.
func agreed(known []protocol.PositionEncodingKind) protocol.PositionEncodingKind {
	for _, kind := range []protocol.PositionEncodingKind{protocol.PositionEncodingKindUTF8, protocol.PositionEncodingKindUTF32} {
		if slices.Contains(known, kind) {
			return kind
		}
	}
	return protocol.PositionEncodingKindUTF16
}

// capabilities are what the server can.
func (s *server) capabilities() *protocol.InitializeResult {
	yes, incremental := true, protocol.TextDocumentSyncKindIncremental
	c := protocol.ServerCapabilities{
		PositionEncoding: s.encoding,
		TextDocumentSync: &protocol.TextDocumentSyncOptions{OpenClose: &yes, Change: &incremental},
		CompletionProvider: &protocol.CompletionOptions{
			TriggerCharacters: []string{".", "{", ":", " ", ">", "[", "\""},
		},
		HoverProvider:             protocol.Boolean(true),
		DefinitionProvider:        protocol.Boolean(true),
		ReferencesProvider:        protocol.Boolean(true),
		DocumentHighlightProvider: protocol.Boolean(true),
		DocumentSymbolProvider:    protocol.Boolean(true),
		FoldingRangeProvider:      protocol.Boolean(true),
		RenameProvider:            &protocol.RenameOptions{PrepareProvider: &yes},
		CodeActionProvider:        &protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{protocol.CodeActionKindQuickFix}},
	}
	if s.opt.Format != nil {
		c.DocumentFormattingProvider = protocol.Boolean(true)
	}
	return &protocol.InitializeResult{
		Capabilities: c,
		ServerInfo:   protocol.ServerInfo{Name: "pawl", Version: protocol.NewOptional(s.opt.Version)},
	}
}
