package event

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
)

// blockSize is how much of a record one goroutine decodes at a time.
const blockSize = 128 << 10

// Reader reads a whole record.
//
// A crash in the middle of an append, whatever the number of lines in it, leaves
// a prefix of the bytes that were being written, because the newline of a line is
// its last byte: complete lines, then at most one without its newline. After a
// power loss the file may also be longer than what reached the disk; the rest
// reads as NUL bytes. So what stands behind the last newline, be it text or NULs,
// is the torn tail: no append of it was ever confirmed, and it is left out. It
// may even be a whole event that only lacks its newline.
//
// Everything else is damage. A line that has its newline was written to its end,
// so a wrong hash in it is no torn write, even in the last line. A hole of NULs
// with whole lines behind it could be an unconfirmed write whose parts reached
// the disk out of order, but just as well a block gone bad under confirmed
// events: it counts as damage, because dropping those would repeat finished work.
type Reader struct {
	src   io.Reader
	chain Chain
	line  int
	rest  []byte // read, behind the last newline
	free  [][]byte
	eof   bool
	err   error // of src
}

// NewReader returns a reader of the record of run in r; "" admits any run, as
// long as all events belong to the same one.
func NewReader(r io.Reader, run RunID) *Reader {
	return &Reader{src: r, chain: Chain{Run: run}}
}

// ReadAll reads a record. cut is the number of bytes in a torn tail, which
// belong to no event; see [Reader] for what is torn and what is damaged. The
// error is a *[DamagedError], a *[NewerError] wrapped with its place, or what r
// returned; the events before that place are returned with it.
func ReadAll(r io.Reader) (events []Event, cut int, err error) {
	reader := NewReader(r, "")
	events, err = reader.ReadAll()
	return events, reader.Cut(), err
}

// Chain is the end of what has been read: where a writer continues. Its Size is
// the offset at which a torn tail begins.
func (r *Reader) Chain() Chain { return r.chain }

// Cut is the number of bytes in the torn tail, known after ReadAll has succeeded.
func (r *Reader) Cut() int { return len(r.rest) }

// ReadAll is [ReadAll]. Blocks of lines are decoded side by side, then linked in
// their order, so the result does not depend on scheduling.
func (r *Reader) ReadAll() ([]Event, error) {
	var good [][]Event
	var queue []*block
	workers := runtime.GOMAXPROCS(0)
	for {
		b := r.next()
		if b != nil {
			queue = append(queue, b)
			go b.decode()
		}
		for len(queue) > workers || b == nil && len(queue) > 0 {
			oldest := queue[0]
			queue = queue[1:]
			<-oldest.done
			n, err := r.link(oldest)
			good = append(good, oldest.events[:n])
			if err != nil {
				return slices.Concat(good...), err
			}
		}
		if b == nil {
			return slices.Concat(good...), r.err
		}
	}
}

// next reads the next block of complete lines; nil at the end.
func (r *Reader) next() *block {
	if r.eof {
		return nil
	}
	buf := append(r.buffer(), r.rest...)
	r.rest = r.rest[:0]
	seen := 0 // bytes that hold no newline
	for !r.eof {
		buf = r.fill(buf)
		if at := bytes.LastIndexByte(buf[seen:], '\n'); at >= 0 {
			end := seen + at + 1
			r.rest = append(r.rest, buf[end:]...)
			return &block{data: buf[:end], done: make(chan struct{})}
		}
		seen = len(buf)
	}
	r.rest = append(r.rest, buf...)
	return nil
}

// fill reads once more; a line longer than the buffer makes it grow.
func (r *Reader) fill(buf []byte) []byte {
	if len(buf) == cap(buf) {
		buf = slices.Grow(buf, len(buf)+blockSize)
	}
	n, err := io.ReadAtLeast(r.src, buf[len(buf):cap(buf)], cap(buf)-len(buf))
	if err != nil {
		r.eof = true
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			r.err = fmt.Errorf("read record behind byte %d: %w", r.chain.Size, err)
		}
	}
	return buf[:len(buf)+n]
}

func (r *Reader) buffer() []byte {
	if n := len(r.free); n > 0 {
		buf := r.free[n-1]
		r.free = r.free[:n-1]
		return buf
	}
	return make([]byte, 0, blockSize)
}

// link puts a decoded block at the end of the chain and returns how many of its
// events are good.
func (r *Reader) link(b *block) (int, error) {
	r.free = append(r.free, b.data[:0])
	for i := range b.events {
		e, l := &b.events[i], &b.links[i]
		err := r.chain.fits(e)
		if err == nil && l.prev != r.chain.Head {
			err = errLink
		}
		if err != nil {
			return i, r.broken(err)
		}
		r.chain.advance(e, l.hash, l.size)
		r.line++
	}
	if b.err != nil {
		return len(b.events), r.broken(b.err)
	}
	return len(b.events), nil
}

// broken says where err is.
func (r *Reader) broken(err error) error {
	var newer *NewerError
	if errors.As(err, &newer) {
		return fmt.Errorf("event %d (line %d): %w", r.chain.Seq+1, r.line+1, err)
	}
	return &DamagedError{Line: r.line + 1, Offset: r.chain.Size, Seq: r.chain.Seq + 1, Reason: err.Error()}
}

// block is a run of complete lines, decoded on its own.
type block struct {
	data   []byte
	events []Event
	links  []placed
	err    error // of the line behind the last event
	done   chan struct{}
}

// placed is a line's link with its size, newline included.
type placed struct {
	link
	size int
}

func (b *block) decode() {
	defer close(b.done)
	var d decoder
	lines := bytes.Count(b.data, []byte{'\n'})
	b.events, b.links = make([]Event, 0, lines), make([]placed, 0, lines)
	for rest := b.data; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		e, l, err := d.line(rest[:end])
		if err != nil {
			b.err = err
			return
		}
		b.events, b.links = append(b.events, e), append(b.links, placed{l, end + 1})
		rest = rest[end+1:]
	}
}
