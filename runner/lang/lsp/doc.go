// Package lsp speaks the Language Server Protocol: it keeps the files that an
// editor has open, finds what is wrong with them, and passes on the questions
// that package assist answers. Places are translated between the protocol's
// positions and byte offsets here and nowhere else.
//
// What changes a file is handled in the order in which it comes, what asks about
// one is answered at the side, on the version that was there when it was asked.
// Findings are computed by one goroutine, which always takes the newest version
// and leaves out those in between: no timer is needed.
//
// It stands on floor 4 and imports assist, symbols and diag, beside the library
// of the protocol.
package lsp
