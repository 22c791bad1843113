package verify

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// repo makes files of "name" → text.
func repo(files map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return m
}

// brief is a list of commands as "dir: line", the root without a dir.
func brief(list []Command) string {
	var all []string
	for _, c := range list {
		s := c.Line
		if c.Dir != "" {
			s = c.Dir + ": " + s
		}
		if c.Reason == "" || c.Name == "" {
			s += " (no reason)"
		}
		all = append(all, s)
	}
	return strings.Join(all, " | ")
}

func TestDetect(t *testing.T) {
	t.Parallel()
	const unit = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
	const bare = "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
	script := func(s string) string { return `{"scripts": {"test": "` + s + `"}}` }
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"empty", nil, ""},
		{"go", map[string]string{"go.mod": "module x", "sub/go.mod": "module y"}, "go test ./..."},
		{"go.work", map[string]string{"go.work": "go 1.22\nuse ./a // first\nuse (\n\t./b\n\t\"./c d\"\n\t../outside\n\t./missing\n)\n",
			"a/go.mod": "", "b/go.mod": "", "c d/go.mod": ""}, "a: go test ./... | b: go test ./... | c d: go test ./..."},
		{"npm", map[string]string{"package.json": script("node --test")}, "CI=true npm test"},
		{"npm placeholder", map[string]string{"package.json": script(`echo \"Error: no test specified\" && exit 1`)}, ""},
		{"no script", map[string]string{"package.json": `{"name": "x"}`}, ""},
		{"empty script", map[string]string{"package.json": script(" ")}, ""},
		{"pnpm by lockfile", map[string]string{"package.json": script("vitest"), "pnpm-lock.yaml": ""}, "CI=true pnpm test"},
		{"yarn by lockfile", map[string]string{"package.json": script("jest"), "yarn.lock": "", "package-lock.json": ""}, "CI=true yarn test"},
		{"bun by lockfile", map[string]string{"package.json": script("bun test"), "bun.lockb": ""}, "CI=true bun run test"},
		{"packageManager wins", map[string]string{"package.json": `{"packageManager":"yarn@4.1.0+sha256.x","scripts":{"test":"x"}}`, "pnpm-lock.yaml": ""}, "CI=true yarn test"},
		{"unknown packageManager", map[string]string{"package.json": `{"packageManager":"evil; rm -rf /","scripts":{"test":"x"}}`}, "CI=true npm test"},
		{"package.json of odd types", map[string]string{"package.json": `{"scripts":{"test":["x"]},"packageManager":7}`}, ""},
		{"broken package.json", map[string]string{"package.json": `{"scripts":`}, ""},
		{"package.json with a byte order mark", map[string]string{"package.json": "\ufeff" + script("x")}, "CI=true npm test"},
		{"pytest configured", map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n"}, "python3 -m pytest -q"},
		{"pytest required", map[string]string{"requirements.txt": "pytest-cov>=4\n", "tests/test_a.py": unit}, "python3 -m pytest -q"},
		{"pytest in a comment", map[string]string{"requirements.txt": "# pytest later\n", "tests/test_a.py": unit}, "python3 -m unittest discover -s tests"},
		{"pytest in another name", map[string]string{"pyproject.toml": "[tool.ruff.flake8-pytest-style]\n", "tests/test_a.py": unit}, "python3 -m unittest discover -s tests"},
		{"pytest imported", map[string]string{"tests/test_a.py": unit, "tests/test_b.py": "import pytest\n"}, "python3 -m pytest -q"},
		{"bare functions", map[string]string{"test_calc.py": bare, "calc.py": ""}, "python3 -m pytest -q"},
		{"bare and unittest", map[string]string{"test_a.py": unit, "test_b.py": bare}, "python3 -m pytest -q"},
		{"unittest in the root", map[string]string{"test_a.py": unit}, "python3 -m unittest discover"},
		{"unittest in a package", map[string]string{"tests/__init__.py": "", "tests/test_a.py": unit}, "python3 -m unittest discover"},
		{"unittest deeper", map[string]string{"setup.py": "", "tests/unit/test_a.py": unit, "tests/pkg/__init__.py": "", "tests/pkg/a_test.py": unit},
			"python3 -m unittest discover -s tests -p '*_test.py' | python3 -m unittest discover -s tests/unit"},
		{"unittest in a strange place", map[string]string{"tests/it's/test_a.py": unit}, `python3 -m unittest discover -s './tests/it'\''s'`},
		{"python without tests", map[string]string{"pyproject.toml": "[project]\nname='x'\n", "x.py": ""}, ""},
		{"a script is no project", map[string]string{"scripts/test_x.py": unit, "go.mod": ""}, "go test ./..."},
		{"tests of others", map[string]string{"setup.py": "", "venv/lib/test_x.py": unit, "node_modules/y/test_y.py": unit}, ""},
		{"cargo", map[string]string{"Cargo.toml": "[package]\n"}, "cargo test"},
		{"cargo workspace", map[string]string{"Cargo.toml": "[package]\n[workspace]\n"}, "cargo test --workspace"},
		{"cargo virtual workspace", map[string]string{"Cargo.toml": "[workspace]\nmembers=[]\n"}, "cargo test"},
		{"make test", map[string]string{"Makefile": ".PHONY: test\nall: x\nlint test: all\n\techo\n"}, "make test"},
		{"make check", map[string]string{"makefile": "check:\n\techo\n", "Makefile": "test:\n"}, "make check"},
		{"make variables", map[string]string{"Makefile": "test := x\ntest = y\nTEST: test\n"}, ""},
		{"make beside a language", map[string]string{"Makefile": "test:\n\ttrue\n", "go.mod": ""}, "go test ./..."},
		{"make beside a manifest without tests", map[string]string{"Makefile": "test:\n\ttrue\n", "package.json": "{}"}, "make test"},
		{"all languages", map[string]string{"go.mod": "", "package.json": script("x"), "tests/test_a.py": unit, "Cargo.toml": ""},
			"go test ./... | CI=true npm test | python3 -m unittest discover -s tests | cargo test"},
		{"one level down", map[string]string{"b/package.json": script("x"), "a/go.mod": "", "c/d/go.mod": "", "node_modules/e/package.json": script("x"), ".f/go.mod": "",
			"p/tests/test_x.py": unit, "m/Makefile": "test:\n"},
			"a: go test ./... | b: CI=true npm test | m: make test | p: python3 -m unittest discover -s tests"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := brief(Detect(repo(tt.files))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestDetectReadsOnlyRegularFiles(t *testing.T) {
	t.Parallel()
	m := fstest.MapFS{
		"go.mod":       {Mode: fs.ModeDir | 0o755},
		"Cargo.toml":   {Mode: fs.ModeNamedPipe | 0o644},
		"package.json": {Data: []byte(strings.Repeat(" ", maxFile) + `{"scripts":{"test":"x"}}`), Mode: 0o644},
	}
	if got := Detect(m); len(got) > 0 {
		t.Errorf("found %v", got)
	}
}

func TestDetectIsBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{"setup.py": "", "pytest.ini": ""}
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		for _, d := range "abcdefghijklmnopqrstuvwxyz" {
			for _, e := range "abcdef" {
				files[path.Join(string(c), string(d), string(e), "test_x.py")] = "def test_x(): pass\n"
			}
		}
	}
	if got := (directory{repo(files), "."}).pythonFiles(); len(got) > maxSources {
		t.Errorf("%d files", len(got))
	}
}

func FuzzDetect(f *testing.F) {
	f.Add(`{"scripts":{"test":"jest"},"packageManager":"pnpm@8"}`, "use ./a\nuse (\n./b\n)", "test:\n", "[tool.pytest]", "import unittest")
	f.Add(`{"scripts":{"test":{"a":[1,2,{}]}}}`, "use(\n../..\n/abs\n", "test check: x\n\t@:\n", "[workspace]", "def test_x(): pass")
	f.Add("\x00\xff{", "use `", ":::=", "[", "class T(TestCase)")
	f.Fuzz(func(t *testing.T, pkg, work, makefile, toml, py string) {
		for _, c := range Detect(repo(map[string]string{"package.json": pkg, "go.work": work, "a/go.mod": "", "Makefile": makefile,
			"pyproject.toml": toml, "Cargo.toml": toml, "tests/test_a.py": py, "sub/package.json": pkg})) {
			if c.Line == "" || c.Reason == "" || c.Name == "" || strings.ContainsAny(c.Line, "\n;&|`$") || strings.HasPrefix(c.Dir, "..") || path.IsAbs(c.Dir) {
				t.Errorf("bad command %+v", c)
			}
		}
	})
}
