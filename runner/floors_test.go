package runner_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The table of floors in docs/architecture.md is the one source of truth; these
// tests compare it with the code.
const (
	floorsPage   = "../docs/architecture.md"
	floorsModule = "github.com/pawl-ci/pawl"
	floorsHelp   = "the table of floors is in docs/architecture.md: change the code, or the table with an argument in the commit"
)

// floorsRoom is one row of the table.
type floorsRoom struct {
	floor    int
	path     string // relative to the module
	allBelow bool
	imports  []string // short names
}

func (r floorsRoom) String() string { return fmt.Sprintf("%s (floor %d)", r.path, r.floor) }

// short is what other rows call the room.
func (r floorsRoom) short() string { return path.Base(r.path) }

// kit reports whether only tests import the room.
func (r floorsRoom) kit() bool { return strings.HasSuffix(r.path, "test") }

// may reports whether the table lets r import other, and if not, why.
func (r floorsRoom) may(other floorsRoom) (ok bool, why string) {
	switch {
	case other.kit():
		return false, "it is a test kit"
	case other.floor >= r.floor:
		return false, "it is not on a lower floor"
	case !r.allBelow && !slices.Contains(r.imports, other.short()):
		return false, "its row does not list it"
	}
	return true, ""
}

// floorsTable is the table, by path.
type floorsTable map[string]floorsRoom

var (
	floorsRow  = regexp.MustCompile("^\\| (\\d+) \\| `([^`]+)`(?: \\*\\(planned\\)\\*)? \\| ([^|]+) \\| ([^|]+) \\|$")
	floorsName = regexp.MustCompile("`([a-z]+)`")
)

func readFloors(t *testing.T) floorsTable {
	t.Helper()
	page, err := os.ReadFile(floorsPage)
	if err != nil {
		t.Fatal(err)
	}
	table := make(floorsTable)
	for i, line := range strings.Split(string(page), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| floor |") || strings.HasPrefix(line, "| --- |") {
			continue
		}
		m := floorsRow.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("docs/architecture.md:%d: a row reads | floor | `room` | what lives here | `import` … |, not %s", i+1, line)
		}
		room := floorsRoom{path: m[2], allBelow: strings.TrimSpace(m[4]) == "all below"}
		room.floor, _ = strconv.Atoi(m[1])
		for _, name := range floorsName.FindAllStringSubmatch(m[4], -1) {
			room.imports = append(room.imports, name[1])
		}
		if !room.allBelow && len(room.imports) == 0 && strings.TrimSpace(m[4]) != "–" {
			t.Errorf("docs/architecture.md:%d: may import: `room` `room` …, \"all below\" or \"–\", not %q", i+1, m[4])
		}
		if _, twice := table[room.path]; twice {
			t.Errorf("docs/architecture.md:%d: %s has a row already", i+1, room.path)
		}
		table[room.path] = room
	}
	if len(table) < 10 {
		t.Fatalf("docs/architecture.md: found %d rooms in the table of floors; did its form change?", len(table))
	}
	return table
}

// floorsPackage is what the code says about a room.
type floorsPackage struct {
	path  string // relative to the module
	files []floorsFile
}

// floorsFile is one file that is no test, for whatever system it is built.
type floorsFile struct {
	name   string // relative to the module
	fset   *token.FileSet
	syntax *ast.File
}

func (f floorsFile) at(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.name, f.fset.Position(pos).Line)
}

// imports are the import paths of the file with the names they have in it.
func (f floorsFile) imports() map[string]*ast.ImportSpec {
	specs := make(map[string]*ast.ImportSpec)
	for _, spec := range f.syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			specs[p] = spec
		}
	}
	return specs
}

func listPackages(t *testing.T) []floorsPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,CgoFiles,IgnoredGoFiles", "./...")
	cmd.Dir = ".."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []floorsPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath, Dir                   string
			GoFiles, CgoFiles, IgnoredGoFiles []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatalf("go list: %v", err)
		}
		pkg := floorsPackage{path: strings.TrimPrefix(p.ImportPath, floorsModule+"/")}
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles) {
			if !strings.HasSuffix(name, "_test.go") {
				pkg.files = append(pkg.files, readFloorsFile(t, p.Dir, pkg.path, name))
			}
		}
		packages = append(packages, pkg)
	}
	return packages
}

func readFloorsFile(t *testing.T, dir, pkg, name string) floorsFile {
	t.Helper()
	f := floorsFile{name: path.Join(pkg, name), fset: token.NewFileSet()}
	syntax, err := parser.ParseFile(f.fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("read %s: %v", f.name, err)
	}
	f.syntax = syntax
	return f
}

// The table must hold together before it can judge anything.
func TestFloorsTable(t *testing.T) {
	t.Parallel()
	table := readFloors(t)
	byShort := make(map[string]floorsRoom)
	for _, room := range table {
		if other, taken := byShort[room.short()]; taken {
			t.Errorf("%s and %s have the same short name; %s", room, other, floorsHelp)
		}
		byShort[room.short()] = room
	}
	for _, room := range table {
		for _, name := range room.imports {
			other, known := byShort[name]
			if !known {
				t.Errorf("the row of %s lists %q, and no room is called that; %s", room, name, floorsHelp)
				continue
			}
			if other.floor >= room.floor {
				t.Errorf("the row of %s lists %s, which is not on a lower floor; %s", room, other, floorsHelp)
			}
		}
	}
}

