package sandbox

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	notedScan  = 16 << 20 // bytes of the part left out that are looked through for notable lines
	notedBytes = 16 << 10 // of notable lines that are kept
	notedLine  = 1 << 10  // of one such line
)

// Output is what a process wrote to a stream. Head and Tail touch when nothing
// is missing.
type Output struct {
	Head, Tail []byte
	Noted      []string // notable lines of what is missing, in order
	Total      int64    // bytes written
}

// Missing is the number of bytes between Head and Tail that were not kept.
func (o *Output) Missing() int64 { return o.Total - int64(len(o.Head)+len(o.Tail)) }

// String is the output as text. Where something is missing, a line says how
// much, and the notable lines of it follow.
func (o *Output) String() string {
	missing := o.Missing()
	if missing == 0 {
		return string(o.Head) + string(o.Tail)
	}
	var b strings.Builder
	b.Write(o.Head)
	if !bytes.HasSuffix(o.Head, []byte("\n")) {
		b.WriteByte('\n')
	}
	if len(o.Noted) == 0 {
		fmt.Fprintf(&b, "[… %d bytes left out …]\n", missing)
	} else {
		fmt.Fprintf(&b, "[… %d bytes left out; lines of note among them:]\n%s\n[…]\n", missing, strings.Join(o.Noted, "\n"))
	}
	b.Write(o.Tail)
	return b.String()
}

// keeper keeps beginning and end of a stream of any length, and notable lines
// of what lies between. It is not safe for concurrent use.
type keeper struct {
	limit int
	head  []byte
	ring  []byte // the last limit bytes of what followed head, once it is full
	next  int    // where in ring the oldest byte is
	total int64
	lines *liner // nil when nothing is notable
}

func newKeeper(limit int, notable func([]byte) bool) *keeper {
	k := &keeper{limit: limit}
	if notable != nil {
		k.lines = &liner{notable: notable}
	}
	return k
}

// add takes the stream's next bytes; it keeps copies.
func (k *keeper) add(p []byte) {
	before := k.total
	k.total += int64(len(p))
	if n := min(k.limit-len(k.head), len(p)); n > 0 {
		k.head = append(k.head, p[:n]...)
		p, before = p[n:], before+int64(n)
	}
	if len(p) == 0 {
		return
	}
	if k.lines != nil {
		k.lines.add(p, before)
	}
	if len(p) >= k.limit {
		k.ring, k.next = append(k.ring[:0], p[len(p)-k.limit:]...), 0
		return
	}
	n := min(k.limit-len(k.ring), len(p))
	k.ring = append(k.ring, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(k.ring[k.next:], p)
		k.next = (k.next + n) % k.limit
	}
}

// output is what was kept; it shares no memory with k's ring.
func (k *keeper) output() Output {
	o := Output{Head: k.head, Total: k.total}
	o.Tail = append(append(make([]byte, 0, len(k.ring)), k.ring[k.next:]...), k.ring[:k.next]...)
	if k.lines != nil && o.Missing() > 0 {
		o.Noted = k.lines.before(k.total - int64(len(o.Tail)))
	}
	return o
}

// liner cuts a stream into lines and keeps the notable ones, within bounds.
type liner struct {
	notable func([]byte) bool
	partial []byte // beginning of a line whose end has not come yet
	scanned int
	kept    []noted
	size    int // bytes in kept
}

type noted struct {
	end  int64 // offset in the stream behind the line
	text string
}

// add takes the bytes at offset of the stream.
func (l *liner) add(p []byte, offset int64) {
	if l.scanned >= notedScan || l.size >= notedBytes {
		return
	}
	l.scanned += len(p)
	for len(p) > 0 {
		n := bytes.IndexByte(p, '\n')
		if n < 0 {
			l.partial = append(l.partial, p[:min(len(p), notedLine-min(len(l.partial), notedLine))]...)
			return
		}
		line := p[:n]
		if len(l.partial) > 0 {
			line = append(l.partial, line[:min(n, notedLine-min(len(l.partial), notedLine))]...)
		}
		offset += int64(n) + 1
		l.judge(line[:min(len(line), notedLine)], offset)
		l.partial, p = l.partial[:0], p[n+1:]
	}
}

func (l *liner) judge(line []byte, end int64) {
	if l.size < notedBytes && l.notable(line) {
		l.kept = append(l.kept, noted{end, strings.TrimRight(string(line), "\r")})
		l.size += len(line) + 1
	}
}

// before is the text of the kept lines that end at or before offset.
func (l *liner) before(offset int64) []string {
	var lines []string
	for _, n := range l.kept {
		if n.end <= offset {
			lines = append(lines, n.text)
		}
	}
	return lines
}
