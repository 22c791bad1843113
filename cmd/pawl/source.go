package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report/actions"
	"github.com/pawl-ci/pawl/runner/host/tool"
	"github.com/pawl-ci/pawl/runner/lang/check"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// source is a workflow as it was read and checked.
type source struct {
	path     string
	file     *diag.File
	workflow *ir.Workflow
	findings diag.List
}

// compileOptions is what compiling needs beside the text.
type compileOptions struct {
	lookup func(name string) (string, bool) // ${NAME}
	model  string                           // default model
	prices budget.Table
}

// readSource reads and compiles the workflow at path, relative to the working
// directory that -C names.
func (a *app) readSource(path string, opt compileOptions) (*source, error) {
	text, err := os.ReadFile(a.path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage(fmt.Errorf("%s: there is no such file", path), "give the path of a workflow, for example: pawl run ci-fix.iter")
	}
	if err != nil {
		return nil, usage(fmt.Errorf("read workflow: %w", err), "")
	}
	return compile(path, string(text), opt), nil
}

// compile turns a text into a checked workflow. It always returns a source;
// findings say whether it can run.
func compile(path, text string, opt compileOptions) *source {
	s := &source{path: path, file: diag.NewFile(path, text)}
	s.workflow, s.findings = front.Load(s.file, front.Options{Env: opt.lookup})
	if s.workflow != nil && !s.findings.HasErrors() {
		s.findings = append(s.findings, check.Run(s.workflow, check.Options{
			Tools: tool.Canonical, ToolNames: slices.Sorted(slices.Values(tool.Names())), DefaultModel: opt.model, Prices: opt.prices,
		})...)
	}
	s.findings.Sort()
	return s
}

// say prints the findings for a person and reports whether the workflow can run.
func (a *app) say(s *source) error {
	a.annotations = actions.FromDiagnostics(s.findings)
	if err := diag.Render(a.errOut, s.findings, a.colors(a.errOut)); err != nil {
		return host(fmt.Errorf("write findings: %w", err), "")
	}
	if s.findings.HasErrors() {
		return errSaid(exitUsage)
	}
	return nil
}

// envLookup is the environment as workflows may see it: names that may hold a
// secret are not there.
func (a *app) envLookup(name string) (string, bool) {
	if !front.EnvAllowed(name) {
		return "", false
	}
	v, ok := a.env[name]
	return v, ok
}
