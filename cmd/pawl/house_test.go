package main_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The sizes of the house. A room that does not fit is two rooms, a function that
// does not fit is two ideas.
const (
	houseFunctionCap    = 80 // lines; above it only with //house:long and a reason
	houseFunctionMedian = 12
	houseFunctionP90    = 42
	houseFileCap        = 500
	housePackageCap     = 1800
)

// largeRooms are packages that may be larger, each for a reason of its own.
var largeRooms = map[string]struct {
	cap    int
	reason string
}{
	"report":                {2100, "one fold of one record: what an event means for a summary is said once"},
	"report/page":           {2000, "one page: sections share the words and tables that make it safe to show strangers' text"},
	"cmd/pawl/work":         {2200, "one attempt: every port is wired from the same flags, and parting them would pass them all along"},
	"runner/event":          {2100, "one vocabulary: most lines are the structs that a record is made of"},
	"runner":                {2300, "one engine: what it performs for each command, and the ports it performs it through"},
	"runner/host/workspace": {2100, "one worktree: branch, index, files and merges are one state of one git directory"},
	"runner/machine":        {3500, "one state: each rule is an event applied and a step decided, and neither half can be read alone"},
}

// houseFile is one Go file that is no test.
type houseFile struct {
	name   string // relative to the repository
	lines  int
	fset   *token.FileSet
	syntax *ast.File
}

func (f houseFile) line(pos token.Pos) int { return f.fset.Position(pos).Line }

func (f houseFile) at(pos token.Pos) string { return fmt.Sprintf("%s:%d", f.name, f.line(pos)) }

// houseFiles reads every Go file of the repository that is no test, for whatever
// system it is built.
func houseFiles(t *testing.T) []houseFile {
	t.Helper()
	var files []houseFile
	err := filepath.WalkDir(repositoryRoot, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name != repositoryRoot && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		f, err := readHouseFile(name)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("found no Go files; do the tests still run in cmd/pawl?")
	}
	return files
}

func readHouseFile(name string) (houseFile, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return houseFile{}, err
	}
	rel, err := filepath.Rel(repositoryRoot, name)
	if err != nil {
		return houseFile{}, err
	}
	f := houseFile{name: filepath.ToSlash(rel), lines: bytes.Count(text, []byte("\n")), fset: token.NewFileSet()}
	f.syntax, err = parser.ParseFile(f.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return f, err
}

// houseFunction is a function or method with its length in lines.
type houseFunction struct {
	where string
	name  string
	lines int
}

func TestHouseFunctions(t *testing.T) {
	t.Parallel()
	var functions []houseFunction
	for _, f := range houseFiles(t) {
		for _, decl := range f.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			measured := houseFunction{f.at(fn.Pos()), fn.Name.Name, f.line(fn.End()) - f.line(fn.Pos()) + 1}
			functions = append(functions, measured)
			if measured.lines > houseFunctionCap && !excused(f, fn) {
				t.Errorf("%s: %s has %d lines, the cap is %d: split it by idea, or give a reason on the line above it: //house:long REASON",
					measured.where, measured.name, measured.lines, houseFunctionCap)
			}
		}
	}
	slices.SortFunc(functions, func(a, b houseFunction) int {
		return cmp.Or(cmp.Compare(a.lines, b.lines), cmp.Compare(a.where, b.where))
	})
	at := func(q float64) int { return functions[int(q*float64(len(functions)-1))].lines }
	median, p90 := at(0.5), at(0.9)
	longest := functions[len(functions)-1]
	t.Logf("%d functions: median %d lines, p90 %d, p99 %d, longest %d (%s %s)",
		len(functions), median, p90, at(0.99), longest.lines, longest.where, longest.name)
	if median > houseFunctionMedian {
		t.Errorf("the median function has %d lines, the house allows %d", median, houseFunctionMedian)
	}
	if p90 > houseFunctionP90 {
		t.Errorf("one function in ten has more than %d lines, the house allows %d", p90, houseFunctionP90)
	}
}

var houseLong = regexp.MustCompile(`^//house:long \S`)

