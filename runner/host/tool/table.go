package tool

import (
	"context"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner"
)

// builtin is one tool. Descriptions are paid for in every turn: they are short.
type builtin struct {
	name    string
	aliases string // names that other agents use for it, separated by blanks
	about   string
	params  []param
	writes  bool // may change the worktree
	run     func(*Tools, context.Context, args) (runner.ToolResult, error)
}

const runCommand = "run_command"

// millions is more lines than a file that is changed can have.
const millions = 100_000_000

var pathParam = param{name: "path", kind: text, must: true, about: "File, relative to the root."}

var builtins = []builtin{
	{
		name: "read_file", aliases: "read view view_file open_file cat get_file_contents",
		about: "Reads a text file, at most 32 KiB a call, as it is and without line numbers. Go on with offset.",
		params: []param{pathParam,
			{name: "offset", kind: number, about: "First line, from 1.", least: 1, most: millions},
			{name: "limit", kind: number, about: "Number of lines.", least: 1, most: millions}},
		run: (*Tools).readFile,
	},
	{
		name: "list_files", aliases: "list_dir list_directory ls glob find_files tree",
		about: "Lists files that git tracks or would track; folders too deep to show are given with their number of files.",
		params: []param{
			{name: "path", kind: text, about: "Folder; the root if left out."},
			{name: "glob", kind: text, about: "Only files that match, e.g. *.go or src/**/*.ts."},
			{name: "depth", kind: number, about: "How many levels to open.", least: 1, most: 100}},
		run: (*Tools).listFiles,
	},
	{
		name: "search", aliases: "search_codebase search_code search_files code_search grep grep_search ripgrep",
		about: "Finds lines that match a regular expression (RE2; (?i) ignores case) in files that git tracks or would track.",
		params: []param{
			{name: "pattern", kind: text, must: true, about: "Regular expression."},
			{name: "path", kind: text, about: "Folder or file; everything if left out."},
			{name: "glob", kind: text, about: "Only files that match, e.g. *.go or src/**/*.ts."},
			{name: "context", kind: number, about: "Lines to show around each match.", least: 0, most: 20}},
		run: (*Tools).search,
	},
	{
		name: "write_file", aliases: "write create_file save_file file_write",
		about:  "Creates a file or replaces all of its content. To change a part, use edit_file.",
		params: []param{pathParam, {name: "content", kind: text, must: true, about: "The whole content."}},
		writes: true, run: (*Tools).writeFile,
	},
	{
		name: "edit_file", aliases: "edit str_replace replace_in_file file_edit",
		about: "Replaces a piece of a file. old_text must be in the file exactly once.",
		params: []param{pathParam,
			{name: "old_text", kind: text, must: true, about: "The present text, exactly, with its indentation."},
			{name: "new_text", kind: text, must: true, about: "What to put there."},
			{name: "replace_all", kind: flag, about: "Replace every occurrence."}},
		writes: true, run: (*Tools).editFile,
	},
	{
		name: "apply_patch", aliases: "patch apply_diff",
		about:  "Applies a unified diff (---, +++, @@) to any number of files: all of it, or nothing if a hunk does not fit.",
		params: []param{{name: "patch", kind: text, must: true, about: "The diff, as git diff writes it."}},
		writes: true, run: (*Tools).applyPatch,
	},
	{
		name: "delete_file", aliases: "remove_file rm delete", about: "Deletes a file.",
		params: []param{pathParam}, writes: true, run: (*Tools).deleteFile,
	},
	{
		name: "move_file", aliases: "rename_file mv move rename", about: "Moves or renames a file or folder; the new name must be free.",
		params: []param{
			{name: "from", kind: text, must: true, about: "Present name, relative to the root."},
			{name: "to", kind: text, must: true, about: "New name, relative to the root."}},
		writes: true, run: (*Tools).moveFile,
	},
	{
		name: runCommand, aliases: "bash shell sh exec execute_command run_shell_command run_terminal_cmd shell_exec",
		about: "Runs a command line with sh in the root. There is no input and no terminal; background processes end with it. " +
			"Of long output the beginning, the end and lines that look like failures are shown.",
		params: []param{
			{name: "command", kind: text, must: true, about: "The command line."},
			{name: "timeout_seconds", kind: number, about: "Stop it after this time.", least: 1, most: 86400}},
		writes: true, run: (*Tools).runCommand,
	},
	{
		name: "git_diff", aliases: "diff",
		about:  "Shows what this run has changed so far, new files included, as a diff against the commit it began with.",
		params: []param{{name: "path", kind: text, about: "Only this file or folder."}},
		run:    (*Tools).gitDiff,
	},
}

// Names are the proper names of all tools.
func Names() []string {
	names := make([]string, len(builtins))
	for i := range builtins {
		names[i] = builtins[i].name
	}
	return names
}

// Writes reports whether the tool of that name, proper or other, may change the
// worktree; false of names that no tool has.
func Writes(name string) bool {
	proper, known := Canonical(name)
	if !known {
		return false
	}
	return builtins[slices.IndexFunc(builtins, func(b builtin) bool { return b.name == proper })].writes
}

// Canonical is the proper name of a tool. Names that other agents use are
// understood, in any case, with dashes, and with a leading "builtin.".
func Canonical(name string) (proper string, known bool) {
	name = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "builtin.")), "-", "_")
	for i := range builtins {
		if b := &builtins[i]; b.name == name {
			return b.name, true
		}
	}
	for i := range builtins {
		for alias := range strings.FieldsSeq(builtins[i].aliases) {
			if alias == name {
				return builtins[i].name, true
			}
		}
	}
	return "", false
}

// find is the tool of that proper name.
func find(proper string) *builtin {
	for i := range builtins {
		if builtins[i].name == proper {
			return &builtins[i]
		}
	}
	return nil
}
