package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/pawl-ci/pawl/report/words"
)

// clipped is how many characters of one entry are shown, unless all is asked for.
const clipped = 1500

// Write draws visits as plain text; full shows every entry whole. Text of models
// and tools cannot move the cursor.
func Write(w io.Writer, visits []Visit, full bool) error {
	var b strings.Builder
	for i := range visits {
		visits[i].draw(&b, full)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (v *Visit) draw(b *strings.Builder, full bool) {
	fmt.Fprintf(b, "%s, visit %d, %s", v.Node, v.Visit, v.StartedAt.Format("15:04:05"))
	if v.Continues != "" {
		fmt.Fprintf(b, ", continues %s", v.Continues)
	}
	if v.Session != "" {
		fmt.Fprintf(b, " (session %s)", v.Session)
	}
	b.WriteString("\n")
	for _, e := range v.Entries {
		e.draw(b, full)
	}
	if v.Output != nil {
		drawText(b, "output", pretty(v.Output), full)
	}
	if v.Failure != "" {
		drawText(b, "failed", v.Failure, full)
	}
	b.WriteString("\n")
}

func (e *Entry) draw(b *strings.Builder, full bool) {
	head := string(e.Kind)
	if e.Who != "" {
		head += " " + words.OneLine(e.Who)
	}
	if e.Error {
		head += " (error)"
	}
	drawText(b, head, e.Text, full)
}

func drawText(b *strings.Builder, head, text string, full bool) {
	text = strings.TrimRight(words.Text(text), "\n")
	if !full {
		text = words.Clip(text, clipped)
	}
	fmt.Fprintf(b, "  %s:\n", head)
	if text != "" {
		indented := "    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
		b.WriteString(strings.ReplaceAll(indented, "\n    \n", "\n\n"))
	}
}

func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// WriteArtifacts draws one line for each version, or every value whole.
func WriteArtifacts(w io.Writer, list []Artifact, full bool) error {
	var b strings.Builder
	for _, a := range list {
		at := fmt.Sprintf("%s  version %d  %s, visit %d  %s", a.Name, a.Version, a.Node, a.Visit, a.At.Format("15:04:05"))
		if full {
			drawText(&b, at, pretty(a.Value), true)
			continue
		}
		fmt.Fprintf(&b, "%s  %s\n", at, words.Clip(words.OneLine(string(a.Value)), 100))
	}
	if len(list) == 0 {
		b.WriteString("nothing was published\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