// excused reports whether the line above fn gives a reason for its length.
func excused(f houseFile, fn *ast.FuncDecl) bool {
	for _, group := range f.syntax.Comments {
		last := group.List[len(group.List)-1]
		if f.line(last.Pos()) == f.line(fn.Pos())-1 && houseLong.MatchString(last.Text) {
			return true
		}
	}
	return false
}

func TestHouseFilesAndPackages(t *testing.T) {
	t.Parallel()
	packages := make(map[string]int)
	var biggest houseFile
	files := houseFiles(t)
	for _, f := range files {
		packages[filepath.Dir(f.name)] += f.lines
		if f.lines > biggest.lines {
			biggest = f
		}
		if f.lines > houseFileCap {
			t.Errorf("%s has %d lines, the cap is %d: split it by idea", f.name, f.lines, houseFileCap)
		}
	}
	total, largest := 0, ""
	for name, lines := range packages {
		total += lines
		if largest == "" || lines > packages[largest] {
			largest = name
		}
		limit := housePackageCap
		if large, ok := largeRooms[filepath.ToSlash(name)]; ok {
			limit = large.cap
		}
		if lines > limit {
			t.Errorf("package %s has %d lines without tests, the cap is %d: it is two rooms", name, lines, limit)
		}
	}
	t.Logf("%d lines in %d files and %d packages; largest file %s (%d), largest package %s (%d)",
		total, len(files), len(packages), biggest.name, biggest.lines, largest, packages[largest])
}

func TestHouseDocuments(t *testing.T) {
	t.Parallel()
	documented := make(map[string]bool)
	for _, f := range houseFiles(t) {
		dir := filepath.Dir(f.name)
		documented[dir] = documented[dir] || f.syntax.Doc != nil
		for _, decl := range f.syntax.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s: %s is exported and has no comment", f.at(name.Pos()), name.Name)
			}
		}
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment: say in doc.go what it is, on which floor it stands and what it imports", dir)
		}
	}
}

// undocumented are the exported names of a declaration that no comment explains.
// A comment on a group of constants or variables explains all of them.
func undocumented(decl ast.Decl) []*ast.Ident {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		receiver := receiverOf(decl)
		if decl.Doc == nil && decl.Name.IsExported() && (receiver == "" || ast.IsExported(receiver)) {
			return []*ast.Ident{decl.Name}
		}
	case *ast.GenDecl:
		if decl.Doc != nil {
			return nil
		}
		var missing []*ast.Ident
		for _, spec := range decl.Specs {
			missing = append(missing, undocumentedIn(spec)...)
		}
		return missing
	}
	return nil
}

func undocumentedIn(spec ast.Spec) []*ast.Ident {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Doc == nil && spec.Name.IsExported() {
			return []*ast.Ident{spec.Name}
		}
	case *ast.ValueSpec:
		if spec.Doc == nil && spec.Comment == nil {
			return slices.DeleteFunc(slices.Clone(spec.Names), func(n *ast.Ident) bool { return !n.IsExported() })
		}
	}
	return nil
}

var (
	houseMarks  = regexp.MustCompile(`\b(?:TODO|FIXME|XXX)\b`)
	houseUndone = regexp.MustCompile(`(?i)\b(?:not |un)implemented\b`)
)

const houseOpenEnd = "%s: %q: do it now, or open an issue"

// A mark in a comment, an excuse in a comment or a text, and context.TODO are
// open ends. A text alone may hold a mark: some formats have it as a word.
func TestHouseHasNoOpenEnds(t *testing.T) {
	t.Parallel()
	for _, f := range houseFiles(t) {
		for _, group := range f.syntax.Comments {
			for _, comment := range group.List {
				for _, open := range []*regexp.Regexp{houseMarks, houseUndone} {
					if found := open.FindString(comment.Text); found != "" {
						t.Errorf(houseOpenEnd, f.at(comment.Pos()), found)
					}
				}
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if found := houseUndone.FindString(n.Value); found != "" {
					t.Errorf(houseOpenEnd, f.at(n.Pos()), found)
				}
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok && id.Name == "context" && n.Sel.Name == "TODO" {
					t.Errorf(houseOpenEnd, f.at(n.Pos()), "context.TODO")
				}
			}
			return true
		})
	}
}
