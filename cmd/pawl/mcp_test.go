package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type note struct {
	Name string `json:"name" jsonschema:"of the note"`
	Text string `json:"text" jsonschema:"what it says"`
}

// notesServer is a real MCP server over its standard streams, a command for the
// scripts in testdata: it keeps notes in its working directory.
func notesServer() {
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "write", Description: "Writes a note."}, func(_ context.Context, _ *mcp.CallToolRequest, n note) (*mcp.CallToolResult, any, error) {
		if err := os.WriteFile(filepath.Base(n.Name)+".md", []byte(n.Text+"\n"), 0o644); err != nil {
			return nil, nil, err
		}
		said := "written for " + os.Getenv("NOTES_OWNER")
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "erase", Description: "Erases all."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, fmt.Errorf("nobody may")
	})
	if len(os.Args) > 1 && os.Args[1] == "--broken" {
		fmt.Fprintln(os.Stderr, "notes: no database")
		os.Exit(1)
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(0)
}
