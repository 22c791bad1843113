package format_test

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/format"
)

// chain is a file of n nodes with comments and lists that are too long for a line.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("# a chain\nworkflow chain:\n  entry: node0\n")
	for i := range n - 1 {
		fmt.Fprintf(&b, "  node%d->node%d with { text: \"{{outputs.node%d.text}}\",  ## what it said\n   rest: {a: [1,2,3]} } when ok\n", i, i+1, i)
	}
	for i := range n {
		fmt.Fprintf(&b, "## node %d\nagent node%d:\n    model: m\n\n\n    tools: [read_file, write_file, edit_file, list_files, search_files, run_command, git_diff, git_log]\n", i, i)
	}
	return b.String()
}

// Text that nobody wrote costs as much per byte as text that somebody did.
func TestCostIsLinear(t *testing.T) {
	for name, text := range map[string]func(n int) string{
		"chain":    chain,
		"comments": func(n int) string { return strings.Repeat("   ## c\n## d\n", n) },
		"nesting": func(n int) string {
			return "vars:\n" + numbered("  v%d: json = [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]\n", n/16)
		},
		"a list": func(n int) string { return "vars:\n  v: json = [" + strings.Repeat("1, ## one\n   ", n) + "1]" },
		"a text": func(n int) string { return "prompt p:\n" + strings.Repeat("    line\n\n", n) },
	} {
		t.Run(name, func(t *testing.T) {
			const n = 4000
			once, twice := cost(t, text(n)), cost(t, text(2*n))
			if twice > 2.7*once+64<<10 {
				t.Errorf("%d bytes are allocated for %d lines, %d for twice as many", int(once), n, int(twice))
			}
		})
	}
}

func numbered(line string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line, i)
	}
	return b.String()
}

// cost is how many bytes laying the text out allocates, at best.
func cost(t *testing.T, text string) float64 {
	t.Helper()
	f := diag.NewFile("cost.iter", text)
	best := math.Inf(1)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, wrong := format.Source(f); len(wrong) > 0 {
			t.Fatalf("refused: %v", wrong[0])
		}
		runtime.ReadMemStats(&after)
		best = min(best, float64(after.TotalAlloc-before.TotalAlloc))
	}
	return best
}

func BenchmarkSource(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		f := diag.NewFile("bench.iter", chain(n))
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(f.Text)))
			for b.Loop() {
				format.Source(f)
			}
		})
	}
}
