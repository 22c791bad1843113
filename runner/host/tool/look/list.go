package look

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-ci/pawl/runner/host/tool/tree"
)

// Listing is the names of files below a folder, sorted, with slashes.
type Listing struct {
	Names    []string
	Complete bool // there are no others
}

// Tracked reads the output of `git ls-files -z -t -c -d -o`: what git tracks or
// would track and what is there. A file that is in the index but not there any
// more comes twice, once as removed.
func Tracked(out string) []string {
	var names []string
	gone := map[string]bool{}
	for entry := range strings.SplitSeq(out, "\x00") {
		tag, name, ok := strings.Cut(entry, " ")
		switch {
		case !ok:
		case tag == "R":
			gone[name] = true
		default:
			names = append(names, name)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return gone[n] })
	slices.Sort(names)
	return slices.Compact(names)
}

// mostWalked is how many files are looked at where git cannot list them.
const mostWalked = 50_000

// Walk lists everything below a folder but git directories; of a file, the file.
func Walk(t *tree.Tree, name string) (Listing, error) {
	if info, err := t.Stat(name); err != nil || !info.IsDir() {
		return Listing{[]string{name}, true}, err
	}
	d, err := t.Dir(name)
	if err != nil {
		return Listing{}, err
	}
	defer d.Close()
	names, err := d.Walk(mostWalked)
	slices.Sort(names)
	return Listing{names, len(names) < mostWalked}, err
}

// Only keeps the files that a glob matches. Without a slash it is about the last
// part of the name; with one, about the name from the root or from dir.
func (l *Listing) Only(glob, dir string) error {
	if glob == "" {
		return nil
	}
	glob = strings.TrimPrefix(glob, "./")
	if !doublestar.ValidatePattern(glob) {
		return fmt.Errorf("%.200q is not a glob; use *, **, ?, [a-z] and {a,b}", glob)
	}
	l.Names = slices.DeleteFunc(l.Names, func(name string) bool {
		if !strings.Contains(glob, "/") {
			ok, _ := doublestar.Match(glob, path.Base(name))
			return !ok
		}
		ok, _ := doublestar.Match(glob, name)
		if !ok && dir != "." {
			ok, _ = doublestar.Match(glob, strings.TrimPrefix(name, dir+"/"))
		}
		return !ok
	})
	return nil
}

// Render shows the listing in at most limit bytes and a note, opened to the given
// depth, or as deep as fits when that is 0. A folder that is not opened is shown
// with the number of files below it.
func (l *Listing) Render(dir string, depth, limit int) string {
	deepest := 1
	for _, name := range l.Names {
		deepest = max(deepest, level(dir, name))
	}
	if depth == 0 {
		depth = deepest
		for depth > 1 && size(l.folded(dir, depth)) > limit {
			depth--
		}
	}
	lines := l.folded(dir, depth)
	shown := 0
	for room := limit; shown < len(lines) && room >= len(lines[shown])+1; shown++ {
		room -= len(lines[shown]) + 1
	}
	text := strings.Join(lines[:shown], "\n")
	if shown < len(lines) {
		text += fmt.Sprintf("\n[%d more; name a folder with path, or use glob]", len(lines)-shown)
	}
	return text
}

func size(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l) + 1
	}
	return n
}

// level is how deep name is below dir; a file in dir itself is at 1.
func level(dir, name string) int {
	if dir == "." {
		return strings.Count(name, "/") + 1
	}
	return strings.Count(strings.TrimPrefix(name, dir+"/"), "/") + 1
}

// folded are the names down to depth; what is deeper is a folder with a count.
func (l *Listing) folded(dir string, depth int) []string {
	var lines []string
	folder, count := "", 0
	flush := func() {
		if count > 0 {
			lines = append(lines, fmt.Sprintf("%s/ (%s)", shown(folder), Count(count, "file")))
		}
		count = 0
	}
	for _, name := range l.Names {
		extra := level(dir, name) - depth
		if extra <= 0 {
			flush()
			lines = append(lines, shown(name))
			continue
		}
		up := name
		for range extra {
			up = up[:strings.LastIndexByte(up, '/')]
		}
		if up != folder {
			flush()
		}
		folder = up
		count++
	}
	flush()
	return lines
}
