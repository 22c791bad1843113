package syntax_test

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// small is a file as people write it first.
const small = `prompt review_system:
  You review code. Judge whether it may be merged,
  and say why in one paragraph.

prompt review_user:
  Review this code:
  {{input.code}}

schema job:
  code: string

schema verdict:
  approved: bool
  summary: string

agent reviewer:
  model: "${MODEL}"
  input: job
  output: verdict
  system: review_system
  user: review_user
  tools: [read_file, search]

workflow review:
  entry: reviewer
  budget:
    max_tokens: 100000
  reviewer -> done when approved
  reviewer -> reviewer when not approved as again(3)
  reviewer -> fail
`

// large is a chain of n nodes with references.
func large(n int) string {
	var b strings.Builder
	b.WriteString("schema out:\n  text: string\n  ok: bool\n\nworkflow chain:\n  entry: node0\n")
	for i := range n - 1 {
		fmt.Fprintf(&b, "  node%d -> node%d with { text: \"{{outputs.node%d.text}}\" }\n", i, i+1, i)
	}
	fmt.Fprintf(&b, "  node%d -> done\n\n", n-1)
	for i := range n {
		fmt.Fprintf(&b, "agent node%d:\n  model: \"m\"\n  input: out\n  output: out\n\n", i)
	}
	return b.String()
}

func BenchmarkParseSmall(b *testing.B) { benchmarkParse(b, small) }

// usual is a file of n nodes that have prompts and schemas of their own.
func usual(n int) string {
	var b strings.Builder
	b.WriteString("workflow chain:\n  entry: node0\n")
	for i := range n {
		fmt.Fprintf(&b, "  node%d -> node%d with { code: \"{{outputs.node%d.summary}}\" }\n", i, i+1, i)
	}
	fmt.Fprintf(&b, "  node%d -> done\n", n)
	for i := range n + 1 {
		b.WriteByte('\n')
		declarations, _, _ := strings.Cut(small, "workflow review")
		for _, name := range []string{"review_system", "review_user", "job", "verdict"} {
			declarations = strings.ReplaceAll(declarations, name, fmt.Sprintf("%s_%d", name, i))
		}
		b.WriteString(strings.Replace(declarations, "reviewer", fmt.Sprintf("node%d", i), 1))
	}
	return b.String()
}

func BenchmarkParseUsual36KB(b *testing.B) { benchmarkParse(b, usual(60)) }

func BenchmarkParseUsual10000Nodes(b *testing.B) { benchmarkParse(b, usual(10_000)) }

// Twice the nodes must be twice the work, at any size.
func BenchmarkParseNodes(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) { benchmarkParse(b, large(n)) })
	}
}

func BenchmarkParsePrompts(b *testing.B) {
	benchmarkParse(b, strings.Repeat("prompt p:\n"+strings.Repeat("  A line of a prompt as people write them, with {{input.x}}.\n", 40), 200))
}

