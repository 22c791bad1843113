package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// fakeClaude is a program that speaks the protocol of `claude -p` with
// stream-json output, a command for the scripts in testdata: it mends calc.txt
// and says which key it has.
func fakeClaude() {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil || !strings.Contains(string(prompt), "Mend calc.txt") {
		fmt.Fprintln(os.Stderr, "no task:", err)
		os.Exit(1)
	}
	say := func(line string) { fmt.Println(line) }
	say(`{"type":"system","subtype":"init","session_id":"s","model":"claude-fake"}`)
	for range 2 {
		say(`{"type":"assistant","message":{"usage":{"input_tokens":100,"output_tokens":30}}}`)
	}
	if err := os.WriteFile("calc.txt", []byte("5\n"), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	answer, err := json.Marshal(map[string]string{"summary": "four was wrong", "key": os.Getenv("ANTHROPIC_API_KEY")[:5]})
	if err != nil {
		os.Exit(1)
	}
	result, err := json.Marshal(map[string]any{
		"type": "result", "subtype": "success", "result": "Done.\n" + string(answer), "session_id": "s", "total_cost_usd": 0.0123,
		"usage": map[string]int{"input_tokens": 100, "cache_read_input_tokens": 100, "output_tokens": 60},
	})
	if err != nil {
		os.Exit(1)
	}
	say(string(result))
	os.Exit(0)
}
