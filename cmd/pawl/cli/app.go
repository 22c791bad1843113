package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/pawl-ci/pawl/report/actions"
)

// App is one invocation: its streams, its environment and the global flags. It
// belongs to one goroutine.
type App struct {
	Version string // of this build, as `pawl version` prints it
	Pin     string // what follows pawl-ci/pawl@ for this build of the action; "" is unknown
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Env     Environment
	// Status is what the program ends with when a command returns no error.
	Status ExitStatus
	// Annotations are findings that the action shows on their lines.
	Annotations []actions.Annotation

	Dir      string // of -C; "" is the working directory
	StoreDir string // of --store-dir, as given
	JSON     bool   // of --json
	Color    string // of --color: auto, always or never
}

// Bind adds the flags that every command has.
func (a *App) Bind(flags *pflag.FlagSet) {
	flags.StringVarP(&a.Dir, "dir", "C", "", "work in the repository of `DIR` instead of the current directory")
	flags.StringVar(&a.StoreDir, "store-dir", "", "keep records and worktrees in `DIR` (default: .pawl in the repository)")
	flags.BoolVar(&a.JSON, "json", false, "write machine-readable JSON to standard output")
	flags.StringVar(&a.Color, "color", "auto", "colour: auto, always or never (NO_COLOR is honoured)")
}

// Path is a path that the user gave: relative to the directory of -C, as with
// git.
func (a *App) Path(given string) string {
	if a.Dir == "" || filepath.IsAbs(given) {
		return given
	}
	return filepath.Join(a.Dir, given)
}

// Colors reports whether w gets colour.
func (a *App) Colors(w io.Writer) bool {
	switch a.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return a.Env["NO_COLOR"] == "" && a.Env["TERM"] != "dumb" && isTerminal(w)
}

// Terminal reports whether w is a terminal that understands more than lines.
func (a *App) Terminal(w io.Writer) bool { return isTerminal(w) && a.Env["TERM"] != "dumb" }

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Interactive reports whether a person can be asked here.
func (a *App) Interactive() bool {
	return isTerminal(a.In) && isTerminal(a.Err) && !a.Env.Truthy("CI")
}

// WriteJSON is the one way to write --json output: indented, as it is meant,
// without escapes for HTML.
func (a *App) WriteJSON(v any) error {
	enc := json.NewEncoder(a.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return Host(fmt.Errorf("write output: %w", err), "")
	}
	return nil
}

// Notice tells a person something that is no error, on standard error.
func (a *App) Notice(format string, args ...any) {
	fmt.Fprintf(a.Err, "pawl: "+format+"\n", args...)
}
