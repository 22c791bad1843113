package language

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/host/tool"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/lsp"
	"github.com/pawl-ci/pawl/runner/lang/syntax/format"
)

func lspCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve editors: findings, hovers, completion, definitions, renames, formatting",
		Long: "Speaks the Language Server Protocol on standard input and output until the editor\n" +
			"leaves. Editors start it; docs/editor/README.md says how. Findings are those of\n" +
			"pawl validate. Standard error gets a line when something goes wrong.\n\n" +
			"Exit status: 0 after shutdown and exit, 1 when the editor is gone without them.",
		Example: "  pawl lsp",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveEditor(cmd.Context(), a)
		},
	}
	cmd.Flags().Bool("stdio", true, "speak on standard input and output; there is no other way, and some editors ask for it")
	return cmd
}

func serveEditor(ctx context.Context, a *cli.App) error {
	err := lsp.Serve(ctx, a.In, a.Out, lsp.Options{
		Check: func(f *diag.File) diag.List {
			return cli.Compile(f.Name, f.Text, cli.CompileOptions{Lookup: a.LookupEnv, Prices: budget.Prices()}).Findings
		},
		Format:  layOut,
		Tools:   slices.Sorted(slices.Values(tool.Names())),
		Version: a.Version,
		Watch:   func(pid int, gone func()) { watchProcess(ctx, pid, gone) },
		Log:     serialised(a.Err),
	})
	if errors.Is(err, lsp.ErrNoShutdown) {
		return cli.Said(cli.ExitFailed)
	}
	return err
}

// layOut writes a file in its usual form, or says what its form lacks.
func layOut(f *diag.File) (string, error) {
	text, wrong := format.Source(f)
	if len(wrong) > 0 {
		first := wrong[0]
		return "", fmt.Errorf("line %d: %s; a file is laid out once its form is right", first.Span.Position().Line, first.Message)
	}
	return text, nil
}

// serialised writes lines from any goroutine.
func serialised(w io.Writer) func(string) {
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(w, "pawl lsp: %s\n", line)
	}
}

// watchEvery is how often the editor's process is looked for. The end of its
// stream is seen at once; this is for streams that a child of it holds open.
const watchEvery = 5 * time.Second

// watchProcess calls gone when a process that is there now has ended. A process
// that is not to be seen, because it lives outside of this container, is not
// watched; nor is one on Windows, where signals do not tell.
func watchProcess(ctx context.Context, pid int, gone func()) {
	if runtime.GOOS == "windows" || !processLives(pid) {
		return
	}
	go func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if !processLives(pid) {
					gone()
					return
				}
			}
		}
	}()
}

// processLives asks by a signal that does nothing.
func processLives(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
