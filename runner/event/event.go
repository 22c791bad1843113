package event

import (
	"time"
)

// RunID names a run; it is also the last part of its branch and its directory.
type RunID string

// TokenID numbers the tokens of a run from 1 in order of creation.
type TokenID int

// Seq numbers a run's events from 1 without gaps.
type Seq uint64

// Key names one effect of one run, and is sent to providers as idempotency key:
// "<token>/<node>/<visit>/<what>/<attempt>".
type Key string

// Type is the wire name of an event.
type Type string

// Body is the part of an event that depends on its type. Implementations are
// the structs of this package, used as pointers; the set is closed.
type Body interface {
	// EventType is the wire name.
	EventType() Type
	// payloads lists what may lie in blobs: needed is what a fold reads, other
	// what only reports and conversations read. Entries may be nil.
	payloads() (needed, other []*Payload)
}

// Event is one line of the record.
type Event struct {
	Seq   Seq
	Time  time.Time // UTC, microseconds; set by the engine's clock
	Run   RunID
	Token TokenID // 0 when the event concerns no token
	Node  string  // "" when the event concerns no node
	Body  Body
}

// Load fills the payloads that folding the event needs.
func (e *Event) Load(get func(Digest) ([]byte, error)) error {
	needed, _ := e.Body.payloads()
	for _, p := range needed {
		if p == nil {
			continue
		}
		if err := p.Load(get); err != nil {
			return err
		}
	}
	return nil
}

// Store moves large payloads into blobs; put must be durable when it returns.
// Call it before the event is encoded.
func (e *Event) Store(put func(Digest, []byte) error) error {
	needed, other := e.Body.payloads()
	for _, p := range append(needed, other...) {
		if err := p.store(put); err != nil {
			return err
		}
	}
	return nil
}

// Visit calls visit with every payload of the event, loaded or not, until one
// call returns an error.
func (e *Event) Visit(visit func(*Payload) error) error {
	needed, other := e.Body.payloads()
	for _, p := range append(needed, other...) {
		if p == nil {
			continue
		}
		if err := visit(p); err != nil {
			return err
		}
	}
	return nil
}
