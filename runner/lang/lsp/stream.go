package lsp

import (
	"context"
	"errors"
	"io"

	"go.lsp.dev/jsonrpc2"
)

// stream is the protocol's framing with a memory for mistakes: a message that is
// no JSON is answered with an error, as JSON-RPC wants it, and the next one is
// read.
type stream struct{ jsonrpc2.Stream }

func newStream(in io.Reader, out io.Writer) jsonrpc2.Stream {
	return stream{jsonrpc2.NewHeaderStream(pair{in, out})}
}

// pair is a connection whose two directions are two streams. Closing it closes
// neither: they are the process's own.
type pair struct {
	io.Reader
	io.Writer
}

func (pair) Close() error { return nil }

// Read implements [jsonrpc2.Stream].
func (s stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for {
		msg, n, err := s.Stream.Read(ctx)
		if err == nil {
			return msg, n, nil
		}
		var wire *jsonrpc2.Error
		if !errors.As(err, &wire) { // the framing is lost, or the stream
			return nil, 0, err
		}
		if _, err := s.Write(ctx, jsonrpc2.NewResponse(jsonrpc2.ID{}, nil, wire)); err != nil {
			return nil, 0, err
		}
	}
}
