package ir

import (
	"fmt"
	"io"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// Server is an MCP server whose tools agents may be given. A tool of it is called
// mcp.SERVER.TOOL in a call's tools, all of them mcp.SERVER.*.
type Server struct {
	Name      string
	Span      diag.Span
	Transport string      // stdio, http or sse
	Command   *Template   // of stdio
	Args      []*Template // of stdio
	URL       *Template   // of http and sse
	Env       []ServerEnv // of stdio, sorted by name
}

// ServerEnv is a variable of a server's environment. A secret is passed on by
// the name of pawl's own variable, and its value is in no workflow and no record.
type ServerEnv struct {
	Name  string
	From  string    // pawl's variable that holds the value; "" uses Value
	Value *Template // nil when From is set
}

// Server finds an MCP server by name, or nil.
func (w *Workflow) Server(name string) *Server {
	for _, s := range w.Servers {
		if s.Name == name {
			return s
		}
	}
	return nil
}

func (s *Server) write(w io.Writer) {
	fmt.Fprintf(w, "server %q %q %q %q", s.Name, s.Transport, s.Command.source(), s.URL.source())
	for _, a := range s.Args {
		fmt.Fprintf(w, " %q", a.source())
	}
	for _, e := range s.Env {
		fmt.Fprintf(w, " %q=%q %q", e.Name, e.From, e.Value.source())
	}
	fmt.Fprintln(w)
}
