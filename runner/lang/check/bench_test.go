package check_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// shapes are workflows of n nodes, more or less, each large in its own way.
var shapes = []struct {
	name string
	make func(n int) string
}{
	{"chain", chain}, {"loops", loops}, {"nested", nested}, {"fans", fans}, {"wide", wide}, {"prompts", prompts},
}

const head = "schema s:\n  ok: bool\n  text: string\n\n"

func node(b *strings.Builder, i int, ref string) {
	fmt.Fprintf(b, "prompt p%d:\n  Go on with {{%s}} and {{input.text}}.\n\nagent n%d:\n  model: \"gpt-5-mini\"\n  input: s\n  output: s\n  user: p%d\n\n", i, ref, i, i)
}

// chain: each node reads one far before it, and may fail.
func chain(n int) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range n {
		ref := "input.ok"
		if i > 0 {
			ref = fmt.Sprintf("outputs.n%d.text", i/2)
		}
		node(&b, i, ref)
	}
	b.WriteString("workflow w:\n  entry: n0\n")
	for i := range n - 1 {
		fmt.Fprintf(&b, "  n%d -> n%d when ok with { ok: \"{{outputs.n%d.ok}}\", text: \"so: {{outputs.n%d.text}}\" }\n  n%d -> fail\n", i, i+1, i, i, i)
	}
	fmt.Fprintf(&b, "  n%d -> done\n", n-1)
	return b.String()
}

// loops: every third node goes back two nodes.
func loops(n int) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range n {
		node(&b, i, fmt.Sprintf("outputs.n%d.history", min(i/3*3, (n/3-1)*3)))
	}
	b.WriteString("workflow w:\n  entry: n0\n")
	for i := range n {
		if i%3 == 2 {
			fmt.Fprintf(&b, "  n%d -> n%d when not ok as l%d(3)\n", i, i-2, i)
		}
		if i < n-1 {
			fmt.Fprintf(&b, "  n%d -> n%d\n", i, i+1)
		}
	}
	fmt.Fprintf(&b, "  n%d -> done\n", n-1)
	return b.String()
}

// nested: loops in loops, twenty deep.
func nested(n int) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range n {
		node(&b, i, "input.ok")
	}
	b.WriteString("workflow w:\n  entry: n0\n")
	for i := range n {
		if i%40 >= 20 {
			fmt.Fprintf(&b, "  n%d -> n%d when not ok as l%d(2)\n", i, i-2*(i%40-20)-1, i)
		}
		if i < n-1 {
			fmt.Fprintf(&b, "  n%d -> n%d\n", i, i+1)
		}
	}
	fmt.Fprintf(&b, "  n%d -> done\n", n-1)
	return b.String()
}

// fans: fan-outs of two branches, one behind the other.
func fans(n int) string {
	var b strings.Builder
	b.WriteString(head)
	blocks := max(n/5, 1)
	for i := range blocks {
		fmt.Fprintf(&b, "router r%d:\n  mode: fan_out_all\n\njoin j%d:\n  strategy: wait_all\n  require: [n%d]\n\n", i, i, 3*i)
		node(&b, 3*i, "input.ok")
		node(&b, 3*i+1, "input.ok")
		node(&b, 3*i+2, fmt.Sprintf("outputs.n%d.text", 3*i))
	}
	b.WriteString("workflow w:\n  entry: r0\n")
	for i := range blocks {
		fmt.Fprintf(&b, "  r%d -> n%d\n  r%d -> n%d\n  n%d -> j%d with { text: \"{{outputs.n%d.text}}\" }\n  n%d -> j%d with { ok: \"{{outputs.n%d.ok}}\" }\n  j%d -> n%d\n",
			i, 3*i, i, 3*i+1, 3*i, i, 3*i, 3*i+1, i, 3*i+1, i, 3*i+2)
		next := "done"
		if i < blocks-1 {
			next = fmt.Sprintf("r%d", i+1)
		}
		fmt.Fprintf(&b, "  n%d -> %s\n", 3*i+2, next)
	}
	return b.String()
}

// wide: one fan-out with a branch for every node.
func wide(n int) string {
	var b strings.Builder
	b.WriteString(head + "router r:\n  mode: fan_out_all\n\njoin j:\n  strategy: wait_all\n\n")
	for i := range n {
		node(&b, i, "input.ok")
	}
	b.WriteString("workflow w:\n  entry: r\n")
	for i := range n {
		fmt.Fprintf(&b, "  r -> n%d\n  n%d -> j with { k%d: \"{{outputs.n%d}}\" }\n", i, i, i, i)
	}
	b.WriteString("  j -> done\n")
	return b.String()
}

// prompts: a few nodes, and prompts with very many references.
func prompts(n int) string {
	var b strings.Builder
	b.WriteString(head + "prompt p:\n")
	for range n {
		b.WriteString("  Look at {{outputs.a.text}}, {{input.text}} and {{loop.l.iteration}}.\n")
	}
	b.WriteString("\nagent a:\n  model: \"m\"\n  output: s\n\nagent b:\n  model: \"m\"\n  input: s\n  output: s\n  user: p\n\n")
	b.WriteString("workflow w:\n  entry: a\n  a -> b\n  b -> a when ok as l(3)\n  b -> done\n")
	return b.String()
}

// Time and memory grow with the file. What is counted is memory: times differ.
func TestCostIsLinear(t *testing.T) {
	for _, shape := range shapes {
		cost := func(n int) float64 {
			text := shape.make(n)
			if found := findings(text); found.HasErrors() {
				t.Fatalf("%s:\n%.2000s", shape.name, drawn(found))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			findings(text)
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc-before.TotalAlloc) / float64(len(text))
		}
		small, large := cost(300), cost(3000)
		if large > 2*small {
			t.Errorf("%s: %.0f bytes allocated per byte of 300 nodes, %.0f of 3,000", shape.name, small, large)
		}
	}
}

// BenchmarkLarge is BENCH row 3 in process: parse, lower and check.
func BenchmarkLarge(b *testing.B) {
	for _, shape := range shapes {
		for _, n := range []int{10, 100, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, n), func(b *testing.B) {
				text := shape.make(n)
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if findings(text).HasErrors() {
						b.Fatal("it has errors")
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
			})
		}
	}
}
