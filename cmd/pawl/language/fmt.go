package language

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/format"
)

// fmtFlags are the flags of fmt.
type fmtFlags struct {
	check bool
	diff  bool
}

func fmtCommand(a *cli.App) *cobra.Command {
	f := &fmtFlags{}
	cmd := &cobra.Command{
		Use:   "fmt [FILE|DIR|GLOB]...",
		Short: "Lay out workflows in the one canonical way",
		Long: "Rewrites .iter files in the canonical layout and prints the names of those that\n" +
			"changed. What a file means, its comments and its order stay. Without arguments it\n" +
			"takes every .iter file below the current directory that git does not ignore; - lays\n" +
			"standard input out on standard output.\n\n" +
			"A file with errors of form is not touched; its errors are drawn on standard error\n" +
			"and the others are laid out all the same. Exit status: 0 all done, 1 with --check if\n" +
			"a file would change, 2 if a file was refused, or could not be read or written.",
		Example: "  pawl fmt\n  pawl fmt flows/ 'more/**/*.iter'\n  pawl fmt --check\n  pawl fmt --diff ci-fix.iter\n  pawl fmt - < draft.iter",
		RunE: func(cmd *cobra.Command, args []string) error {
			return formatAll(cmd.Context(), a, args, f)
		},
	}
	cmd.Flags().BoolVar(&f.check, "check", false, "write nothing; end with exit status 1 if a file would change")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "write nothing; print what would change as a unified diff")
	return cmd
}

func formatAll(ctx context.Context, a *cli.App, args []string, f *fmtFlags) error {
	if slices.Contains(args, stdinName) && len(args) > 1 {
		return cli.Usage(errors.New("- is standard input, which is laid out alone"), "pawl fmt - < FILE")
	}
	targets, err := findBelow(ctx, a, args)
	if err != nil {
		return err
	}
	l := &layout{app: a, flags: f}
	bar := newProgress(a, len(targets))
	for _, t := range targets {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.files = append(l.files, l.file(t))
		bar.step()
	}
	bar.end()
	if err := l.show(); err != nil {
		return cli.Host(fmt.Errorf("write output: %w", err), "")
	}
	return l.status()
}

// layout is what one call of fmt does.
type layout struct {
	app   *cli.App
	flags *fmtFlags
	files []laidOut
}

// laidOut is one file with what became of it.
type laidOut struct {
	name    string
	stdin   bool
	before  string
	after   string    // only when it was neither refused nor has a problem
	wrong   diag.List // why it was refused
	problem error     // why it could not be read or written
}

func (f *laidOut) changed() bool { return f.before != f.after && !f.failed() }

func (f *laidOut) failed() bool { return len(f.wrong) > 0 || f.problem != nil }

// file lays one file out, and writes it if that is wanted.
func (l *layout) file(t target) laidOut {
	f := laidOut{name: t.name, stdin: t.path == "", problem: t.problem}
	if f.problem != nil {
		return f
	}
	text, err := l.read(t)
	if err != nil {
		f.problem = cli.Reason(err)
		return f
	}
	f.before = text
	f.after, f.wrong = format.Source(diag.NewFile(t.name, text))
	if f.changed() && !f.stdin && !l.dry() {
		f.problem = replaceFile(t.path, f.after)
	}
	return f
}

func (l *layout) read(t target) (string, error) {
	if t.path == "" {
		text, err := io.ReadAll(l.app.In)
		return string(text), err
	}
	text, err := os.ReadFile(t.path)
	return string(text), err
}

// dry reports whether nothing is to be written.
func (l *layout) dry() bool { return l.flags.check || l.flags.diff }

// status is what the command ends with.
func (l *layout) status() error {
	switch {
	case slices.ContainsFunc(l.files, func(f laidOut) bool { return f.failed() }):
		return cli.Said(cli.ExitUsage)
	case l.flags.check && l.changes() > 0:
		return cli.Said(cli.ExitFailed)
	}
	return nil
}

// changes is how many files are not in the canonical layout.
func (l *layout) changes() int {
	n := 0
	for i := range l.files {
		if l.files[i].changed() {
			n++
		}
	}
	return n
}
