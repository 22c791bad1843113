//go:build unix

package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner"
)

var (
	_ runner.Tools = (*Tools)(nil)
	_ runner.Shell = (*Shell)(nil)
)

func TestNamesAndAliases(t *testing.T) {
	t.Parallel()
	want := []string{"read_file", "list_files", "search", "write_file", "edit_file", "apply_patch", "delete_file", "move_file", "run_command", "git_diff"}
	if got := Names(); !slices.Equal(got, want) {
		t.Errorf("Names() = %v", got)
	}
	for name, want := range map[string]string{
		"read_file": "read_file", "builtin.read_file": "read_file", "Read": "read_file", "Read-File": "read_file", "search_codebase": "search",
		"patch": "apply_patch", "bash": "run_command", "Bash": "run_command", "Grep": "search", "LS": "list_files", "Glob": "list_files",
		"edit": "edit_file", "str_replace": "edit_file", "git_diff": "git_diff", "mv": "move_file", "delete_file": "delete_file",
	} {
		if got, known := Canonical(name); got != want || !known {
			t.Errorf("Canonical(%q) = %q, %v; want %q", name, got, known, want)
		}
	}
	for _, name := range []string{"", "verify", "builtin.verify", "mcp.server.read_file", "read_file ", "web_search"} {
		if got, known := Canonical(name); known {
			t.Errorf("Canonical(%q) = %q", name, got)
		}
	}
}

func TestNoNameMeansTwoTools(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for i := range builtins {
		b := &builtins[i]
		for _, name := range append(strings.Fields(b.aliases), b.name) {
			if other := seen[name]; other != "" {
				t.Errorf("%s means %s and %s", name, other, b.name)
			}
			seen[name] = b.name
			if !callable().MatchString(name) || name != strings.ToLower(name) {
				t.Errorf("%s is no name", name)
			}
		}
	}
}