func TestFloors(t *testing.T) {
	t.Parallel()
	table := readFloors(t)
	for _, pkg := range listPackages(t) {
		room, known := table[pkg.path]
		if !known {
			if len(pkg.files) > 0 {
				t.Errorf("%s is in no row of the table; %s", pkg.path, floorsHelp)
			}
			continue
		}
		for _, file := range pkg.files {
			for imported, spec := range file.imports() {
				name, ours := strings.CutPrefix(imported, floorsModule+"/")
				if !ours {
					continue
				}
				other, known := table[name]
				if !known {
					t.Errorf("%s: %s imports %s, which is in no row of the table; %s", file.at(spec.Pos()), room, name, floorsHelp)
				} else if ok, why := room.may(other); !ok {
					t.Errorf("%s: %s may not import %s: %s; %s", file.at(spec.Pos()), room, other, why, floorsHelp)
				}
			}
		}
	}
}

var floorsSaid = regexp.MustCompile(`floor\s+(\d+)`)

// Each package says in its own documentation where it stands.
func TestFloorsInPackageComments(t *testing.T) {
	t.Parallel()
	table := readFloors(t)
	for _, pkg := range listPackages(t) {
		room, known := table[pkg.path]
		if !known || len(pkg.files) == 0 {
			continue
		}
		var comment strings.Builder
		for _, file := range pkg.files {
			comment.WriteString(file.syntax.Doc.Text())
		}
		m := floorsSaid.FindStringSubmatch(comment.String())
		if m == nil {
			t.Errorf("the package comment of %s does not say that it stands on floor %d", pkg.path, room.floor)
		} else if m[1] != strconv.Itoa(room.floor) {
			t.Errorf("the package comment of %s says floor %s, the table says %d; %s", pkg.path, m[1], room.floor, floorsHelp)
		}
	}
}

// impure are packages of the standard library, with all below them, that reach
// outside the process or differ from one run to the next.
var impure = []string{"os", "net", "syscall", "log", "flag", "plugin", "math/rand", "crypto/rand", "runtime/debug", "testing"}

// pureAbove are the rooms above floor 2 that are pure all the same: what reads
// workflows, and what draws reports.
var pureAbove = []string{"runner/lang/assist", "runner/lang/check", "runner/lang/front", "runner/lang/syntax/format", "runner/lang/recipe", "report/diagram", "report/page"}

// pure reports whether r is a pure function over values.
func (r floorsRoom) pure() bool {
	return r.floor <= 2 || slices.Contains(pureAbove, r.path)
}

func TestPureFloors(t *testing.T) {
	t.Parallel()
	table := readFloors(t)
	for _, pkg := range listPackages(t) {
		room, known := table[pkg.path]
		if !known || !room.pure() {
			continue
		}
		for _, file := range pkg.files {
			for imported, spec := range file.imports() {
				for _, banned := range impure {
					if reaches(imported, banned) {
						t.Errorf("%s: %s imports %s, but it is a pure room; take what it gives as an argument", file.at(spec.Pos()), room, imported)
					}
				}
			}
		}
	}
}

// reaches reports whether imported is banned or lies below it; net/url and
// net/netip only take text apart.
func reaches(imported, banned string) bool {
	if imported == "net/url" || imported == "net/netip" {
		return false
	}
	return imported == banned || strings.HasPrefix(imported, banned+"/")
}

// forbidden are the words of the standard library that only some rooms may say.
var forbidden = []struct {
	pkg   string
	names []string // none means the import itself
	rooms []string // path prefixes that may
	help  string
}{
	{"time", []string{"Now", "Since", "Until", "Sleep", "After", "Tick"}, worldly, "take a runner.Clock or a time as an argument"},
	{"math/rand", nil, worldly, "take the value as an argument"},
	{"math/rand/v2", nil, worldly, "take the value as an argument"},
	{"crypto/rand", nil, worldly, "take the value as an argument"},
	{"os", []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv", "Args"}, []string{"cmd/"}, "only cmd reads the environment and the arguments; take the value as an argument"},
}

var worldly = []string{"cmd/", "runner/host/", "gates/github", "gates/local"}

func TestForbiddenCalls(t *testing.T) {
	t.Parallel()
	for _, pkg := range listPackages(t) {
		for _, rule := range forbidden {
			if slices.ContainsFunc(rule.rooms, func(prefix string) bool { return strings.HasPrefix(pkg.path, prefix) }) {
				continue
			}
			for _, file := range pkg.files {
				spec, imported := file.imports()[rule.pkg]
				if !imported {
					continue
				}
				if rule.names == nil {
					t.Errorf("%s: %s imports %s, which belongs to %s; %s", file.at(spec.Pos()), pkg.path, rule.pkg, strings.Join(rule.rooms, ", "), rule.help)
					continue
				}
				for _, use := range uses(file, spec, rule.names) {
					t.Errorf("%s: %s uses %s.%s, which belongs to %s; %s", file.at(use.Pos()), pkg.path, rule.pkg, use.Sel.Name, strings.Join(rule.rooms, ", "), rule.help)
				}
			}
		}
	}
}

// uses are the places where file says one of names of the package behind spec.
func uses(file floorsFile, spec *ast.ImportSpec, names []string) []*ast.SelectorExpr {
	local := path.Base(strings.Trim(spec.Path.Value, `"`))
	if spec.Name != nil {
		local = spec.Name.Name
	}
	var found []*ast.SelectorExpr
	ast.Inspect(file.syntax, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == local && slices.Contains(names, sel.Sel.Name) {
			found = append(found, sel)
		}
		return true
	})
	return found
}
