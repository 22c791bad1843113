package event

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// Hash is the SHA-256 of one line. Because a line holds the hash of the one
// before it, the last hash stands for the whole record. Nothing in it is secret:
// the chain shows accidents and careless edits; somebody who recomputes every
// hash behind an edit is caught only by a copy of the last hash kept elsewhere.
type Hash [sha256.Size]byte

const hexWidth = 2 * sha256.Size

// String is the hash in lower-case hex, as lines hold it.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

func (h Hash) append(buf []byte) []byte { return hex.AppendEncode(buf, h[:]) }

// hashOf is the hash of a line as it stands before its own hash is put in.
func hashOf(line []byte) Hash { return sha256.Sum256(line) }

// parseHash reads lower-case hex only, so that a hash has one spelling.
func parseHash(text []byte) (Hash, bool) {
	var h Hash
	if _, err := hex.Decode(h[:], text); err != nil {
		return Hash{}, false
	}
	for _, c := range text {
		if 'A' <= c && c <= 'F' {
			return Hash{}, false
		}
	}
	return h, true
}

// hasher computes line hashes over and over.
type hasher struct {
	state hash.Hash
	out   [sha256.Size]byte
}

// sum is the hash of the line whose text up to its hash member is head.
func (s *hasher) sum(head []byte) Hash {
	if s.state == nil {
		s.state = sha256.New()
	}
	s.state.Reset()
	s.state.Write(head)
	s.state.Write([]byte{'}'})
	return Hash(s.state.Sum(s.out[:0]))
}

// Chain is the end of a record: what the next line continues. The zero value is
// the end of an empty record; a Run that is set must be the run of every event.
type Chain struct {
	Run  RunID
	Seq  Seq   // of the last event, 0 before the first
	Head Hash  // of the last line
	Size int64 // bytes of all lines, their newlines included
}

// Append encodes e as the next line onto buf and moves the chain on. An event of
// another run or with another number than the next is refused. On an error buf
// and chain are as they were.
func (c *Chain) Append(buf []byte, e *Event) ([]byte, error) {
	if err := c.fits(e); err != nil {
		return buf, err
	}
	out, hash, err := Encode(buf, e, c.Head)
	if err != nil {
		return buf, err
	}
	c.advance(e, hash, len(out)-len(buf))
	return out, nil
}

// fits reports whether e may come next.
func (c *Chain) fits(e *Event) error {
	if e.Seq != c.Seq+1 {
		return fmt.Errorf("it is number %d, %d was expected", e.Seq, c.Seq+1)
	}
	if c.Run != "" && e.Run != c.Run {
		return fmt.Errorf("it belongs to run %s, not to %s", e.Run, c.Run)
	}
	return nil
}

func (c *Chain) advance(e *Event, hash Hash, size int) {
	c.Run, c.Seq, c.Head = e.Run, e.Seq, hash
	c.Size += int64(size)
}

// DamagedError says that a record does not hold what was written to it. What
// the run did is then unknown from the damaged line on, and it must not go on.
type DamagedError struct {
	Line   int   // from 1
	Offset int64 // of the line's first byte in the record
	Seq    Seq   // the event that was expected there
	Reason string
}

// Error implements error.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("record is damaged at event %d (line %d, byte %d): %s; the state of the run is unknown from there on",
		e.Seq, e.Line, e.Offset, e.Reason)
}