func TestSpecs(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	specs, err := b.Specs([]string{"search_codebase", "Read", "builtin.git_diff", "grep", "bash"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range specs {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"search_codebase", "Read", "git_diff", "bash"}) {
		t.Errorf("names are %v", names)
	}
	if _, err := b.Specs([]string{"read_file", "raed_file"}); err == nil || !strings.Contains(err.Error(), `there is no tool "raed_file"; did you mean read_file? one of: apply_patch, `) {
		t.Errorf("an unknown tool: %v", err)
	}
	all, err := b.Specs(Names())
	if err != nil {
		t.Fatal(err)
	}
	writers := "write_file edit_file apply_patch delete_file move_file run_command"
	size := 0
	for i, s := range all {
		if s.Writes != slices.Contains(strings.Fields(writers), s.Name) {
			t.Errorf("%s: writes is %v", s.Name, s.Writes)
		}
		var schema struct {
			Type                 string
			Properties           map[string]struct{ Type, Description string }
			Required             []string
			AdditionalProperties *bool
		}
		d := json.NewDecoder(bytes.NewReader(s.Parameters))
		if err := d.Decode(&schema); err != nil || schema.Type != "object" || schema.Required == nil || *schema.AdditionalProperties {
			t.Errorf("%s: schema %s (%v)", s.Name, s.Parameters, err)
		}
		for name, p := range schema.Properties {
			if p.Description == "" || !slices.Contains([]string{"string", "integer", "boolean"}, p.Type) {
				t.Errorf("%s: %s is %+v", s.Name, name, p)
			}
		}
		again, _ := b.Specs(Names())
		if !bytes.Equal(again[i].Parameters, s.Parameters) {
			t.Errorf("%s: the schema changes", s.Name)
		}
		size += len(s.Name) + len(s.Description) + len(s.Parameters)
	}
	t.Logf("all tools together: %d bytes", size)
	if size > 5000 {
		t.Errorf("%d bytes are paid for in every turn", size)
	}
	const read = `{"type":"object","properties":{"path":{"type":"string","description":"File, relative to the root."},` +
		`"offset":{"type":"integer","description":"First line, from 1.","minimum":1,"maximum":100000000},` +
		`"limit":{"type":"integer","description":"Number of lines.","minimum":1,"maximum":100000000}},"required":["path"],"additionalProperties":false}`
	if string(all[0].Parameters) != read {
		t.Errorf("schema of read_file is %s", all[0].Parameters)
	}
}

// TestWrongArguments calls every tool wrongly in every way. The text must name
// what was wrong and what the tool takes, and nothing may happen.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "a\n"})
	for i := range builtins {
		tool := &builtins[i]
		right := map[string]any{}
		for _, p := range tool.params {
			right[p.name] = map[kind]any{text: "a", number: p.least, flag: true}[p.kind]
		}
		cases := map[string]string{
			`{"`: "not a JSON object", `[1]`: "not a JSON object: they are a JSON array", `"x"`: "they are a JSON string", `7`: "they are a JSON number",
			`{} {}`: "not a JSON object",
		}
		with := func(name string, value any) string {
			m := map[string]any{}
			for k, v := range right {
				m[k] = v
			}
			if m[name] = value; value == nil {
				delete(m, name)
			}
			raw, _ := json.Marshal(m)
			return string(raw)
		}
		cases[with("colour", "red")] = `there is no argument "colour"`
		for _, p := range tool.params {
			cases[with(p.name, []int{1})] = `"` + p.name + `" must be of type ` + string(p.kind) + `, not [1]`
			cases[with(p.name+"x", 1)] = `did you mean "` + p.name + `"?`
			if p.must {
				cases[with(p.name, nil)] = `"` + p.name + `" is missing`
			}
			switch p.kind {
			case text:
				cases[with(p.name, 7)] = `must be of type string, not 7`
			case number:
				cases[with(p.name, 1.5)] = `must be of type integer, not 1.5`
				cases[with(p.name, "many")] = `must be of type integer, not "many"`
				cases[with(p.name, p.least-1)] = `must lie between`
				cases[with(p.name, 1e300)] = `must lie between`
			case flag:
				cases[with(p.name, "perhaps")] = `must be of type boolean, not "perhaps"`
			}
		}
		for raw, want := range cases {
			r, err := b.Call(t.Context(), tool.name, json.RawMessage(raw))
			if err != nil || !r.Error || !strings.Contains(r.Text, want) || !strings.Contains(r.Text, "; "+tool.name+" takes \"") {
				t.Errorf("%s %s: %q, %v; want %q", tool.name, raw, r.Text, err, want)
			}
			b.proper(tool.name, r)
		}
	}
	if got := b.gitRun("status", "--porcelain"); got != "" {
		t.Errorf("something was done: %s", got)
	}
}

func TestArgumentsThatAreAlmostRight(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1\n2\n3\n"})
	b.want(b.call("read_file", "path", "a", "offset", "2", "limit", nil), "2\n3\n", "read a (lines 2–3 of 3)")
	b.want(b.call("read_file", "path", "a", "offset", 2.0), "2\n3\n", "")
	b.want(b.call("edit_file", "path", "a", "old_text", "1", "new_text", "one", "replace_all", "true"), "edited a at line 1", "edit a (+1 −1)")
	for _, raw := range []string{"", "null", "{}", "  "} {
		r, err := b.Call(t.Context(), "list_files", json.RawMessage(raw))
		if err != nil || r.Text != "a" {
			t.Errorf("arguments %q: %q, %v", raw, r.Text, err)
		}
	}
	b.refuse(b.call("raed_file", "path", "a"), `there is no tool "raed_file"; did you mean read_file?`)
}

func TestACancelledCallIsNoResult(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "a\n"})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	for _, c := range []struct{ name, raw string }{
		{"run_command", `{"command":"touch ran"}`}, {"list_files", `{}`}, {"search", `{"pattern":"a"}`}, {"git_diff", `{}`},
	} {
		if _, err := b.Call(ctx, c.name, json.RawMessage(c.raw)); !errors.Is(err, why) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if b.get("ran") != "(none)" {
		t.Error("the command ran")
	}
}

