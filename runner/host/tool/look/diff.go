package look

import (
	"fmt"
	"strings"
)

// Change is what happened to one file.
type Change struct {
	Title string // "M calc.go (+1 −1)"
	Text  string // its part of a unified diff, whole lines
}

// Changes cuts the output of git diff into files.
func Changes(out string) []Change {
	const start = "diff --git "
	var files []Change
	for out != "" {
		text := out
		if next := strings.Index(out[1:], "\n"+start); next >= 0 {
			text = out[:next+2]
		}
		out = out[len(text):]
		files = append(files, section(text))
	}
	return files
}

func section(text string) Change {
	head, body, _ := strings.Cut(text, "\n@@ ")
	first, rest, _ := strings.Cut(head, "\n")
	kind, name, what := "M", first, ""
	if i := strings.LastIndex(first, " b/"); i >= 0 {
		name = first[i+len(" b/"):]
	}
	for line := range strings.SplitSeq(rest, "\n") {
		word, value, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "new file mode "):
			kind = "A"
		case strings.HasPrefix(line, "deleted file mode "):
			kind = "D"
		case strings.HasPrefix(line, "new mode "):
			what = ", mode " + strings.TrimPrefix(line, "new mode ")
		case strings.HasPrefix(line, "Binary files "):
			what = ", binary"
		case strings.HasPrefix(line, "rename to "):
			kind, name = "R", strings.TrimPrefix(line, "rename to ")
		case (word == "+++" || word == "---") && value != "/dev/null":
			name = strings.TrimSuffix(value, "\t")
			if len(name) > 2 && name[1] == '/' { // not quoted
				name = name[2:]
			}
		}
	}
	added, removed := 0, 0
	_, body, _ = strings.Cut(body, "\n") // behind the first hunk's header
	for line := range strings.SplitSeq(body, "\n") {
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return Change{fmt.Sprintf("%s %s (+%d −%d%s)", kind, name, added, removed, what), text}
}

// Added is a new file that git does not know yet, as git would show it.
func Added(name string, content []byte) Change {
	head := fmt.Sprintf("diff --git a/%s b/%s\nnew file mode 100644\n", name, name)
	switch {
	case Binary(content):
		return Change{"A " + name + " (binary)", fmt.Sprintf("%sBinary files /dev/null and b/%s differ\n", head, name)}
	case len(content) == 0:
		return Change{"A " + name + " (empty)", head}
	}
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	text := fmt.Sprintf("%s--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n+%s\n", head, name, len(lines), strings.Join(lines, "\n+"))
	if content[len(content)-1] != '\n' {
		text += "\\ No newline at end of file\n"
	}
	return Change{fmt.Sprintf("A %s (+%d −0)", name, len(lines)), text}
}

// RenderChanges shows the whole diff if it fits into limit bytes, and otherwise a
// list of the files and as many of their diffs as fit, none taking the room of all
// others. complete says that there are no other files.
func RenderChanges(files []Change, complete bool, limit int) string {
	var all strings.Builder
	for _, f := range files {
		all.WriteString(f.Text)
	}
	if complete && all.Len() <= limit {
		return strings.TrimSuffix(all.String(), "\n")
	}
	var b strings.Builder
	b.WriteString("[too long to show whole; name a path to see more of one file]\n")
	for i, f := range files {
		if b.Len() > limit/3 {
			fmt.Fprintf(&b, "[and %s]\n", Count(len(files)-i, "more file"))
			break
		}
		b.WriteString(f.Title + "\n")
	}
	if !complete {
		b.WriteString("[there are more files than could be looked at]\n")
	}
	room := limit - b.Len()
	for i, f := range files {
		share := room / min(len(files)-i, 4)
		part := whole(f.Text, min(share, room))
		if part == "" {
			continue
		}
		b.WriteString(part)
		room -= len(part)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// whole cuts a file's diff between lines.
func whole(text string, limit int) string {
	const note = 64 // bytes for what is said about the rest
	if len(text) <= limit {
		return text
	}
	if limit < 2*note {
		return ""
	}
	cut := strings.LastIndexByte(text[:limit-note], '\n') + 1
	if cut == 0 {
		return ""
	}
	return fmt.Sprintf("%s[%s of this file's diff left out]\n", text[:cut], Count(strings.Count(text[cut:], "\n"), "line"))
}
