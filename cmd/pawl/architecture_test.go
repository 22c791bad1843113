package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// docs/architecture.md shows the house three times: as a table, as a picture and
// as a walk. runner/floors_test.go holds the table against the imports; these
// tests hold picture and walk against the table and the code.

const archPage = "docs/architecture.md"

// repositoryRoot is the top of the checkout; tests run in the package's folder.
const repositoryRoot = "../.."

// archRoom is what table and picture say about a room.
type archRoom struct {
	floor   int
	planned bool
}

// archDoc is the page, line by line, with what was read out of it.
type archDoc struct {
	lines   []string
	table   map[string]archRoom
	imports map[string]string // the cell, by room
	picture map[string]archRoom
	arrows  [][2]string // from, to: solid ones only
}

var (
	archRow     = regexp.MustCompile("^\\| (\\d+) \\| `([^`]+)`( \\*\\(planned\\)\\*)? \\| [^|]+ \\| ([^|]+) \\|$")
	archFloor   = regexp.MustCompile(`^  subgraph f(\d+) \["floor (\d+): [^"]+"\]$`)
	archNode    = regexp.MustCompile(`^    (\w+)\["([^"]+)"\](:::planned)?$`)
	archArrow   = regexp.MustCompile(`^  (\w+) (-->|-\.->) (\w+)$`)
	archSymbol  = regexp.MustCompile("`([a-z]\\w*)\\.([A-Za-z]\\w*)(?:\\.([A-Za-z]\\w*))?`( \\*\\(planned\\)\\*)?")
	archStep    = regexp.MustCompile(`^(\d+)\. `)
	archNoNames = []string{"yml", "yaml", "md", "json", "jsonl", "iter", "go", "mod"} // file names, not symbols
)

func readArchitecture(t *testing.T) *archDoc {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(repositoryRoot, archPage))
	if err != nil {
		t.Fatal(err)
	}
	d := &archDoc{
		lines: strings.Split(string(page), "\n"),
		table: make(map[string]archRoom), imports: make(map[string]string), picture: make(map[string]archRoom),
	}
	floor := -1
	for _, line := range d.lines {
		if m := archRow.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			d.table[m[2]], d.imports[m[2]] = archRoom{n, m[3] != ""}, m[4]
		}
		if m := archFloor.FindStringSubmatch(line); m != nil && m[1] == m[2] {
			floor, _ = strconv.Atoi(m[1])
		}
		if m := archNode.FindStringSubmatch(line); m != nil {
			d.picture[m[2]] = archRoom{floor, m[3] != ""}
			if m[1] != path.Base(m[2]) {
				t.Errorf("%s: the picture calls %s %q; a room's name there is its last word", archPage, m[2], m[1])
			}
		}
		if m := archArrow.FindStringSubmatch(line); m != nil && m[2] == "-->" {
			d.arrows = append(d.arrows, [2]string{m[1], m[3]})
		}
	}
	if len(d.table) < 10 || len(d.picture) < 10 || len(d.arrows) < 10 {
		t.Fatalf("%s: read %d rooms in the table, %d rooms and %d arrows in the picture; did its form change?", archPage, len(d.table), len(d.picture), len(d.arrows))
	}
	return d
}

// folderOf is the folder of the room with the given last word, "" if there is no
// such room. The program's package is called main.
func (d *archDoc) folderOf(short string) string {
	if short == "main" {
		return "cmd/pawl"
	}
	for room := range d.table {
		if path.Base(room) == short {
			return room
		}
	}
	return ""
}

// A room is marked as planned exactly as long as it has no code.
func TestArchitectureRoomsAreThere(t *testing.T) {
	t.Parallel()
	for room, says := range readArchitecture(t).table {
		built := len(sourcesIn(t, room)) > 0
		if built && says.planned {
			t.Errorf("%s: %s is built: drop *(planned)* in its row and :::planned in the picture", archPage, room)
		}
		if !built && !says.planned {
			t.Errorf("%s: %s has a row and no code: mark the row *(planned)* and the picture :::planned, or take both away", archPage, room)
		}
	}
}

