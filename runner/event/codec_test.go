package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 1000, time.UTC)

// sealed makes a line of content, which lacks its closing brace, by the format's
// rule alone.
func sealed(content string) []byte {
	sum := sha256.Sum256([]byte(content + "}"))
	return []byte(content + `,"hash":"` + hex.EncodeToString(sum[:]) + `"}`)
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

func TestEncodeGolden(t *testing.T) {
	t.Parallel()
	e := Event{
		Seq: 1, Time: noon, Run: "r1", Token: 2, Node: "fixer",
		Body: &NodeFinished{Visit: 3, Output: Inline(json.RawMessage(`{ "a<b>": "ü" }`))},
	}
	got, hash, err := Encode([]byte("kept "), &e, Hash{})
	if err != nil {
		t.Fatal(err)
	}
	want := "kept " + string(sealed(`{"v":1,"seq":1,"ts":"2026-11-21T12:00:00.000001Z","run":"r1","type":"NodeFinished","token":2,"node":"fixer",`+
		`"data":{"visit":3,"output":{"inline":{"a<b>":"ü"}}},"prev":"`+zeros+`"`)) + "\n"
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !strings.Contains(want, hash.String()) {
		t.Errorf("hash %s is not the line's", hash)
	}
}

func TestEncodeLeavesOutWhatIsNotThere(t *testing.T) {
	t.Parallel()
	line, _, err := Encode(nil, &Event{Seq: 1, Time: noon, Run: "r1", Body: &VerifyStarted{Key: "k"}}, Hash{})
	if err != nil || bytes.Contains(line, []byte("token")) || bytes.Contains(line, []byte("node")) {
		t.Errorf("line %s, error %v: want neither token nor node", line, err)
	}
}

func TestEncodeUsesUTC(t *testing.T) {
	t.Parallel()
	e := Event{Seq: 1, Time: noon.In(time.FixedZone("", 3600)), Run: "r1", Body: &VerifyStarted{}}
	line, _, err := Encode(nil, &e, Hash{})
	if err != nil || !bytes.Contains(line, []byte(`"2026-11-21T12:00:00.000001Z"`)) {
		t.Errorf("line %s, error %v: want the time in UTC", line, err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	good := func() Event { return Event{Seq: 1, Time: noon, Run: "r1", Body: &VerifyStarted{}} }
	for want, spoil := range map[string]func(*Event){
		"numbered from 1":          func(e *Event) { e.Seq = 0 },
		"names no run":             func(e *Event) { e.Run = "" },
		"token -1":                 func(e *Event) { e.Token = -1 },
		"year 10000":               func(e *Event) { e.Time = e.Time.AddDate(7974, 0, 0) },
		"finer than microseconds":  func(e *Event) { e.Time = e.Time.Add(1) },
		"no body":                  func(e *Event) { e.Body = nil },
		"body is nil":              func(e *Event) { e.Body = (*VerifyStarted)(nil) },
		"not UTF-8":                func(e *Event) { e.Node = "\xff" },
		"GateAnswered):":           func(e *Event) { e.Body = &GateAnswered{Output: json.RawMessage(`{`)} },
		"(GateAnswered): its text": func(e *Event) { e.Body = &GateAnswered{Output: json.RawMessage("\"\xff\"")} },
	} {
		e := good()
		spoil(&e)
		out, hash, err := Encode([]byte("x"), &e, Hash{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if string(out) != "x" || hash != (Hash{}) {
			t.Errorf("%s: buffer %q, hash %s: want both as they were", want, out, hash)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	const head = `{"v":1,"seq":7,"ts":"2026-11-21T12:00:00.000001Z","run":"r1"`
	const tail = `,"prev":"` + zeros + `"`
	good := head + `,"type":"VerifyStarted","data":{"key":"k"}` + tail
	if _, _, err := Decode(sealed(good), Hash{}); err != nil {
		t.Fatal(err)
	}
	swap := func(old, new string) []byte {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in the line", old)
		}
		return sealed(strings.Replace(good, old, new, 1))
	}
	hash := func(edit func(string) string) []byte {
		line := string(sealed(good))
		cut := len(line) - hexWidth - 2
		return []byte(line[:cut] + edit(line[cut:]))
	}
	for name, c := range map[string]struct {
		line []byte
		want string // "" is fine
	}{
		"unknown data field":   {swap(`"key":"k"`, `"key":"k","later":[1]`), ""},
		"empty data":           {swap(`{"key":"k"}`, `{}`), ""},
		"token and node":       {swap(`,"data"`, `,"token":3,"node":"a\"b","data"`), ""},
		"newer version":        {swap(`{"v":1`, `{"v":2`), "newer pawl (version 2)"},
		"newer type":           {swap(`VerifyStarted`, `VerifyWished`), `newer pawl (event type "VerifyWished")`},
		"version 0":            {swap(`{"v":1`, `{"v":0`), "not a complete event"},
		"no version":           {swap(`{"v":1,`, `{`), "not a complete event"},
		"seq 0":                {swap(`"seq":7`, `"seq":0`), "not a complete event"},
		"seq with zero":        {swap(`"seq":7`, `"seq":07`), "not a complete event"},
		"seq too large":        {swap(`"seq":7`, `"seq":1000000000000000000`), "not a complete event"},
		"token 0":              {swap(`,"data"`, `,"token":0,"data"`), "not a complete event"},
		"empty node":           {swap(`,"data"`, `,"node":"","data"`), "not a complete event"},
		"members swapped":      {swap(`,"data"`, `,"node":"n","token":1,"data"`), "not a complete event"},
		"space in the frame":   {swap(`"seq":7`, `"seq": 7`), "not a complete event"},
		"run missing":          {swap(`,"run":"r1"`, ``), "not a complete event"},
		"run unclosed":         {swap(`"run":"r1",`, `"run":"r1,`), "not a complete event"},
		"run no JSON":          {swap(`"r1"`, "\"r\t\""), "not a complete event"},
		"time with zone":       {swap(`000001Z`, `0001+01`), "RFC 3339"},
		"time with five":       {swap(`.000001Z`, `.00001Z`), "not a complete event"},
		"no such time":         {swap(`11-21T12`, `11-31T12`), "RFC 3339"},
		"data a list":          {swap(`{"key":"k"}`, `["key"]`), "not a complete event"},
		"data torn":            {swap(`{"key":"k"}`, `{"key":"k"`), "does not fit VerifyStarted"},
		"data twice":           {swap(`{"key":"k"}`, `{"key":"k"}{}`), "does not fit VerifyStarted"},
		"data of another type": {swap(`{"key":"k"}`, `{"key":1}`), "does not fit VerifyStarted"},
		"not UTF-8":            {swap(`"k"`, "\"\xff\""), "not UTF-8"},
		"prev in capitals":     {swap(tail, strings.ReplaceAll(tail, "0", "A")), "not a complete event"},
		"prev of another line": {swap(tail, strings.ReplaceAll(tail, "0", "a")), "does not follow"},
		"no prev":              {swap(tail, ""), "not a complete event"},
		"empty":                {nil, "not a complete event"},
		"short":                {[]byte(`{}`), "not a complete event"},
		"hash wrong":           {hash(func(h string) string { return "0" + h[1:] }), "hash does not fit"},
		"hash in capitals":     {hash(strings.ToUpper), "hash does not fit"},
		"text behind":          {append(sealed(good), ' '), "not a complete event"},
		"end missing":          {hash(func(h string) string { return h[:len(h)-1] + "]" }), "hash does not fit"},
	} {
		_, _, err := Decode(c.line, Hash{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		var newer *NewerError
		if errors.As(err, &newer) != strings.Contains(c.want, "newer") {
			t.Errorf("%s: error %v has the wrong type", name, err)
		}
	}
}

func TestDecodeHintsAtANewerPawl(t *testing.T) {
	t.Parallel()
	line := sealed(`{"v":9,"what":"ever has another rule for its hash","and":"is long enough to be a line of this format, or so it seems"`)
	line[len(line)-4] ^= 1
	_, _, err := Decode(line, Hash{})
	var newer *NewerError
	if err == nil || errors.As(err, &newer) || !strings.Contains(err.Error(), "newer pawl") {
		t.Errorf("error %v: want damage that may be a newer format", err)
	}
}

func TestPeekIgnoresWhatComesBefore(t *testing.T) {
	t.Parallel()
	e := Event{Seq: 4, Time: noon, Run: "r1", Body: &VerifyStarted{Key: "k"}}
	line, _, err := Encode(nil, &e, Hash{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	line = line[:len(line)-1]
	if got, err := Peek(line); err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("peek %+v, error %v; want %+v", got, err, e)
	}
	line[20] ^= 1
	if _, err := Peek(line); err == nil {
		t.Error("a damaged line was read")
	}
}

// TestEveryBodyIsRegistered reads the package's source, because nothing at run
// time knows all types that implement Body.
func TestEveryBodyIsRegistered(t *testing.T) {
	t.Parallel()
	found := 0
	for _, file := range []string{"run.go", "node.go", "branch.go", "effect.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Name.Name != "EventType" {
				continue
			}
			found++
			receiver := f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name
			wire, err := strconv.Unquote(f.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			make := bodies[Type(wire)]
			if make == nil {
				t.Errorf("%s is not registered", wire)
				continue
			}
			if b := make(); reflect.TypeOf(b).Elem().Name() != receiver || b.EventType() != Type(wire) {
				t.Errorf("%s is registered as %T", wire, b)
			}
		}
	}
	if found != len(bodies) || found != len(Types()) {
		t.Errorf("%d types in the source, %d registered, %d listed", found, len(bodies), len(Types()))
	}
}

// fill draws a value that JSON can give back unchanged.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Interface().(type) {
	case json.RawMessage:
		v.SetBytes(drawJSON(t))
		return
	case Payload:
		p := Payload{Inline: drawJSON(t)}
		if rapid.Bool().Draw(t, "in a blob") {
			p = Payload{Blob: DigestOf(p.Inline), Size: rapid.IntRange(1, 1<<40).Draw(t, "size")}
		}
		v.Set(reflect.ValueOf(p))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			item := reflect.New(v.Type().Elem()).Elem()
			fill(t, item)
			v.Set(reflect.Append(v, item))
		}
	case reflect.Map:
		m := rapid.MapOfN(rapid.String(), rapid.String(), 1, 4).Draw(t, "map")
		v.Set(reflect.MakeMap(v.Type()))
		for key, value := range m {
			v.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(value).Convert(v.Type().Elem()))
		}
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "number"))
	default:
		t.Fatalf("no rule for a field of type %s", v.Type())
	}
}

func drawJSON(t *rapid.T) json.RawMessage {
	raw, err := appendJSON(nil, map[string]any{
		"text": rapid.String().Draw(t, "text"), "n": rapid.Float64().Draw(t, "n"), "list": []any{nil, true, "<&>\u2028"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func drawEvent(t *rapid.T, kind Type) Event {
	body := bodies[kind]()
	fill(t, reflect.ValueOf(body).Elem())
	return Event{
		Seq:   Seq(rapid.Uint64Range(1, maxNumber-1).Draw(t, "seq")),
		Time:  time.UnixMicro(rapid.Int64Range(-62167219200_000000, 253402300799_999999).Draw(t, "time")).UTC(),
		Run:   RunID(rapid.StringN(1, 70, -1).Draw(t, "run")),
		Token: TokenID(rapid.IntRange(0, maxNumber-1).Draw(t, "token")),
		Node:  rapid.String().Draw(t, "node"),
		Body:  body,
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, kind := range Types() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				e := drawEvent(t, kind)
				var prev Hash
				copy(prev[:], rapid.SliceOfN(rapid.Byte(), len(prev), len(prev)).Draw(t, "prev"))
				line, hash, err := Encode(nil, &e, prev)
				if err != nil {
					t.Fatal(err)
				}
				if bytes.IndexByte(line, '\n') != len(line)-1 || !json.Valid(line) {
					t.Fatalf("not one JSON object on one line: %q", line)
				}
				got, gotHash, err := Decode(line[:len(line)-1], prev)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, e) || gotHash != hash {
					t.Fatalf("got  %+v %+v\nwant %+v %+v", got, got.Body, e, e.Body)
				}
				again, _, err := Encode(nil, &got, prev)
				if err != nil || !bytes.Equal(again, line) {
					t.Fatalf("encoded again: %v\n%s\n%s", err, again, line)
				}
			})
		})
	}
}

func TestEncodeIsDeterministic(t *testing.T) {
	t.Parallel()
	digests := make(map[string]Digest)
	for i := range 50 {
		digests[fmt.Sprintf("node%d", i)] = "d"
	}
	e := Event{Seq: 1, Time: noon, Run: "r1", Body: &RunStarted{NodeDigests: digests}}
	first, _, err := Encode(nil, &e, Hash{})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if again, _, _ := Encode(nil, &e, Hash{}); !bytes.Equal(again, first) {
			t.Fatalf("got  %s\nwant %s", again, first)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, kind := range Types() {
		line, _, err := Encode(nil, &Event{Seq: 3, Time: noon, Run: "r", Token: 1, Node: "n", Body: bodies[kind]()}, Hash{})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line[:len(line)-1])
		f.Add(line[:len(line)-hashWidth-1])
	}
	f.Add(sealed(`{"v":2,"x":"` + strings.Repeat("x", tailWidth) + `"`))
	f.Fuzz(func(t *testing.T, line []byte) {
		before := bytes.Clone(line)
		for _, line := range [][]byte{line, sealed(string(line))} {
			e, err := Peek(line)
			if err != nil {
				continue
			}
			once, _, err := Encode(nil, &e, Hash{})
			if err != nil {
				t.Fatalf("%q was read and cannot be written: %v", line, err)
			}
			e2, err := Peek(once[:len(once)-1])
			if err != nil {
				t.Fatalf("%q cannot be read back: %v", once, err)
			}
			if twice, _, _ := Encode(nil, &e2, Hash{}); !bytes.Equal(once, twice) {
				t.Fatalf("%q\nbecame %q", once, twice)
			}
		}
		if !bytes.Equal(line, before) {
			t.Fatal("the line was changed")
		}
	})
}
