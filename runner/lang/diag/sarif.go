package diag

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
)

// Unread is a file whose findings are not known, because it could not be read.
type Unread struct {
	File   string // slash-separated, as a finding's file would be named
	Reason string // one line
}

// The part of SARIF 2.1.0 that findings need.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		URI     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    Code      `json:"id"`
		Short sarifText `json:"shortDescription"`
		Full  sarifText `json:"fullDescription"`
		Help  sarifText `json:"help"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifResult struct {
		Rule        Code              `json:"ruleId"`
		Index       int               `json:"ruleIndex"`
		Level       string            `json:"level"`
		Message     sarifText         `json:"message"`
		Locations   []sarifLocation   `json:"locations,omitempty"`
		Related     []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprint map[string]string `json:"partialFingerprints,omitempty"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
)

// WriteSARIF writes findings as a SARIF 2.1.0 log with one run, for code scanning
// and for editors. version is pawl's own, or "". The files' names are paths with
// slashes; those that are relative are taken as relative to the repository's root.
// A file in unread makes the run one that did not succeed.
//
// Only rules that a finding names are described, with what [Lookup] knows of
// them. Findings keep their order, and the bytes depend on nothing else.
func WriteSARIF(w io.Writer, version string, list List, unread []Unread) error {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "pawl", Version: version, URI: "https://github.com/pawl-ci/pawl", Rules: []sarifRule{}}},
		ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
		Invocations: []sarifInvocation{{Successful: len(unread) == 0}},
	}
	for _, u := range unread {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{
			Level: "error", Message: sarifText{Text: plain(u.Reason)},
			Locations: []sarifLocation{{Physical: sarifPhysical{Artifact: artifactOf(u.File)}}},
		})
	}
	seen := fingerprints{}
	rules := make(map[Code]int)
	for i := range list {
		d := &list[i]
		index, known := rules[d.Code]
		if !known {
			index = len(rules)
			rules[d.Code] = index
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(d.Code))
		}
		run.Results = append(run.Results, sarifResultOf(d, index, seen))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
	if err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	return nil
}

func sarifRuleOf(code Code) sarifRule {
	rule, known := Lookup(code)
	if !known {
		rule = Rule{Title: string(code), Why: string(code)}
	}
	text := rule.Why
	markdown := rule.Why
	if rule.Bad != "" {
		text += "\n\nWrong:\n\n" + rule.Bad + "\nRight:\n\n" + rule.Good
		markdown += "\n\nWrong:\n\n```\n" + rule.Bad + "```\n\nRight:\n\n```\n" + rule.Good + "```\n"
	}
	return sarifRule{ID: code, Short: sarifText{Text: rule.Title}, Full: sarifText{Text: rule.Why}, Help: sarifText{Text: text, Markdown: markdown}}
}

func sarifResultOf(d *Diagnostic, rule int, seen fingerprints) sarifResult {
	r := sarifResult{Rule: d.Code, Index: rule, Level: d.Severity.String(), Message: sarifText{Text: plain(d.Message)}}
	if d.Hint != "" {
		r.Message.Text += "\nhint: " + plain(d.Hint)
	}
	if !d.Span.IsZero() {
		r.Locations = []sarifLocation{{Physical: physicalOf(d.Span)}}
		r.Fingerprint = map[string]string{"primaryLocationLineHash": seen.of(d)}
	}
	for _, rel := range d.Related {
		if !rel.Span.IsZero() {
			r.Related = append(r.Related, sarifLocation{ID: len(r.Related) + 1, Physical: physicalOf(rel.Span), Message: &sarifText{Text: plain(rel.Message)}})
		}
	}
	return r
}

// plain makes text one line that no viewer takes for a link: `[text](id)` is one
// to a related location. Braces stay single, as viewers read them where a message
// has no arguments.
func plain(text string) string {
	text = strings.ToValidUTF8(clean(text), "\uFFFD")
	if !strings.Contains(text, "](") {
		return text
	}
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`).Replace(text)
}

func physicalOf(s Span) sarifPhysical {
	p := placeOf(s)
	return sarifPhysical{artifactOf(p.File), &sarifRegion{p.Line, p.Column, p.EndLine, p.EndColumn}}
}

// artifactOf names a file as a URI: below the repository's root, or absolute.
func artifactOf(name string) sarifArtifact {
	name = strings.ToValidUTF8(name, "\uFFFD")
	if path.IsAbs(name) {
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: path.Clean(name)}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: path.Clean(name)}).String(), Base: "%SRCROOT%"}
}

// fingerprints count equal findings on equal lines, so that each one keeps an
// identity of its own while lines above it come and go.
type fingerprints map[string]int

func (f fingerprints) of(d *Diagnostic) string {
	line := strings.TrimSpace(d.Span.File.Line(d.Span.Position().Line))
	sum := sha256.Sum256([]byte(d.Span.File.Name + "\x00" + string(d.Code) + "\x00" + line))
	hash := hex.EncodeToString(sum[:8])
	f[hash]++
	return fmt.Sprintf("%s:%d", hash, f[hash])
}
