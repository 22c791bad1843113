package actions

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf16"
)

// SummaryLimit is the most bytes that the summary of one step may have. A larger
// file is not shown at all.
const SummaryLimit = 1 << 20

// outputsLimit is the most that all outputs of a job may have together, in bytes
// of UTF-16.
const outputsLimit = 1 << 20

// Output is one output of a step.
type Output struct{ Name, Value string }

var outputName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// AppendOutputs adds outputs to the file that GITHUB_OUTPUT names, all of them or
// none. Every value stands between lines of a delimiter drawn from random, which
// no value can guess; so a value may hold any text, lines that look like another
// output included.
func AppendOutputs(path string, random io.Reader, outputs []Output) error {
	text, err := Outputs(random, outputs)
	if err != nil {
		return err
	}
	return appendTo(path, text)
}

// Outputs is the text that [AppendOutputs] adds.
func Outputs(random io.Reader, outputs []Output) (string, error) {
	var b strings.Builder
	size := 0
	for _, o := range outputs {
		if !outputName.MatchString(o.Name) {
			return "", fmt.Errorf("output %q: a name has letters, digits, _ and - only", o.Name)
		}
		value := strings.ToValidUTF8(o.Value, "\uFFFD")
		if size += 2 * len(utf16.Encode([]rune(value))); size > outputsLimit {
			return "", fmt.Errorf("output %s: GitHub takes 1 MiB of outputs from a job, and this one goes beyond it", o.Name)
		}
		delimiter, err := delimiterFor(random, value)
		if err != nil {
			return "", fmt.Errorf("output %s: %w", o.Name, err)
		}
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", o.Name, delimiter, value, delimiter)
	}
	return b.String(), nil
}

// delimiterFor draws a delimiter that value does not hold. One that it does hold
// means that random is not random: nothing is written then.
func delimiterFor(random io.Reader, value string) (string, error) {
	token, err := token(random)
	if err != nil {
		return "", err
	}
	if strings.Contains(value, token) {
		return "", errors.New("the value holds the delimiter that was drawn for it")
	}
	return token, nil
}

// token is a word that nobody can guess.
func token(random io.Reader) (string, error) {
	var raw [16]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	return "pawl_" + hex.EncodeToString(raw[:]), nil
}

// AppendSummary adds markdown to the file that GITHUB_STEP_SUMMARY names. draw
// writes it and keeps to limit bytes, which is what earlier additions of the same
// step have left; page.Markdown does that at section borders. What is longer all
// the same is refused, because GitHub would then show nothing of the step.
func AppendSummary(path string, draw func(w io.Writer, limit int) error) error {
	used, err := sizeOf(path)
	if err != nil {
		return fmt.Errorf("job summary: %w", err)
	}
	const border = "\n" // keeps what was there apart
	room := SummaryLimit - used - len(border)
	if room <= 0 {
		return fmt.Errorf("job summary: the %d bytes that this step has written leave no room", used)
	}
	var b strings.Builder
	if err := draw(&b, room); err != nil {
		return fmt.Errorf("job summary: %w", err)
	}
	text := strings.ToValidUTF8(b.String(), "\uFFFD")
	if len(text) > room {
		return fmt.Errorf("job summary: %d bytes, of which GitHub shows %d at most", len(text), room)
	}
	if used > 0 {
		text = border + text
	}
	return appendTo(path, text)
}

func sizeOf(path string) (int, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}

// appendTo adds text with one write, so that a full disk cannot leave half a
// value behind that reads as a whole one.
func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("append to %s: %w", path, err)
	}
	return nil
}
