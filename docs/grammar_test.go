package docs_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
	"github.com/rogpeppe/go-internal/txtar"
)

func readFile(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// sentences is how many random files a test makes.
func sentences() uint64 {
	if testing.Short() {
		return 200
	}
	return 2000
}

// beyond are the diagnostics for what the notation cannot say; the grammar's
// head lists them. Every other finding of the parser is one of form.
var beyond = []diag.Code{"P121", "C024", "P124", "P111", "P128", "P145", "P125", "P129", "C023", "C025", "P144", "P108", "P122"}

// formal are the findings that are about form.
func formal(list diag.List) diag.List {
	return slices.DeleteFunc(list, func(d diag.Diagnostic) bool { return d.Severity != diag.Error || slices.Contains(beyond, d.Code) })
}

func TestBeyondTheGrammar(t *testing.T) {
	t.Parallel()
	head, _, _ := strings.Cut(readFile(t, grammarFile), "*/")
	for _, code := range beyond {
		if !strings.Contains(head, string(code)) {
			t.Errorf("the head of %s does not name %s", grammarFile, code)
		}
	}
}

// What the grammar allows, the parser accepts.
func TestRandomSentencesAreAccepted(t *testing.T) {
	t.Parallel()
	g := readGrammar(t)
	taken := make(map[diag.Code]int)
	for seed := range sentences() {
		text := g.file(seed)
		_, list := syntax.Parse(diag.NewFile("random.iter", text))
		for _, d := range list {
			taken[d.Code]++
		}
		if wrong := formal(list); len(wrong) > 0 {
			t.Fatalf("sentence %d:\n%s\n%s", seed, drawn(wrong), text)
		}
	}
	t.Logf("%d sentences; findings beyond the grammar: %v", sentences(), taken)
}

// The sentences of the generator are sentences of the recogniser: both read the
// same grammar in the same way.
func TestRandomSentencesAreRecognised(t *testing.T) {
	t.Parallel()
	g := readGrammar(t)
	r := g.recogniser()
	for seed := range sentences() / 4 {
		text := g.file(seed)
		if err := accept(r, text); err != nil {
			t.Fatalf("sentence %d: %v\n%s", seed, err, text)
		}
	}
}

func accept(r *recogniser, text string) error {
	words, err := r.g.cut(text)
	if err != nil {
		return err
	}
	return r.recognise("file", words)
}

// Every .iter file of the repository that the parser takes is in the grammar,
// and so is every good example of the register.
func TestFilesAreInTheGrammar(t *testing.T) {
	t.Parallel()
	r := readGrammar(t).recogniser()
	count := 0
	for name, text := range iterFiles(t) {
		if _, list := syntax.Parse(diag.NewFile(name, text)); list.HasErrors() {
			continue
		}
		count++
		if err := accept(r, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if count < 14 {
		t.Errorf("only %d files were tried", count)
	}
	for _, rule := range diag.Rules() {
		if err := accept(r, workflowOf(rule.Good)); err != nil {
			t.Errorf("the good example of %s: %v", rule.Code, err)
		}
	}
}

// workflowOf is the workflow of an example that may be an archive of files.
func workflowOf(text string) string {
	for _, f := range txtar.Parse([]byte(text)).Files {
		if strings.HasSuffix(f.Name, ".iter") {
			return string(f.Data)
		}
	}
	return text
}

// iterFiles are the .iter files of the repository by their names.
func iterFiles(t *testing.T) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == ".pawl"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".iter"):
			files[path] = readFile(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// What the parser refuses for its form, the grammar refuses too.
func TestFormalErrorsAreOutsideTheGrammar(t *testing.T) {
	t.Parallel()
	r := readGrammar(t).recogniser()
	for _, rule := range diag.Rules() {
		bad := workflowOf(rule.Bad)
		_, list := syntax.Parse(diag.NewFile("bad.iter", bad))
		if wrong := formal(list); len(wrong) == 0 {
			continue
		}
		if accept(r, bad) == nil {
			t.Errorf("the grammar takes the bad example of %s:\n%s", rule.Code, rule.Bad)
		}
	}
}

// piece is what a mutation takes out, doubles or moves.
var piece = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"|[A-Za-z_][A-Za-z0-9_.]*|-?[0-9.]+[a-z]*|->|\n *|[^\sA-Za-z0-9]`)

// mutant is the text with one piece gone, doubled, replaced or put in.
func mutant(text string, pieces [][]int, random *rand.Rand) string {
	at, other := pieces[random.IntN(len(pieces))], pieces[random.IntN(len(pieces))]
	moved := text[other[0]:other[1]]
	switch random.IntN(4) {
	case 0:
		return text[:at[0]] + text[at[1]:]
	case 1:
		return text[:at[1]] + " " + text[at[0]:]
	case 2:
		return text[:at[0]] + moved + text[at[1]:]
	}
	return text[:at[0]] + " " + moved + " " + text[at[0]:]
}

// ambiguous is where the notation allows two readings and the head says which.
var ambiguous = regexp.MustCompile(`when\s+not\s+(as|when|with)\b`)

// Grammar and parser agree about files that are nearly right, both ways.
func TestGrammarAndParserAgree(t *testing.T) {
	t.Parallel()
	r := readGrammar(t).recogniser()
	refused := 0
	for i, rule := range diag.Rules() {
		text, random := workflowOf(rule.Good), newRandom(uint64(i))
		pieces := piece.FindAllStringIndex(text, -1)
		for range sentences() / 50 {
			m := mutant(text, pieces, random)
			_, list := syntax.Parse(diag.NewFile("m.iter", m))
			err := accept(r, m)
			if err != nil {
				refused++
			}
			switch wrong := formal(slices.Clone(list)); {
			case err == nil && len(wrong) > 0 && !ambiguous.MatchString(m):
				t.Errorf("the grammar accepts, the parser does not:\n%s\n%s", drawn(wrong), m)
			case err != nil && !list.HasErrors():
				t.Errorf("the parser accepts, the grammar does not: %v\n%s", err, m)
			}
		}
	}
	if refused < 100 {
		t.Errorf("only %d mutants were wrong", refused)
	}
}

// References and ${NAME} are read as the grammar says.
func TestTemplates(t *testing.T) {
	t.Parallel()
	g := readGrammar(t)
	w := &generator{g: g, random: newRandom(7), used: make(map[string]bool)}
	for range sentences() {
		for _, name := range []string{"PLACEHOLDER", "ENVIRONMENT"} {
			text := w.sample(name)
			if strings.ContainsAny(text, "\t\n") {
				continue
			}
			if codes := templateFindings(text); slices.Contains(codes, "malformed") {
				t.Fatalf("%s %s is malformed", name, text)
			}
		}
	}
	for text, ok := range map[string]bool{
		"{{input.code}}": true, "{{ vars.x }}": true, "{{outputs.a.0.b-c}}": true, "{{raw(vars.x)}}": true, "${HOME}": true, "${A:-b c}": true, "$": false,
		"{{}}": false, "{{input.}}": false, "{{nope.x}}": false, "{{input code}}": false, "{{raw(input.x}}": false, "{{input.a + 1}}": false, "${home}": false,
	} {
		if got := g.is("PLACEHOLDER", text) || g.is("ENVIRONMENT", text); got != ok {
			t.Errorf("%s is a placeholder: %v, want %v", text, got, ok)
		}
		if strings.HasPrefix(text, "{{") && ok == slices.Contains(templateFindings(text), "malformed") {
			t.Errorf("the compiler does not agree about %s", text)
		}
	}
}

// templateFindings compiles a prompt that holds the text; malformed stands for
// what is wrong with its form.
func templateFindings(text string) []string {
	file := "prompt p:\n  x " + text + "\n\nagent a:\n  model: \"m\"\n  user: p\n\nworkflow w:\n  entry: a\n  a -> done\n"
	_, list := front.Load(diag.NewFile("t.iter", file), front.Options{})
	var found []string
	for _, d := range list {
		found = append(found, string(d.Code))
		if strings.HasPrefix(d.Message, "malformed") || strings.HasPrefix(d.Message, "unknown reference") || strings.Contains(d.Message, "does not end") {
			found = append(found, "malformed")
		}
	}
	return found
}

func drawn(list diag.List) string {
	var b strings.Builder
	if err := diag.Render(&b, list, false); err != nil {
		return err.Error()
	}
	return b.String()
}
