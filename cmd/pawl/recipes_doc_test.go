package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/cmd/pawl/work"
	"github.com/pawl-ci/pawl/report/score"
)

// docScript answers the commands of docs/recipes.md.
const docScript = `name: reviews
price: {input: 1, output: 10}
exchanges:
  - match: {model: gpt-5-nano, anywhere: "You are quick. Look for"}
    reply: {json: {approved: true, score: 0.8}, usage: {input: 1000, output: 20}}
  - match: {model: gpt-5}
    reply: {json: {approved: true, score: 0.9}, usage: {input: 3900, output: 130}}
`

// docBlock is a fenced block: its language, and the file it stands for.
var docBlock = regexp.MustCompile("(?s)```([a-z]+)(?: ([a-z_.]+))?\n(.*?)```")

// docName is the name of a workflow, in its first line.
var docName = regexp.MustCompile(`^## [a-z_.]+\.iter`)

// same is text without what differs from one run to the next.
func same(text string) string {
	for pattern, word := range map[string]string{`\d{8}-\d{6}-[a-z0-9]{4}`: "ID", `commit [0-9a-f]{12}`: "COMMIT", `\b[0-9.]+ m?s\b`: "TIME"} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, word)
	}
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// Every file of docs/recipes.md is written, every command run, and what the page
// says they print is what they print.
func TestRecipesPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "recipes.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir, _, err := work.MakeDemo(filepath.Join(t.TempDir(), "repo"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("script.yaml", docScript)
	commands, printed := 0, ""
	for _, m := range docBlock.FindAllStringSubmatch(string(page), -1) {
		switch language, name, text := m[1], cmp.Or(m[2], docName.FindString(m[3])), m[3]; {
		case name != "":
			write(strings.TrimPrefix(name, "## "), text)
		case language == "sh":
			for line := range strings.Lines(text) {
				printed = documented(t, dir, strings.TrimSpace(line))
				commands++
			}
		case language == "text":
			if got, want := same(printed), same(text); !strings.HasPrefix(got, want) {
				t.Errorf("the page says\n%s\nand pawl says\n%s", want, got)
			}
		default:
			t.Errorf("a block of %s has no name", language)
		}
	}
	if commands < 6 {
		t.Errorf("found %d commands", commands)
	}
	for _, metric := range score.Metrics() {
		if row := "| `" + metric.Name + "` | "; !strings.Contains(string(page), row) {
			t.Errorf("the page has no row for metric %s", metric.Name)
		}
	}
}

// documented runs one line of the page and returns what it printed. A number
// behind # is its exit status.
func documented(t *testing.T, dir, line string) string {
	t.Helper()
	line, remark, _ := strings.Cut(line, " # ")
	want, _ := strconv.Atoi(remark)
	var out, errOut bytes.Buffer
	args := append([]string{"-C", dir}, strings.Fields(line)[1:]...)
	if got := Main(t.Context(), args, strings.NewReader(""), &out, &errOut, os.Environ()); got != want {
		t.Fatalf("%s: exit status %d, want %d\n%s%s", line, got, want, &out, &errOut)
	}
	if want != 0 {
		return strings.ReplaceAll(errOut.String(), dir+"/", "")
	}
	return out.String()
}
