package language

import (
	"crypto/rand"
	"fmt"
	"io"

	"github.com/pawl-ci/pawl/report/actions"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// show writes the findings in the form that was asked for.
func (v *validation) show() error {
	switch v.flags.format {
	case "json":
		return v.app.WriteJSON(v.document())
	case "sarif":
		return diag.WriteSARIF(v.app.Out, v.app.Version, v.findings(), v.unread())
	case "github":
		return v.annotate()
	}
	if err := v.draw(v.app.Err, v.app.Colors(v.app.Err)); err != nil || v.flags.quiet {
		return err
	}
	if err := v.summary(v.app.Out); err != nil {
		return err
	}
	return v.costs(v.app.Out)
}

// costs draws the worst cases that were asked for.
func (v *validation) costs(w io.Writer) error {
	for i := range v.files {
		if c := &v.files[i]; c.cost != nil {
			if err := c.cost.draw(w, c.name, c.workflow); err != nil {
				return err
			}
		}
	}
	return nil
}

// findings are those of all files, in the order of the files.
func (v *validation) findings() diag.List {
	var all diag.List
	for i := range v.files {
		all = append(all, v.files[i].findings...)
	}
	return all
}

func (v *validation) unread() []diag.Unread {
	var all []diag.Unread
	for _, c := range v.files {
		if c.problem != nil {
			all = append(all, diag.Unread{File: c.name, Reason: c.problem.Error()})
		}
	}
	return all
}

// draw draws the findings for a person, file by file.
func (v *validation) draw(w io.Writer, color bool) error {
	for i := range v.files {
		c := &v.files[i]
		if c.problem != nil {
			if _, err := fmt.Fprintf(w, "%s: error: %v\n", words.OneLine(c.name), c.problem); err != nil {
				return err
			}
			continue
		}
		if err := diag.Render(w, v.shown(c.findings), color); err != nil {
			return err
		}
	}
	return nil
}

// shown are the findings that --quiet leaves.
func (v *validation) shown(list diag.List) diag.List {
	if !v.flags.quiet || v.flags.strict {
		return list
	}
	var errors diag.List
	for _, d := range list {
		if d.Severity == diag.Error {
			errors = append(errors, d)
		}
	}
	return errors
}

// fewFiles is up to how many files each good one is named.
const fewFiles = 20

// summary says which files are fine, and how many are not.
func (v *validation) summary(w io.Writer) error {
	good, bad := 0, 0
	for i := range v.files {
		c := &v.files[i]
		if c.errors > 0 {
			bad++
			continue
		}
		good++
		if len(v.files) > fewFiles {
			continue
		}
		verdict := "is fine"
		if c.warnings > 0 {
			verdict = "can run, with " + words.Count(int64(c.warnings), "warning")
		}
		if _, err := fmt.Fprintf(w, "%s: %s %s%s\n", words.OneLine(c.name), c.subject(), verdict, c.size()); err != nil {
			return err
		}
	}
	if len(v.files) == 1 && bad == 0 && !v.fails() {
		return nil
	}
	_, err := fmt.Fprintln(w, v.total(good, bad))
	return err
}

// subject is what the file holds.
func (c *checked) subject() string {
	switch {
	case c.recipe == "":
		return "workflow " + c.workflow
	case c.workflow == "":
		return "recipe " + words.OneLine(c.recipe)
	}
	return "workflow " + c.workflow + " with recipe " + words.OneLine(c.recipe)
}

func (c *checked) size() string {
	if c.workflow == "" {
		return "; it names no workflow to check it with"
	}
	return ": " + words.Count(int64(c.nodes), "node")
}

// total is the line at the end.
func (v *validation) total(good, bad int) string {
	line := "checked " + words.Count(int64(len(v.files)), "file") + ": "
	switch {
	case bad > 0 && good == 0:
		line += "none can run"
	case bad > 0:
		line += fmt.Sprintf("%d can run, %d cannot", good, bad)
	default:
		line += "all can run"
	}
	line += "; " + words.Count(int64(v.errors), "error") + ", " + words.Count(int64(v.warnings), "warning")
	if v.flags.strict && v.warnings > 0 {
		line += " (--strict: warnings count)"
	}
	return line
}

// annotate writes workflow commands for GitHub, and the drawings as text that the
// runner cannot take for commands.
func (v *validation) annotate() error {
	commands := actions.New(v.app.Out, 0)
	err := commands.Untrusted(rand.Reader, func(w io.Writer) error {
		if err := v.draw(w, false); err != nil || v.flags.quiet {
			return err
		}
		if err := v.summary(w); err != nil {
			return err
		}
		return v.costs(w)
	})
	if err != nil {
		return err
	}
	var list []actions.Annotation
	for _, u := range v.unread() {
		list = append(list, actions.Annotation{Level: actions.Error, File: u.File, Title: "cannot be read", Message: u.Reason})
	}
	return commands.Annotate(append(list, actions.FromDiagnostics(v.shown(v.findings()))...))
}

// validateJSON is what --json prints; docs/cli.md promises it.
type validateJSON struct {
	OK       bool              `json:"ok"` // exit status 0
	Errors   int               `json:"errors"`
	Warnings int               `json:"warnings"`
	Files    []checkedFileJSON `json:"files"`
}

type checkedFileJSON struct {
	File        string    `json:"file"`
	Workflow    string    `json:"workflow,omitempty"`
	Recipe      string    `json:"recipe,omitempty"`
	Nodes       int       `json:"nodes"`
	Errors      int       `json:"errors"`
	Warnings    int       `json:"warnings"`
	Problem     string    `json:"problem,omitempty"` // why it could not be read
	Diagnostics diag.List `json:"diagnostics"`
	Cost        *cost     `json:"cost,omitempty"`
}

func (v *validation) document() validateJSON {
	doc := validateJSON{OK: !v.fails(), Errors: v.errors, Warnings: v.warnings, Files: []checkedFileJSON{}}
	for _, c := range v.files {
		f := checkedFileJSON{File: c.name, Workflow: c.workflow, Recipe: c.recipe, Nodes: c.nodes, Errors: c.errors, Warnings: c.warnings, Diagnostics: c.findings, Cost: c.cost}
		if c.problem != nil {
			f.Problem = c.problem.Error()
		}
		if f.Diagnostics == nil {
			f.Diagnostics = diag.List{}
		}
		doc.Files = append(doc.Files, f)
	}
	return doc
}
