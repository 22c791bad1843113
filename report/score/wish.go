package score

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Wish is what a metric must be: a value, or a comparison with a number.
type Wish struct {
	op   string // =, !=, <, <=, >, >=
	want string
	n    float64
	num  bool
}

// ParseWish reads "true", "approved", "3", "= x", "!= x" or ">= 0.8". The error is
// one line about the text.
func ParseWish(text string) (Wish, error) {
	w := Wish{op: "=", want: strings.TrimSpace(text)}
	for _, op := range []string{">=", "<=", "!=", "==", ">", "<", "="} {
		if rest, found := strings.CutPrefix(w.want, op); found {
			w.op, w.want = op, strings.TrimSpace(rest)
			break
		}
	}
	if w.op == "==" {
		w.op = "="
	}
	n, err := strconv.ParseFloat(w.want, 64)
	w.n, w.num = n, err == nil && n-n == 0
	switch {
	case w.want == "":
		return Wish{}, fmt.Errorf("success value %q: there is nothing to compare with", text)
	case !w.num && (w.op[0] == '<' || w.op[0] == '>'):
		return Wish{}, fmt.Errorf("success value %q: %s compares with a number", text, w.op)
	}
	return w, nil
}

// String is the wish as a person says it.
func (w Wish) String() string {
	if w.op == "=" {
		return w.want
	}
	return w.op + " " + w.want
}

// Numeric reports whether only a number can fulfil the wish.
func (w Wish) Numeric() bool { return w.op[0] == '<' || w.op[0] == '>' }

// Want is what the metric is compared with.
func (w Wish) Want() string { return w.want }

// Holds reports whether value is what was wished for. Texts that are numbers
// count as such.
func (w Wish) Holds(value any) bool {
	if n, ok := Number(value); ok && w.num {
		switch w.op {
		case "<":
			return n < w.n
		case "<=":
			return n <= w.n
		case ">":
			return n > w.n
		case ">=":
			return n >= w.n
		case "!=":
			return n != w.n
		}
		return n == w.n
	}
	switch w.op {
	case "=":
		return Text(value) == w.want
	case "!=":
		return Text(value) != w.want
	}
	return false
}

// Number is value as a number, also when it is a text that holds one. Neither
// infinities nor truths are numbers.
func Number(value any) (float64, bool) {
	switch v := value.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, v-v == 0
	case string:
		n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return n, err == nil && n-n == 0
	}
	return 0, false
}

// Text is value for people: texts as they are, numbers with at most six
// decimals, everything else as JSON, and "–" for what is not known.
func Text(value any) string {
	switch v := value.(type) {
	case nil:
		return "–"
	case string:
		return v
	case float64:
		text := strings.TrimRight(strconv.FormatFloat(v, 'f', 6, 64), "0")
		return strings.TrimSuffix(text, ".")
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(raw)
}