// TestEveryToolStaysInside gives every path argument of every tool names that
// lead out.
func TestEveryToolStaysInside(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "a\n", "dir/b": "b\n"})
	b.put("../secret", "the secret\n")
	b.put(".git/secret", "the secret\n")
	if r := b.call("run_command", "command", "ln -s ../secret out; ln -s .git dot; ln -s /etc etc; mkfifo fifo; ln -s fifo dir/fifo"); r.Error {
		t.Fatal(r.Text)
	}
	names := []string{"../secret", "/etc/passwd", b.root + "/../secret", "out", "etc/passwd", ".git/secret", ".GIT/config", "dot/secret",
		"dot/hooks/x", "dir/../../secret", "", ".git", "\x00", ".git/hooks/pre-commit", "GIT~1/config"}
	for i := range builtins {
		tool := &builtins[i]
		for _, p := range tool.params {
			if p.name != "path" && p.name != "from" && p.name != "to" {
				continue
			}
			for _, name := range names {
				if name == "" && !p.must || name == "out" && p.name != "to" && tool.name != "write_file" && tool.name != "edit_file" && tool.name != "read_file" ||
					tool.name == "git_diff" && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "/") && name != "\x00" {
					continue // the root, the link itself, or a name that git has no file under
				}
				given := map[string]any{"path": "a", "from": "a", "to": "free", "content": "mine", "pattern": "secret", "old_text": "the", "new_text": "my"}
				for key := range given {
					if !slices.Contains(tool.names(), key) {
						delete(given, key)
					}
				}
				given[p.name] = name
				raw, _ := json.Marshal(given)
				r, err := b.Call(t.Context(), tool.name, raw)
				if err != nil || strings.Contains(r.Text, "the secret") || !r.Error {
					t.Errorf("%s %s: %q, %v", tool.name, raw, r.Text, err)
				}
			}
		}
	}
	for _, patch := range []string{
		"--- a/../secret\n+++ b/../secret\n@@ -1 +1 @@\n-the secret\n+mine\n",
		"--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+mine\n",
		"--- a/out\n+++ b/out\n@@ -1 +1 @@\n-the secret\n+mine\n",
		"--- a/dot/secret\n+++ b/dot/secret\n@@ -1 +1 @@\n-the secret\n+mine\n",
		"diff --git a/a b/../a\nrename from a\nrename to ../a\n",
		"diff --git a/a b/.git/a\nrename from a\nrename to .git/a\n",
		"--- /dev/null\n+++ /etc/pawl-test\n@@ -0,0 +1 @@\n+mine\n",
		"--- a/fifo\n+++ b/fifo\n@@ -1 +1 @@\n-a\n+b\n",
	} {
		b.refuse(b.call("apply_patch", "patch", patch), "nothing was changed")
	}
	if b.get("../secret") != "the secret\n" || b.get(".git/secret") != "the secret\n" || b.get(".git/hooks/pre-commit") != "(none)" || b.get("a") != "a\n" {
		t.Error("something outside was changed")
	}
	if r := b.call("search", "pattern", "the secret"); !strings.Contains(r.Text, "no match") {
		t.Errorf("search found %q", r.Text)
	}
	if r := b.call("list_files"); strings.Contains(r.Text, "secret") || strings.Contains(r.Text, "passwd") {
		t.Errorf("listed %q", r.Text)
	}
	b.refuse(b.call("read_file", "path", "fifo"), "named pipe")
	b.refuse(b.call("read_file", "path", "dir/fifo"), "in a circle")
}

func FuzzArguments(f *testing.F) {
	f.Add(`{"path":"a","offset":2,"limit":"3"}`)
	f.Add(`{"path":["a"],"replace_all":"yes","old_text":null}`)
	f.Add(`{"patch":"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n","x":{}}`)
	f.Add(`{"path":"a","path":"b"} x`)
	f.Fuzz(func(t *testing.T, raw string) {
		for i := range builtins {
			b := &builtins[i]
			a, err := b.decode(json.RawMessage(raw))
			if err != nil {
				if !strings.Contains(err.Error(), b.name+" takes") {
					t.Fatalf("%s %q: %v", b.name, raw, err)
				}
				continue
			}
			for _, p := range b.params {
				v, given := a[p.name]
				if p.must && !given {
					t.Fatalf("%s %q: %s is not there", b.name, raw, p.name)
				}
				if n, ok := v.(int); ok && (n < p.least || n > p.most) {
					t.Fatalf("%s %q: %s is %d", b.name, raw, p.name, n)
				}
			}
		}
	})
}
