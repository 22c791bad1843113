package words_test

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-ci/pawl/report/words"
	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in, want string
		hidden         int
	}{
		{"plain", "a b\n\tc", "a b\n\tc", 0},
		{"colour", "\x1b[1;31mred\x1b[0m", "red", 0},
		{"link", "\x1b]8;;http://x\x07text\x1b]8;;\x1b\\", "text", 0},
		{"charset and keypad", "\x1b(Ba\x1b=b", "ab", 0},
		{"lone escape", "a\x1b", "a[U+001B]", 1},
		{"control string without end", "\x1b]0;title\nthe rest stays", "[U+001B]]0;title\nthe rest stays", 1},
		{"line ends", "a\r\nb\rc\u2028d", "a\nb\nc\nd", 0},
		{"bell and null", "a\a\x00b", "a[U+0007][U+0000]b", 2},
		{"c1", "a\u009b31mb", "a[U+009B]31mb", 1},
		{"right to left", "ab\u202ecd\u202c", "ab[U+202E]cd[U+202C]", 2},
		{"run of one", "a" + strings.Repeat("\u200b", 500) + "b", "a[U+200B ×500]b", 500},
		{"tags", "hi\U000e0041\U000e0042", "hi[U+E0041][U+E0042]", 2},
		{"soft hyphen", "pass\u00adword", "pass[U+00AD]word", 1},
		{"emoji keeps its form", "⏸️ ok", "⏸️ ok", 0},
		{"second selector hides something", "⏸\ufe0f\ufe0f", "⏸\ufe0f[U+FE0F]", 1},
		{"selector without a base", "\ufe0fa", "[U+FE0F]a", 1},
		{"other selectors", "a\ufe00\U000e0101", "a[U+FE00][U+E0101]", 2},
		{"drawn as nothing", "a\u3164b\u2800", "a[U+3164]b[U+2800]", 2},
		{"not UTF-8", "a\xffb", "a\ufffdb", 0},
		{"scripts", "é 日本語 🙂", "é 日本語 🙂", 0},
	} {
		got, hidden := words.Clean(c.in)
		if got != c.want || hidden != c.hidden {
			t.Errorf("%s: got %q with %d hidden, want %q with %d", c.name, got, hidden, c.want, c.hidden)
		}
	}
}

// visible fails when text holds what nobody sees.
func visible(t interface{ Fatalf(string, ...any) }, text, allowed string) {
	if !utf8.ValidString(text) {
		t.Fatalf("not valid UTF-8: %q", text)
	}
	for _, r := range text {
		if (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) && !strings.ContainsRune(allowed, r) {
			t.Fatalf("%U is in %q", r, text)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "\x1b[31m", "\x1b]8;;x\x07", "\x1b\x1b[", "\u202e", "\xff\xfe", "\ufe0f\ufe0f", "\r\r\n", "\x1bP\x1b\\", "\x1b(", "\x9b1m"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := words.Clean(text)
		visible(t, got, "\n\t")
		if again, hidden := words.Clean(got); again != got || hidden != 0 {
			t.Fatalf("cleaning again changes %q to %q", got, again)
		}
		visible(t, words.OneLine(text), "")
	})
}

func TestCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"run_tests", "`run_tests`"},
		{"", "*(empty)*"},
		{" \n ", "*(empty)*"},
		{"two\nlines", "`two lines`"},
		{"a`b", "`` a`b ``"},
		{"a``b", "<code>a&#96;&#96;b</code>"},
		{"a|b", "<code>a&#124;b</code>"},
		{"<b>", "<code>&#60;b&#62;</code>"},
		{"<a@b.c http://x www.y>", "<code>&#60;a<wbr>&#64;b<wbr>&#46;c http<wbr>&#58;//x www<wbr>&#46;y&#62;</code>"},
		{`C:\dir`, "`C:\\dir`"},
		{"@octocat fixes #1", "`@octocat fixes #1`"},
	} {
		if got := words.Code(c.in); got != c.want {
			t.Errorf("Code(%q) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestProse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"four fifths of max_tokens are gone: 8 of 10", `four fifths of max\_tokens are gone: 8 of 10`},
		{"$0.10 of $2.00", "&#36;0.10 of &#36;2.00"},
		{"see @octocat", "`see @octocat`"},
		{"https://x", "`https://x`"},
		{"www.evil.example", "`www.evil.example`"},
		{"<b>", "<code>&#60;b&#62;</code>"},
	} {
		if got := words.Prose(c.in); got != c.want {
			t.Errorf("Prose(%q) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestFenceAround(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching("[`~ \na]{0,60}").Draw(t, "text")
		fence := words.FenceAround(text)
		if len(fence) < 3 || strings.Contains(text, fence) {
			t.Fatalf("fence %s for %q", fence, text)
		}
	})
}

func TestTail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string
		lines, n int
		want     string
		cut      bool
	}{
		{"a\nb\nc\n", 5, 100, "a\nb\nc", false},
		{"a\nb\nc\n\n", 2, 100, "b\nc", true},
		{"aaaa\nbbbb\ncccc", 5, 9, "bbbb\ncccc", true},
		{"é" + strings.Repeat("x", 10), 5, 11, strings.Repeat("x", 10), true},
		{"", 5, 5, "", false},
	} {
		got, cut := words.Tail(c.text, c.lines, c.n)
		if got != c.want || cut != c.cut {
			t.Errorf("Tail(%q, %d, %d) = %q, %t, want %q, %t", c.text, c.lines, c.n, got, cut, c.want, c.cut)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"one two three four", "one two\nthree\nfour"},
		{"unbreakable word", "unbreakable word"},
		{"héllo wörld x", "héllo\nwörld x"},
		{"short\nlines", "short\nlines"},
	} {
		if got := words.Wrap(c.in, 8); got != c.want {
			t.Errorf("Wrap(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// TestShellWord asks a real shell what it reads.
func TestShellWord(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", "plain", "a=b", "-n", "it's", "$(echo x)", "`echo x`", "a b", `back\slash`, `"`, "*", "~", "#x", "a\nb", "\u202e", "!!", "日本語", "&& true",
	} {
		out, err := exec.Command("sh", "-c", "printf %s "+words.ShellWord(in)).Output()
		if err != nil || string(out) != words.OneLine(in) {
			t.Errorf("%q: the shell reads %q from %s (%v)", in, out, words.ShellWord(in), err)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 12: "12", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := words.Number(n); got != want {
			t.Errorf("Number(%d) = %s, want %s", n, got, want)
		}
	}
	for ms, want := range map[int64]string{
		0: "0 ms", 999: "999 ms", 1000: "1 s", 12_345: "12.3 s", 59_990: "59.9 s", 60_000: "1 min 00 s",
		3_599_000: "59 min 59 s", 7_380_000: "2 h 03 min", 180_000_000: "2 d 02 h",
	} {
		if got := words.Span(ms); got != want {
			t.Errorf("Span(%d) = %s, want %s", ms, got, want)
		}
	}
	if words.Count(1, "call") != "1 call" || words.Count(0, "call") != "0 calls" || words.Clip("日本語", 2) != "日…" || words.Short("1234567890abcdef") != "1234567890ab" {
		t.Error("Count, Clip or Short")
	}
}