func benchmarkParse(b *testing.B, text string) {
	f := diag.NewFile("bench.iter", text)
	b.SetBytes(int64(len(text)))
	before := allocated()
	for b.Loop() {
		if tree, _ := syntax.Parse(f); tree.Source != f {
			b.Fatal("no tree")
		}
	}
	b.ReportMetric(float64(allocated()-before)/float64(b.N)/float64(len(text)), "B/B")
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// ugly are texts of about n lines that could cost more than they should.
var ugly = map[string]func(n int) string{
	"nodes":             large,
	"usual":             func(n int) string { return usual(n / 10) },
	"open brackets":     func(n int) string { return "vars:\n  a: json = " + strings.Repeat("[", n) },
	"open braces":       func(n int) string { return "workflow w:\n" + strings.Repeat("  a -> b with {\n", n) },
	"nested objects":    func(n int) string { return "vars:\n  a: json = " + strings.Repeat(`{"a":`, n) },
	"open references":   func(n int) string { return "agent a:\n  model: x" + strings.Repeat("{", 20*n) },
	"many references":   func(n int) string { return "agent a:\n  model: x" + strings.Repeat("{{a}} ", 5*n) },
	"blanks":            func(n int) string { return "agent a:\n  model" + strings.Repeat(" ", 20*n) + ": x" },
	"long string":       func(n int) string { return "agent a:\n  model: \"" + strings.Repeat("x", 50*n) },
	"long name":         func(n int) string { return "agent " + strings.Repeat("x", 50*n) + ":\n" },
	"long bad name":     func(n int) string { return "agent " + strings.Repeat("x-", 25*n) + ":\n" },
	"escapes":           func(n int) string { return "agent a:\n  model: \"" + strings.Repeat(`\n\q`, 10*n) + "\"" },
	"errors, one line":  func(n int) string { return "workflow w:\n  a -> b with {" + strings.Repeat(" a: b,", n) + "}" },
	"errors, lines":     func(n int) string { return "workflow w:\n" + strings.Repeat("  a -> -> b\n", n) },
	"unknown words":     func(n int) string { return strings.Repeat("agnet x\n", n) },
	"fields":            func(n int) string { return "schema s:\n" + numbered("  f%d: string\n", n) },
	"repeated fields":   func(n int) string { return "schema s:\n" + strings.Repeat("  f: string\n", n) },
	"repeated nodes":    func(n int) string { return strings.Repeat("agent a:\n  model: \"m\"\n", n) },
	"repeated property": func(n int) string { return "agent a:\n" + strings.Repeat("  model: \"m\"\n", n) },
	"keys":              func(n int) string { return "vars:\n  a: json = {" + numbered("\"k%d\": 1, ", n) + "}" },
	"vars blocks":       func(n int) string { return numbered("vars:\n  v%d: int\n", n) },
	"zigzag":            func(n int) string { return "agent a:\n" + strings.Repeat("  model: \"m\"\n     x: 1\n   y: 2\n", n) },
	"tabs":              func(n int) string { return "agent a:\n" + strings.Repeat("\tmodel: \"m\"\n  \tx: 1\n", n) },
	"not UTF-8":         func(n int) string { return strings.Repeat("\xff\xfe \xff\n", n) },
	"NUL":               func(n int) string { return strings.Repeat("\x00", 20*n) },
	"hashes":            func(n int) string { return strings.Repeat("# x\n## y\n", n) },
	"blank prompt":      func(n int) string { return "prompt p:\n" + strings.Repeat("   \n", n) + "  x\n" },
	"closers":           func(n int) string { return strings.Repeat("]\n}\n", n) },
}

// Ugly files cost as much per byte as fine ones: twice the file, twice the work.
// Allocations are counted, because they do not depend on the machine.
func TestCostIsLinear(t *testing.T) {
	for name, text := range ugly {
		t.Run(name, func(t *testing.T) {
			const n = 4000
			once, twice := cost(text(n)), cost(text(2*n))
			if twice > 2.7*once+64<<10 {
				t.Errorf("%d bytes are allocated for %d lines, %d for twice as many", int(once), n, int(twice))
			}
		})
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// cost is how many bytes parsing the text allocates, at best.
func cost(text string) float64 {
	f := diag.NewFile("cost.iter", text)
	best := math.Inf(1)
	for range 3 {
		before := allocated()
		syntax.Parse(f)
		best = min(best, float64(allocated()-before))
	}
	return best
}

// One line of many megabytes is read to its end. Anything that looks at the rest
// of the line again and again would need hours for it.
func TestAVeryLongLineIsReadToItsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("parses megabytes")
	}
	const size = 8 << 20
	for name, c := range map[string]struct{ before, again string }{
		"references that do not end":         {"agent a:\n  model: ", "{{"},
		"references that do not end, quoted": {"agent a:\n  model: \"", "{{"},
		"references in a prompt":             {"prompt p:\n  ", "{{"},
		"references in a list":               {"agent a:\n  tools: [x", "{{"},
		"half of a mark":                     {"agent a:\n  model: ", "{"},
		"hashes":                             {"agent a:\n  model: x", "#"},
		"spaces":                             {"agent a:\n  model: x", " "},
		"words":                              {"agent a: ", "x "},
		"environment":                        {"agent a:\n  model: ", "${"},
		"arrows":                             {"workflow w:\n  a ", "-> "},
		"quotes":                             {"agent a:\n  model: ", `"`},
		"backslashes":                        {"agent a:\n  model: \"", `\`},
		"returns":                            {"agent a:\n  model: x", "\r"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := diag.NewFile("long.iter", c.before+strings.Repeat(c.again, size/len(c.again)))
			if tree, _ := syntax.Parse(f); tree == nil {
				t.Error("no tree")
			}
		})
	}
}
