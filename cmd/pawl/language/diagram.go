package language

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/report/diagram"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// diagramFlags are the flags of diagram.
type diagramFlags struct {
	detailed  bool
	full      bool
	format    string
	direction string
	markdown  bool
	legend    bool
}

func diagramCommand(a *cli.App) *cobra.Command {
	f := &diagramFlags{}
	cmd := &cobra.Command{
		Use:   "diagram FILE",
		Short: "Draw a workflow",
		Long: "Prints a drawing of the workflow as a mermaid flowchart, which GitHub shows in\n" +
			"markdown, or in Graphviz's DOT. A drawing that GitHub would refuse for its size\n" +
			"is made with less detail, and standard error says so.",
		Example: "  pawl diagram ci-fix.iter\n  pawl diagram --full --legend --markdown ci-fix.iter >> README.md\n  pawl diagram --format dot ci-fix.iter | dot -Tsvg > ci-fix.svg",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return draw(a, args[0], f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.detailed, "detailed", false, "with the properties of nodes and of the workflow")
	flags.BoolVar(&f.full, "full", false, "with prompts, fields, mappings, expressions and loops too")
	flags.StringVar(&f.format, "format", string(diagram.MermaidFormat), "`LANGUAGE` of the drawing: "+strings.Join(diagramFormats, ", "))
	flags.StringVar(&f.direction, "direction", "", "`WAY` it goes: "+strings.Join(diagram.Directions, ", ")+" (default: what suits the size)")
	flags.BoolVar(&f.markdown, "markdown", false, "put it into a fence, for a markdown file")
	flags.BoolVar(&f.legend, "legend", false, "explain the shapes that occur")
	return cmd
}

var diagramFormats = []string{string(diagram.MermaidFormat), string(diagram.DOTFormat)}

func (f *diagramFlags) options() (diagram.Options, error) {
	opt := diagram.Options{Format: diagram.Format(f.format), Direction: strings.ToUpper(f.direction), Legend: f.legend}
	if !slices.Contains(diagramFormats, f.format) {
		hint := diag.Suggest(f.format, diagramFormats)
		if f.format == "svg" {
			hint = "let Graphviz draw it: pawl diagram --format dot FILE | dot -Tsvg"
		}
		return opt, cli.Usage(fmt.Errorf("--format %s: there is no such form", f.format), hint)
	}
	if opt.Direction == "TB" {
		opt.Direction = "TD"
	}
	if opt.Direction != "" && !slices.Contains(diagram.Directions, opt.Direction) {
		return opt, cli.Usage(fmt.Errorf("--direction %s: there is no such way", f.direction), diag.Suggest(opt.Direction, diagram.Directions))
	}
	switch {
	case f.full:
		opt.Detail = diagram.Full
	case f.detailed:
		opt.Detail = diagram.Detailed
	}
	return opt, nil
}

// diagramJSON is what --json prints; docs/cli.md promises it.
type diagramJSON struct {
	Workflow string `json:"workflow"`
	Format   string `json:"format"`
	Detail   string `json:"detail"` // of the drawing, which may be less than was asked for
	Nodes    int    `json:"nodes"`
	Edges    int    `json:"edges"`
	Fits     bool   `json:"fits"` // GitHub's renderer takes it
	Diagram  string `json:"diagram"`
}

// drawable reports whether nothing is wrong with a workflow but that this version
// of pawl cannot run all of it.
func drawable(list diag.List) bool {
	const unsupported = "P169"
	return !slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error && d.Code != unsupported
	})
}

func draw(a *cli.App, path string, f *diagramFlags) error {
	opt, err := f.options()
	if err != nil {
		return err
	}
	src, err := a.ReadSource(path, cli.CompileOptions{Lookup: a.LookupEnv, Prices: budget.Prices()})
	if err != nil {
		return err
	}
	if !drawable(src.Findings) {
		return a.Say(src)
	}
	d := diagram.Draw(src.Workflow, opt)
	switch {
	case !d.Fits:
		a.Notice("GitHub does not show it: %d nodes and %d edges are more than it takes; --format dot has no limit", d.Nodes, d.Edges)
	case d.Detail != opt.Detail:
		a.Notice("drawn %s: GitHub takes 50,000 characters and 500 edges, and the %s form has more", d.Detail, opt.Detail)
	}
	if a.JSON {
		return a.WriteJSON(diagramJSON{src.Workflow.Name, f.format, d.Detail.String(), d.Nodes, d.Edges, d.Fits, d.Text})
	}
	text := d.Text
	if f.markdown {
		text = "```" + f.format + "\n" + text + "\n```"
	}
	if _, err := fmt.Fprintln(a.Out, text); err != nil {
		return cli.Host(fmt.Errorf("write diagram: %w", err), "")
	}
	return nil
}
