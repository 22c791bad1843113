package verify

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Bounds of the search for Python tests.
const (
	maxEntries = 2000
	maxDepth   = 5
	maxSources = 100
)

// pythonTests is what the files of a directory say about its Python tests.
type pythonTests struct {
	pytest string   // why pytest, or ""
	plain  string   // a file with bare test functions, which only pytest runs
	unit   []string // files with unittest classes, relative to the directory
}

// detectPython chooses by evidence: pytest when it is configured, required or
// imported, or when there are bare test functions; else unittest.
func detectPython(d directory) []Command {
	files := d.pythonFiles()
	if !d.isPython(files) {
		return nil
	}
	tests := d.readPython(files)
	switch {
	case tests.pytest != "" && (len(files) > 0 || d.pytestConfig() != ""):
		return []Command{d.command("python", "python3 -m pytest -q", "", tests.pytest)}
	case tests.plain != "":
		return []Command{d.command("python", "python3 -m pytest -q", "", tests.plain+" has bare test functions")}
	}
	var found []Command
	for _, file := range tests.unit {
		line := d.discover(file)
		if !slices.ContainsFunc(found, func(c Command) bool { return c.Line == line }) {
			found = append(found, d.command("python", line, "", file+" uses unittest"))
		}
	}
	return found
}

// isPython tells a Python project from one that merely has a script somewhere.
func (d directory) isPython(tests []string) bool {
	for _, name := range []string{"pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "requirements.txt", "requirements-dev.txt", "Pipfile", "conftest.py"} {
		if d.has(name) {
			return true
		}
	}
	return slices.ContainsFunc(tests, func(file string) bool {
		top, _, below := strings.Cut(file, "/")
		return !below || top == "tests" || top == "test"
	})
}

// pythonFiles lists files that are named like tests, by path.
func (d directory) pythonFiles() []string {
	var files []string
	left := maxEntries
	_ = fs.WalkDir(d.fsys, d.dir, func(p string, e fs.DirEntry, err error) error {
		if left--; left < 0 || len(files) >= maxSources {
			return fs.SkipAll
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(p, d.dir), "/")
		switch {
		case err != nil:
			return nil // an unreadable directory has no evidence
		case e.IsDir() && p != d.dir && (foreign(e.Name()) || strings.Count(rel, "/") >= maxDepth):
			return fs.SkipDir
		case e.Type().IsRegular() && testFile(e.Name()):
			files = append(files, rel)
		}
		return nil
	})
	slices.Sort(files)
	return files
}

func testFile(name string) bool {
	return strings.HasSuffix(name, ".py") && (strings.HasPrefix(name, "test") || strings.HasSuffix(name, "_test.py"))
}

// pytestConfig names the place where pytest is configured, or "".
func (d directory) pytestConfig() string {
	for _, name := range []string{"pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"} {
		if d.has(name) {
			return name
		}
	}
	for _, in := range []struct{ file, section string }{{"pyproject.toml", "[tool.pytest"}, {"setup.cfg", "[tool:pytest]"}, {"tox.ini", "[pytest]"}} {
		if text, ok := d.read(in.file); ok && strings.Contains(text, in.section) {
			return in.file + " configures pytest"
		}
	}
	return ""
}

var (
	needsPytest    = pattern(`(?m)^(?:[^#\n]*["'\s])?pytest[-\w]*(?:[\[<>=~!;,"'\s]|$)`)
	importPytest   = pattern(`(?m)^\s*(import|from)\s+pytest\b`)
	importUnittest = pattern(`(?m)^\s*(import|from)\s+(unittest|twisted\.trial|django\.test)\b|\bTestCase\b`)
	bareTest       = pattern(`(?m)^(async\s+)?def\s+test\w*\s*\(`)
)

func (d directory) readPython(files []string) pythonTests {
	tests := pythonTests{pytest: d.pytestConfig()}
	for _, name := range []string{"pyproject.toml", "tox.ini", "setup.cfg", "setup.py", "Pipfile", "requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "test-requirements.txt"} {
		if text, ok := d.read(name); ok && tests.pytest == "" && needsPytest().MatchString(text) {
			tests.pytest = name + " names pytest"
		}
	}
	for _, file := range files {
		text, ok := d.read(file)
		switch {
		case !ok:
		case importPytest().MatchString(text) && tests.pytest == "":
			tests.pytest = file + " imports pytest"
		case importUnittest().MatchString(text):
			tests.unit = append(tests.unit, file)
		case bareTest().MatchString(text) && tests.plain == "":
			tests.plain = file
		}
	}
	return tests
}

// discover is the unittest command that finds file. unittest goes down only into
// packages, so the search starts at the file's first directory above that is none.
func (d directory) discover(file string) string {
	start := path.Dir(file)
	for start != "." && d.has(path.Join(start, "__init__.py")) {
		start = path.Dir(start)
	}
	line := "python3 -m unittest discover"
	if start != "." {
		line += " -s " + quote(start)
	}
	if !strings.HasPrefix(path.Base(file), "test") {
		line += " -p '*_test.py'"
	}
	return line
}

var plainWord = pattern(`^[A-Za-z0-9_./][A-Za-z0-9_./-]*$`)

// quote makes s one word for sh.
func quote(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll("./"+s, "'", `'\''`) + "'"
}
