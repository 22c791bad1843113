package script

import (
	"strings"
	"testing"

	"github.com/openai/openai-go"
	"github.com/openai/openai-go/option"
)

// A client that is not ours reads the stream and puts the same answer together
// as from one body.
func TestStream(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long answer with é and 😀; ", 20)
	srv, _ := serve(t, `
exchanges:
  - reply:
      text: "`+long+`"
      tool_calls:
        - {name: read, args: {path: "`+long+`"}}
        - {name: list}
      usage: {input: 10, output: 500, cached: 4}
`)
	chat := openai.NewChatCompletionService(option.WithBaseURL(srv.BaseURL()), option.WithAPIKey("k"), option.WithMaxRetries(0))
	params := openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hello")}}
	whole, err := chat.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := chat.NewStreaming(t.Context(), params)
	var acc openai.ChatCompletionAccumulator
	chunks := 0
	for stream.Next() {
		chunks++
		if !acc.AddChunk(stream.Current()) {
			t.Fatalf("chunk %d does not fit: %s", chunks, stream.Current().RawJSON())
		}
	}
	if stream.Err() != nil || chunks < 30 {
		t.Fatalf("%d chunks, error %v", chunks, stream.Err())
	}
	got, want := acc.Choices[0], whole.Choices[0]
	if got.Message.Content != long || want.Message.Content != long {
		t.Errorf("content %q, in one body %q", got.Message.Content, want.Message.Content)
	}
	if got.FinishReason != want.FinishReason || acc.Model != whole.Model || acc.Model != "m (script)" {
		t.Errorf("finish %s, model %s", got.FinishReason, acc.Model)
	}
	if len(got.Message.ToolCalls) != 2 || got.Message.ToolCalls[1].Function.Name != "list" {
		t.Fatalf("calls %+v", got.Message.ToolCalls)
	}
	for i, c := range got.Message.ToolCalls {
		if c.Function.Arguments != want.Message.ToolCalls[i].Function.Arguments || c.ID == "" {
			t.Errorf("call %d: %+v", i, c)
		}
	}
	if acc.Usage.TotalTokens != 510 || acc.Usage.TotalTokens != whole.Usage.TotalTokens {
		t.Errorf("usage %d, in one body %d", acc.Usage.TotalTokens, whole.Usage.TotalTokens)
	}
}

func TestStreamWithoutUsage(t *testing.T) {
	t.Parallel()
	_, ask := serve(t, `exchanges: [{reply: {text: hi}}]`)
	status, body := ask(`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`)
	if status != 200 || strings.Contains(body, "usage") || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("stream %d:\n%s", status, body)
	}
}

func TestStreamIsCut(t *testing.T) {
	t.Parallel()
	srv, _ := serve(t, `exchanges: [{reply: {error: {kind: cut}}}]`)
	chat := openai.NewChatCompletionService(option.WithBaseURL(srv.BaseURL()), option.WithAPIKey("k"), option.WithMaxRetries(0))
	stream := chat.NewStreaming(t.Context(), openai.ChatCompletionNewParams{
		Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hello")},
	})
	chunks := 0
	for stream.Next() {
		chunks++
		if len(stream.Current().Choices) > 0 && stream.Current().Choices[0].FinishReason != "" {
			t.Error("a cut stream came to its end")
		}
	}
	if chunks == 0 {
		t.Error("nothing arrived before the cut")
	}
}
