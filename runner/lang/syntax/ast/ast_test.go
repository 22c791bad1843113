package ast

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

func TestAddKeepsTheFirst(t *testing.T) {
	t.Parallel()
	f := NewFile(diag.NewFile("a.iter", ""), 0)
	first, second := &Node{Name: Ident{Name: "a"}}, &Node{Name: Ident{Name: "a"}, Kind: Judge}
	if f.AddNode(first) != nil || f.AddNode(second) != first || f.Node("a") != first || len(f.Nodes) != 1 {
		t.Error("the second node of a name takes the place of the first")
	}
	if f.AddPrompt(&Prompt{Name: Ident{Name: "a"}}) != nil || f.AddSchema(&Schema{Name: Ident{Name: "a"}}) != nil || f.AddServer(&Server{Name: Ident{Name: "a"}}) != nil {
		t.Error("declarations of different kinds share their names")
	}
	if f.Prompt("a") == nil || f.Schema("a") == nil || f.Server("a") == nil || f.Prompt("b") != nil || f.Workflow() != nil {
		t.Error("a declaration is not found, or one that is not there is")
	}
}

func TestUnique(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 3, shortList, shortList + 1, 200} {
		var list, want []Ident
		for i := range length {
			id := Ident{Name: strconv.Itoa(i % 7), Span: diag.Span{Start: i}}
			list = append(list, id)
			if i < 7 {
				want = append(want, id)
			}
		}
		again := 0
		got := Unique(list, func(id *Ident) *Ident { return id }, func(id *Ident, first diag.Span) {
			again++
			if first.Start != id.Span.Start%7 {
				t.Errorf("%d: the first %s stands at %d", length, id.Name, first.Start)
			}
		})
		if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) || again != length-len(want) {
			t.Errorf("%d: kept %v, told of %d", length, got, again)
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	number := func(text string) *Value { return &Value{Kind: NumberValue, Str: text} }
	if number("12").Int() != 12 || number("1.5").Int() != 0 || number("1.5").Float() != 1.5 || number("90s").Duration() != 90*time.Second || number("x").Duration() != 0 {
		t.Error("a number is read wrongly")
	}
	if text := (&Value{Kind: StringValue, Str: "12"}); text.Int() != 0 || text.Float() != 0 || text.IsInt() || text.Bool() {
		t.Error("a text is taken for a number")
	}
	for text, want := range map[string]any{"3": 3, "-7": -7, "2.0": 2.0, "1e2": 100.0, "99999999999999999999": 1e20} {
		if got := number(text).Plain(); got != want {
			t.Errorf("%s is %v (%T)", text, got, got)
		}
	}
	var none *Value
	if none.Items() != nil || none.Entries() != nil || none.Props() != nil {
		t.Error("no value has members")
	}
	if (&Value{Kind: BlockValue}).Plain() != nil {
		t.Error("a block is plain")
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	texts := &Value{Kind: ListValue, Parts: &Parts{Items: []Value{{Kind: StringValue}}}}
	mixed := &Value{Kind: ListValue, Parts: &Parts{Items: []Value{{Kind: StringValue}, {Kind: BoolValue}}}}
	whole, half := &Value{Kind: NumberValue, Str: "1"}, &Value{Kind: NumberValue, Str: "0.5"}
	for _, test := range []struct {
		typ  Type
		fits string
	}{{String, "s"}, {Bool, "b"}, {Int, "w"}, {Float, "wh"}, {Strings, "t"}, {JSON, "sbwhtm"}} {
		got := ""
		for _, v := range []struct {
			letter string
			value  *Value
		}{{"s", &Value{Kind: StringValue}}, {"b", &Value{Kind: BoolValue}}, {"w", whole}, {"h", half}, {"t", texts}, {"m", mixed}} {
			if test.typ.Fits(v.value) {
				got += v.letter
			}
		}
		if got != test.fits {
			t.Errorf("%s takes %s, want %s", test.typ, got, test.fits)
		}
	}
}

func TestTextOfAnotherWord(t *testing.T) {
	t.Parallel()
	f := diag.NewFile("a.iter", "session: max")
	v := &Value{Kind: WordValue, Str: "extra_high", Span: diag.Span{File: f, Start: 9, End: 12}}
	if at := v.Text().At(6, 8); at != v.Span || !strings.HasPrefix(at.Text(), "max") {
		t.Errorf("a part of a word stands at %v", at)
	}
}
