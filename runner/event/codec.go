package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// Version is the format that this program writes. It is raised when a reader
// that ignores what it does not know would fold a record wrongly; a field that
// may be ignored does not raise it. Every version begins a line with `{"v":N`
// and ends it with the hash of what stands before.
const Version = 1

// timeLayout is RFC 3339 in UTC with exactly six decimals.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// The frame around a line's data. Everything behind the data has a fixed width,
// so a reader finds the data without scanning it.
const (
	prevMember = `,"prev":"`
	hashMember = `,"hash":"`
	hashWidth  = len(hashMember) + hexWidth + len(`"}`)
	tailWidth  = len(prevMember) + hexWidth + len(`"`) + hashWidth
)

// NewerError says that a record was written by a newer pawl: it is sound, but
// cannot be understood by this one.
type NewerError struct {
	What string // "version 2", "event type GateRenamed"
}

// Error implements error.
func (e *NewerError) Error() string {
	return fmt.Sprintf("record written by a newer pawl (%s): use that version or a later one", e.What)
}

// Encode appends e as one line, its newline included, to buf. prev is the hash
// of the line before, zero for the first event; the new line's hash is
// returned. The same event and prev give the same bytes. On an error buf is
// returned as it was.
//
// An event that would read back as something else is refused: text that is not
// UTF-8, a time finer than microseconds, a number out of range. So is a body
// that is no JSON object.
func Encode(buf []byte, e *Event, prev Hash) ([]byte, Hash, error) {
	if err := encodable(e); err != nil {
		return buf, Hash{}, fmt.Errorf("encode event %d: %w", e.Seq, err)
	}
	line := appendHeader(buf, e)
	data := len(line)
	line, err := appendJSON(line, e.Body)
	if err == nil && line[data] != '{' {
		err = errors.New("the body is nil")
	}
	if err != nil {
		return buf, Hash{}, fmt.Errorf("encode event %d (%s): %w", e.Seq, e.Body.EventType(), err)
	}
	line = append(line, prevMember...)
	line = append(prev.append(line), `"}`...)
	if !utf8.Valid(line[len(buf):]) {
		return buf, Hash{}, fmt.Errorf("encode event %d (%s): its text is not UTF-8", e.Seq, e.Body.EventType())
	}
	hash := hashOf(line[len(buf):])
	line = append(line[:len(line)-1], hashMember...)
	return append(hash.append(line), "\"}\n"...), hash, nil
}

// encodable reports what keeps e's header from reading back the same.
func encodable(e *Event) error {
	year := e.Time.UTC().Year()
	switch {
	case e.Seq == 0 || e.Seq >= maxNumber:
		return errors.New("events are numbered from 1 to 10^18")
	case e.Run == "":
		return errors.New("it names no run")
	case e.Token < 0 || e.Token >= maxNumber:
		return fmt.Errorf("token %d is out of range", e.Token)
	case year < 0 || year > 9999:
		return fmt.Errorf("year %d has no RFC 3339 form", year)
	case e.Time.Nanosecond()%1000 != 0:
		return errors.New("its time is finer than microseconds")
	case e.Body == nil:
		return errors.New("it has no body")
	case bodies[e.Body.EventType()] == nil:
		return fmt.Errorf("type %q is not registered", e.Body.EventType())
	}
	return nil
}

func appendHeader(buf []byte, e *Event) []byte {
	buf = append(buf, `{"v":`...)
	buf = strconv.AppendInt(buf, Version, 10)
	buf = append(buf, `,"seq":`...)
	buf = strconv.AppendUint(buf, uint64(e.Seq), 10)
	buf = append(buf, `,"ts":"`...)
	buf = e.Time.UTC().AppendFormat(buf, timeLayout)
	buf = append(buf, `","run":`...)
	buf = appendString(buf, string(e.Run))
	buf = append(buf, `,"type":"`...)
	buf = append(buf, e.Body.EventType()...)
	buf = append(buf, '"')
	if e.Token != 0 {
		buf = append(buf, `,"token":`...)
		buf = strconv.AppendInt(buf, int64(e.Token), 10)
	}
	if e.Node != "" {
		buf = append(buf, `,"node":`...)
		buf = appendString(buf, e.Node)
	}
	return append(buf, `,"data":`...)
}

// appendString appends s as a JSON string. Text outside plain ASCII takes the
// slow way; bytes that are not UTF-8 stay and are refused with the line.
func appendString(buf []byte, s string) []byte {
	if !utf8.ValidString(s) {
		return append(append(append(buf, '"'), s...), '"')
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			buf, _ = appendJSON(buf, s) // a string always encodes
			return buf
		}
	}
	return append(append(append(buf, '"'), s...), '"')
}

// appendJSON appends v without the escaping that HTML would want: a record is
// read by people too, and escaping depends on where it is shown.
func appendJSON(buf []byte, v any) ([]byte, error) {
	s := sink{buf}
	enc := json.NewEncoder(&s)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return buf, err
	}
	return s.buf[:len(s.buf)-1], nil
}

// sink is a writer onto the end of buf.
type sink struct{ buf []byte }

// Write implements io.Writer.
func (s *sink) Write(p []byte) (int, error) {
	s.buf = append(s.buf, p...)
	return len(p), nil
}

