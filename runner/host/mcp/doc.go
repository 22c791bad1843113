// Package mcp lets agents use the tools of MCP servers: programs that pawl starts
// and talks to over their standard streams, or services over HTTP.
//
// What a server says is not trusted. Its tools get names of their own
// (mcp.SERVER.TOOL), what they are described by is cut and cleaned before a model
// reads it, schemas are brought into a form that providers take, results are
// bounded, and every call has an end. A server gets no environment but the given
// one, and its processes end with the run.
//
// The protocol is the official SDK's. The package stands on floor 5 and imports
// runner, sandbox, confine, excerpt, diag and words.
package mcp