// sourcesIn are the Go files of a folder that are no tests.
func sourcesIn(t *testing.T, room string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repositoryRoot, room, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

// The picture has the rooms of the table on the same floors, and no arrow that
// the table does not allow.
func TestArchitecturePicture(t *testing.T) {
	t.Parallel()
	d := readArchitecture(t)
	for room, says := range d.table {
		switch drawn, ok := d.picture[room]; {
		case !ok:
			t.Errorf("%s: the picture lacks %s; add it to subgraph f%d", archPage, room, says.floor)
		case drawn.floor != says.floor:
			t.Errorf("%s: the picture has %s on floor %d, the table on floor %d", archPage, room, drawn.floor, says.floor)
		case drawn.planned != says.planned:
			t.Errorf("%s: %s is planned in the table: %t, in the picture: %t", archPage, room, says.planned, drawn.planned)
		}
	}
	for room := range d.picture {
		if _, ok := d.table[room]; !ok {
			t.Errorf("%s: the picture has %s, the table has not", archPage, room)
		}
	}
	for _, arrow := range d.arrows {
		from, to := d.folderOf(arrow[0]), d.folderOf(arrow[1])
		if from == "" || to == "" {
			t.Errorf("%s: the arrow %s --> %s joins something that is no room", archPage, arrow[0], arrow[1])
			continue
		}
		allBelow := strings.TrimSpace(d.imports[from]) == "all below" && d.table[to].floor < d.table[from].floor
		if !allBelow && !strings.Contains(d.imports[from], "`"+arrow[1]+"`") {
			t.Errorf("%s: the arrow %s --> %s is no import that the table allows", archPage, from, to)
		}
	}
}

// Every name on the page is a name in the code, unless it is marked as planned.
func TestArchitectureNames(t *testing.T) {
	t.Parallel()
	d := readArchitecture(t)
	declared := make(map[string]map[string]bool)
	for i, line := range d.lines {
		for _, m := range archSymbol.FindAllStringSubmatch(line, -1) {
			if slices.Contains(archNoNames, m[2]) || m[1] == "time" {
				continue
			}
			folder := d.folderOf(m[1])
			if folder == "" {
				t.Errorf("%s:%d: `%s.%s`: no room is called %s", archPage, i+1, m[1], m[2], m[1])
				continue
			}
			if declared[folder] == nil {
				declared[folder] = declaredIn(t, folder)
			}
			name := strings.TrimSuffix(m[2]+"."+m[3], ".")
			if problem := judgeName(declared[folder], name, m[4] != "", d.table[folder].planned); problem != "" {
				t.Errorf("%s:%d: %s.%s: %s", archPage, i+1, m[1], name, problem)
			}
		}
	}
}

// judgeName says what is wrong with a name on the page, "" if nothing is.
func judgeName(declared map[string]bool, name string, planned, roomPlanned bool) string {
	exists := declared[name]
	switch {
	case exists && planned:
		return "it exists: drop its *(planned)*"
	case !exists && planned && !roomPlanned:
		return "its room is built, and has no such name: write the name that the code has"
	case !exists && !planned && roomPlanned:
		return "its room is not built: mark the name *(planned)*"
	case !exists && !planned:
		return "the code has no such name: write the one that it has"
	}
	return ""
}

// Every step of the walk names something that can be looked up, and the steps
// are counted without a gap.
func TestArchitectureWalk(t *testing.T) {
	t.Parallel()
	d := readArchitecture(t)
	start := slices.Index(d.lines, "## The walk")
	if start < 0 {
		t.Fatalf("%s: there is no section ## The walk", archPage)
	}
	var steps []string
	for _, line := range d.lines[start:] {
		if m := archStep.FindStringSubmatch(line); m != nil {
			if want := strconv.Itoa(len(steps) + 1); m[1] != want {
				t.Errorf("%s: the walk goes from step %d to step %s", archPage, len(steps), m[1])
			}
			steps = append(steps, line)
		} else if len(steps) > 0 && strings.HasPrefix(line, "   ") {
			steps[len(steps)-1] += "\n" + line
		}
	}
	if len(steps) < 8 {
		t.Fatalf("%s: the walk has %d steps; did its form change?", archPage, len(steps))
	}
	for i, step := range steps {
		if !archSymbol.MatchString(step) {
			t.Errorf("%s: step %d of the walk names no `room.Symbol` where it can be found in the code", archPage, i+1)
		}
	}
}

// declaredIn are the names that a folder's package declares: functions, types,
// constants, variables, and Type.Name for methods, fields and methods of
// interfaces.
func declaredIn(t *testing.T, room string) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	for _, file := range sourcesIn(t, room) {
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("read %s: %v", file, err)
		}
		for _, decl := range syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				names[strings.TrimPrefix(receiverOf(decl)+"."+decl.Name.Name, ".")] = true
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					declareSpec(names, spec)
				}
			}
		}
	}
	return names
}

// receiverOf is the name of the type that a method belongs to, "" for a function.
func receiverOf(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) == 0 {
		return ""
	}
	typ := decl.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	return fmt.Sprint(typ)
}

func declareSpec(names map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			names[name.Name] = true
		}
	case *ast.TypeSpec:
		names[spec.Name.Name] = true
		var members *ast.FieldList
		switch typ := spec.Type.(type) {
		case *ast.StructType:
			members = typ.Fields
		case *ast.InterfaceType:
			members = typ.Methods
		}
		if members == nil {
			return
		}
		for _, member := range members.List {
			for _, name := range member.Names {
				names[spec.Name.Name+"."+name.Name] = true
			}
		}
	}
}