// Decode reads one line, without its newline, that must continue prev. It
// returns the line's own hash. The error is a *[NewerError] for a sound line
// that this program cannot understand; any other error means damage and says
// what is wrong with the line. line is not kept.
//
// Data fields that a type does not have are ignored: the hash covers them, and a
// newer pawl that adds a field which must not be ignored raises [Version].
func Decode(line []byte, prev Hash) (Event, Hash, error) {
	e, link, err := new(decoder).line(line)
	if err == nil && link.prev != prev {
		err = errLink
	}
	if err != nil {
		return Event{}, Hash{}, err
	}
	return e, link.hash, nil
}

// Peek reads one line on its own, without its newline: everything that [Decode]
// checks except what it follows. It serves listings that read a record's ends.
func Peek(line []byte) (Event, error) {
	e, _, err := new(decoder).line(line)
	return e, err
}

// What can be wrong with a line.
var (
	errFrame = errors.New("it is not a complete event")
	errHash  = errors.New("its hash does not fit its content")
	errLink  = errors.New("it does not follow the line before")
	errUTF8  = errors.New("its text is not UTF-8")
	errTime  = errors.New("its time is not RFC 3339 with six decimals in UTC")
)

// link is a line's place in the chain.
type link struct{ prev, hash Hash }

// decoder reads lines; it keeps names that repeat on every line. The zero value
// is ready. It belongs to one goroutine.
type decoder struct {
	hasher hasher
	names  map[string]string
}

// line decodes one line, without its newline. Damage is told apart from a newer
// format by the hash, which is the same in every version.
func (d *decoder) line(line []byte) (Event, link, error) {
	var l link
	cut := len(line) - hashWidth
	if len(line) < tailWidth || line[0] != '{' || !bytes.HasPrefix(line[cut:], []byte(hashMember)) {
		return Event{}, l, errFrame
	}
	l.hash = d.hasher.sum(line[:cut])
	if c := (cursor{rest: line[cut+len(hashMember):]}); !c.hash(l.hash) || string(c.rest) != `"}` {
		return Event{}, l, d.mismatch(line)
	}
	if !utf8.Valid(line) {
		return Event{}, l, errUTF8
	}
	e, err := d.content(line[:cut], &l)
	return e, l, err
}

func (d *decoder) mismatch(line []byte) error {
	c := cursor{rest: line}
	if c.lit(`{"v":`); c.uint() > Version && !c.bad {
		return fmt.Errorf("%w, or a newer pawl wrote it", errHash)
	}
	return errHash
}

// content reads what the hash covers: header, data and prev.
func (d *decoder) content(line []byte, l *link) (Event, error) {
	c := cursor{rest: line}
	c.lit(`{"v":`)
	version := c.uint()
	if c.bad || version < 1 {
		return Event{}, errFrame
	}
	if version > Version {
		return Event{}, &NewerError{What: fmt.Sprintf("version %d", version)}
	}
	e, kind, err := d.header(&c)
	if err != nil {
		return Event{}, err
	}
	data := len(c.rest) - len(prevMember) - hexWidth - len(`"`)
	if data < len(`{}`) || c.rest[0] != '{' {
		return Event{}, errFrame
	}
	p := cursor{rest: c.rest[data:]}
	p.lit(prevMember)
	if l.prev = p.parseHash(); p.bad || string(p.rest) != `"` {
		return Event{}, errFrame
	}
	e.Body, err = decodeBody(kind, c.rest[:data])
	return e, err
}

// header reads the members between v and the data, which it leaves in c. They
// stand in one order only.
func (d *decoder) header(c *cursor) (Event, Type, error) {
	var e Event
	c.lit(`,"seq":`)
	e.Seq = Seq(c.uint())
	c.lit(`,"ts":"`)
	ts := c.take(len(timeLayout))
	c.lit(`","run":`)
	e.Run = RunID(d.name(c))
	c.lit(`,"type":`)
	kind := Type(d.name(c))
	if c.try(`,"token":`) {
		e.Token = TokenID(c.uint())
		c.bad = c.bad || e.Token <= 0
	}
	if c.try(`,"node":`) {
		e.Node = d.name(c)
		c.bad = c.bad || e.Node == ""
	}
	c.lit(`,"data":`)
	if c.bad || e.Seq == 0 || e.Run == "" {
		return e, kind, errFrame
	}
	var err error
	e.Time, err = parseTime(ts)
	return e, kind, err
}

// name reads a JSON string and keeps one copy of each.
func (d *decoder) name(c *cursor) string {
	raw := c.quoted()
	if name, known := d.names[string(raw)]; known {
		return name
	}
	var name string
	if c.bad || json.Unmarshal(raw, &name) != nil {
		c.bad = true
		return ""
	}
	if d.names == nil {
		d.names = make(map[string]string)
	}
	d.names[string(raw)] = name
	return name
}

func parseTime(text []byte) (time.Time, error) {
	var t time.Time
	dot := len(timeLayout) - len(".000000Z")
	if text[dot] != '.' || text[len(text)-1] != 'Z' || t.UnmarshalText(text) != nil {
		return t, errTime
	}
	return t, nil
}

func decodeBody(kind Type, data []byte) (Body, error) {
	make := bodies[kind]
	if make == nil {
		return nil, &NewerError{What: "event type " + strconv.Quote(string(kind))}
	}
	body := make()
	if err := json.Unmarshal(data, body); err != nil {
		return nil, fmt.Errorf("its data does not fit %s: %w", kind, err)
	}
	return body, nil
}
