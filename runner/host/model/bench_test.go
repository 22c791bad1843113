package model

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner"
)

// big is a conversation of about 20 KB on the wire: a system prompt, tools and
// some turns with tool results.
func big() *runner.ModelRequest {
	req := conversation()
	line := "if err := store.Append(ctx, events); err != nil { return fmt.Errorf(\"append %d: %w\", seq, err) }\n"
	for len(req.Messages) < 20 {
		req.Messages = append(req.Messages,
			runner.Message{Role: runner.Assistant, ToolCalls: []runner.ToolCall{{ID: "c", Name: "read_file", Args: `{"path":"store.go"}`}}},
			runner.Message{Role: runner.ToolRole, ToolID: "c", Text: strings.Repeat(line, 20)})
	}
	return req
}

// loopback answers at once with 1 KB, reading the request first.
func loopback(b *testing.B) string {
	text, err := json.Marshal(strings.Repeat("word ", 200))
	if err != nil {
		b.Fatal(err)
	}
	answer := `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":` +
		string(text) + `},"finish_reason":"stop"}],"usage":{"prompt_tokens":5000,"completion_tokens":200,"total_tokens":5200}}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a benchmark's own client sends it whole
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}))
	b.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

// BenchmarkComplete is one call as the engine makes it, without the record.
func BenchmarkComplete(b *testing.B) {
	client := New(Config{BaseURL: loopback(b), APIKey: testKey, TraceHeaders: true})
	b.Cleanup(client.Close)
	req := big()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Complete(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlainHTTP is the same bytes there and back with net/http alone; the
// difference to BenchmarkComplete is what the client costs.
func BenchmarkPlainHTTP(b *testing.B) {
	base := loopback(b)
	body, err := New(Config{}).encode(big(), bySchema)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ReportMetric(float64(len(body)), "bytes/request")
	for b.Loop() {
		resp, err := http.Post(base+"/chat/completions", "application/json", strings.NewReader(string(body)))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); err != nil {
			b.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncode is a request of 20 KB put into the API's words and bytes.
func BenchmarkEncode(b *testing.B) {
	client, req := New(Config{}), big()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.encode(req, bySchema); err != nil {
			b.Fatal(err)
		}
	}
}
