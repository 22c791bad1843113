package verify

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Command is one way to test a part of a repository.
type Command struct {
	Name   string // what runs the tests: go, npm, pnpm, yarn, bun, python, cargo, make
	Line   string // for sh
	Dir    string // relative to the repository's root with slashes; "" is the root
	Reason string // the file that says so, and what in it
}

// Detect lists the commands that test the repository in fsys, at most one group
// per language, in the order Go, Node, Python, Rust, Make. It reads a bounded
// number of files and runs nothing.
//
//   - All languages found in the root count. Only when the root has none, the
//     directories one level below it are looked at, each on its own. Go modules
//     that a go.work names are all tested; other nested modules are not.
//   - A Makefile counts only where nothing else was found: a language's own runner
//     reports how many tests ran, needs no make, and cannot be narrowed down by
//     editing a recipe. Who wants `make test` all the same lists it as a command.
//   - A package.json counts when it has a test script of its own.
func Detect(fsys fs.FS) []Command {
	if found := detectDir(fsys, "."); len(found) > 0 {
		return found
	}
	var found []Command
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && !foreign(e.Name()) {
			found = append(found, detectDir(fsys, e.Name())...)
		}
	}
	return found
}

// foreign reports whether a directory holds other people's or generated files.
func foreign(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"node_modules", "vendor", "testdata", "target", "dist", "build",
		"third_party", "venv", "env", "site-packages", "__pycache__"}, name)
}

func detectDir(fsys fs.FS, dir string) []Command {
	d := directory{fsys, dir}
	var found []Command
	for _, detect := range []func(directory) []Command{detectGo, detectNode, detectPython, detectRust} {
		found = append(found, detect(d)...)
	}
	if len(found) == 0 {
		found = detectMake(d)
	}
	return found
}

// directory is a place where commands are looked for.
type directory struct {
	fsys fs.FS
	dir  string // "." is the root
}

const maxFile = 1 << 20 // bytes; a longer file is no manifest

// read returns a file's text; ok is false for what is missing, no regular file
// (reading a named pipe would wait for ever) or too long.
func (d directory) read(name string) (text string, ok bool) {
	name = path.Join(d.dir, name)
	st, err := fs.Stat(d.fsys, name)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxFile {
		return "", false
	}
	b, err := fs.ReadFile(d.fsys, name)
	return string(b), err == nil && len(b) <= maxFile
}

func (d directory) has(name string) bool {
	st, err := fs.Stat(d.fsys, path.Join(d.dir, name))
	return err == nil && st.Mode().IsRegular()
}

// command makes a Command that runs here, or in sub below.
func (d directory) command(name, line, sub, reason string) Command {
	dir := path.Join(d.dir, sub)
	if dir == "." {
		dir = ""
	}
	return Command{Name: name, Line: line, Dir: dir, Reason: reason}
}

func detectGo(d directory) []Command {
	if work, ok := d.read("go.work"); ok {
		var found []Command
		for _, dir := range usedModules(work) {
			if d.has(path.Join(dir, "go.mod")) {
				found = append(found, d.command("go", "go test ./...", dir, "go.work uses "+dir))
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	if d.has("go.mod") {
		return []Command{d.command("go", "go test ./...", "", "go.mod")}
	}
	return nil
}

// usedModules lists the directories of a go.work's use lines that lie below it.
func usedModules(work string) []string {
	var dirs []string
	block := false
	for _, line := range strings.Split(work, "\n") {
		line, _, _ = strings.Cut(line, "//")
		words := goWords(line)
		switch {
		case len(words) == 0:
			continue
		case block && words[0] == ")":
			block = false
			continue
		case words[0] == "use" && len(words) > 1 && words[1] == "(", words[0] == "use(":
			block = true
			continue
		case words[0] == "use" && len(words) > 1:
			words = words[1:]
		case !block:
			continue
		}
		dir := path.Clean(words[0])
		if len(dirs) < maxModules && fs.ValidPath(dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

const maxModules = 200 // of one go.work

var goWord = pattern("\"[^\"]*\"|`[^`]*`|\\S+")

// goWords splits a line of a go.work; a path with spaces stands in quotes.
func goWords(line string) []string {
	words := goWord().FindAllString(line, -1)
	for i := range words {
		words[i] = strings.Trim(words[i], "\"`")
	}
	return words
}

func detectRust(d directory) []Command {
	text, ok := d.read("Cargo.toml")
	if !ok {
		return nil
	}
	if hasTable(text, "workspace") && hasTable(text, "package") {
		// Without the flag a root package hides the other members.
		return []Command{d.command("cargo", "cargo test --workspace", "", "Cargo.toml with a workspace")}
	}
	return []Command{d.command("cargo", "cargo test", "", "Cargo.toml")}
}

// hasTable reports whether a TOML text has the table [name], or one inside it.
func hasTable(text, name string) bool {
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "["+name+"]") || strings.HasPrefix(line, "["+name+".") {
			return true
		}
	}
	return false
}

var makeTarget = pattern(`(?m)^([A-Za-z0-9_./% -]+?)[ \t]*::?([^=]|$)`)

func detectMake(d directory) []Command {
	for _, file := range []string{"GNUmakefile", "makefile", "Makefile"} {
		text, ok := d.read(file)
		if !ok {
			continue
		}
		var targets []string
		for _, m := range makeTarget().FindAllStringSubmatch(text, -1) {
			targets = append(targets, strings.Fields(m[1])...)
		}
		for _, target := range []string{"test", "check"} {
			if slices.Contains(targets, target) {
				return []Command{d.command("make", "make "+target, "", file+" has a target "+target)}
			}
		}
		return nil // make reads only the first of them
	}
	return nil
}

// manifest is what matters of a package.json; every part may be of any type.
type manifest struct {
	Scripts        map[string]any `json:"scripts"`
	PackageManager any            `json:"packageManager"`
}

// lockfiles say which package manager a repository uses.
var lockfiles = []struct{ file, manager string }{
	{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"},
	{"package-lock.json", "npm"}, {"npm-shrinkwrap.json", "npm"},
}

func detectNode(d directory) []Command {
	text, ok := d.read("package.json")
	if !ok {
		return nil
	}
	var m manifest
	if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &m); err != nil {
		return nil
	}
	script, _ := m.Scripts["test"].(string)
	if strings.TrimSpace(script) == "" || strings.Contains(script, "no test specified") {
		return nil
	}
	manager, why := "npm", ""
	for _, l := range lockfiles {
		if d.has(l.file) {
			manager, why = l.manager, "; "+l.file
			break
		}
	}
	if field, _ := m.PackageManager.(string); field != "" {
		name, _, _ := strings.Cut(field, "@")
		if slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, name) {
			manager, why = name, "; packageManager "+name
		}
	}
	line := manager + " test"
	if manager == "bun" {
		line = "bun run test" // `bun test` is bun's own runner, not the script
	}
	// CI keeps runners from watching for changes and from writing new snapshots.
	return []Command{d.command(manager, "CI=true "+line, "", "package.json has a test script"+why)}
}
