package diag

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// sarifSchema is OASIS's own schema.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	const name = "testdata/sarif-2.1.0.schema.json"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// checkSARIF validates a log against the schema.
func checkSARIF(schema *jsonschema.Schema, text []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(doc)
}

func sarif(t *testing.T, list List, unread ...Unread) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSARIF(&b, "v1", list, unread); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sarifExample has every part that a log can have.
func sarifExample() List {
	f := NewFile("flows/a b.iter", "x -> «y»\nz -> y\n  x -> «y»\n")
	var list List
	list.Add(Diagnostic{Code: "C001", Severity: Error, Span: Span{f, 5, 10}, Message: "there is no node [y](1)", Hint: "did you mean x?",
		Related: []Related{{Span{f, 11, 12}, "it is named here too"}}})
	list.Errorf("C001", Span{f, 25, 30}, "", "there is no node {{y}}")
	list.Warnf("P161", Span{}, "", "nowhere")
	return list
}

func TestSARIF(t *testing.T) {
	t.Parallel()
	text := sarif(t, sarifExample(), Unread{`gone/x.iter`, "there is no such file"})
	if err := checkSARIF(sarifSchema(t), text); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	var log sarifLog
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if len(run.Tool.Driver.Rules) != 2 || run.Results[2].Index != 1 || run.Tool.Driver.Rules[1].ID != "P161" {
		t.Errorf("rules: %+v", run.Tool.Driver.Rules)
	}
	first := run.Results[0]
	at := first.Locations[0].Physical
	if at.Artifact != (sarifArtifact{"flows/a%20b.iter", "%SRCROOT%"}) || *at.Region != (sarifRegion{1, 6, 1, 9}) {
		t.Errorf("the place is %+v %+v", at.Artifact, *at.Region)
	}
	if want := "there is no node \\[y\\](1)\nhint: did you mean x?"; first.Message.Text != want {
		t.Errorf("the message is %q, want %q", first.Message.Text, want)
	}
	if got := run.Results[1].Message.Text; got != "there is no node {{y}}" {
		t.Errorf("the message is %q", got)
	}
	// The same finding on an equal line further down is another finding.
	one, two := first.Fingerprint["primaryLocationLineHash"], run.Results[1].Fingerprint["primaryLocationLineHash"]
	if hash, ok := strings.CutSuffix(one, ":1"); !ok || two != hash+":2" {
		t.Errorf("fingerprints %s and %s", one, two)
	}
	if run.Invocations[0].Successful || run.Invocations[0].Notifications[0].Locations[0].Physical.Artifact.URI != "gone/x.iter" {
		t.Errorf("a file that could not be read: %+v", run.Invocations)
	}
}

// TestSARIFOfNothing: an empty log says that all was well.
func TestSARIFOfNothing(t *testing.T) {
	t.Parallel()
	text := sarif(t, nil)
	if err := checkSARIF(sarifSchema(t), text); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	for _, want := range []string{`"results": []`, `"rules": []`, `"executionSuccessful": true`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}

// TestSchemaCatches: a log that is wrong is refused, or the tests above say
// nothing.
func TestSchemaCatches(t *testing.T) {
	t.Parallel()
	schema := sarifSchema(t)
	good := string(sarif(t, sarifExample()))
	for old, new := range map[string]string{
		`"level": "error"`: `"level": "fatal"`, `"startLine": 1`: `"startLine": 0`, `"ruleIndex"`: `"ruleNumber"`,
		`"unicodeCodePoints"`: `"characters"`, `flows/a%20b.iter`: `flows/a%2.iter`,
	} {
		if bad := strings.Replace(good, old, new, 1); bad == good || checkSARIF(schema, []byte(bad)) == nil {
			t.Errorf("%s instead of %s is accepted", new, old)
		}
	}
}

// TestSARIFHoldsAnything: whatever names and messages are, the log is valid.
func TestSARIFHoldsAnything(t *testing.T) {
	t.Parallel()
	schema := sarifSchema(t)
	rapid.Check(t, func(rt *rapid.T) {
		piece := rapid.OneOf(rapid.SampledFrom([]string{"../", "/", `C:\x`, "%", "?#", "[a](1)", "\x1b[0m", "\xff", "\n", "::", "\u202e", "a:b"}), rapid.String())
		text := rapid.Custom(func(rt *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 4).Draw(rt, "p"), "") })
		source := text.Draw(rt, "source")
		f := NewFile(text.Draw(rt, "name"), source)
		place := rapid.Custom(func(rt *rapid.T) Span {
			from := rapid.IntRange(0, len(source)).Draw(rt, "from")
			return Span{f, from, rapid.IntRange(from, len(source)).Draw(rt, "to")}
		})
		d := Diagnostic{Code: "C001", Severity: Warning, Span: place.Draw(rt, "span"), Message: text.Draw(rt, "message"), Hint: text.Draw(rt, "hint")}
		d.Related = []Related{{place.Draw(rt, "related"), text.Draw(rt, "note")}}
		list := List{d, d}
		got := sarif(t, list, Unread{text.Draw(rt, "file"), text.Draw(rt, "reason")})
		if err := checkSARIF(schema, got); err != nil {
			rt.Fatalf("%v\n%s", err, got)
		}
	})
}

func TestSARIFWriteError(t *testing.T) {
	t.Parallel()
	if err := WriteSARIF(brokenPipe{}, "", nil, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, os.ErrClosed }
