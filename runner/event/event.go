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
	// payloads lists the payloads a fold needs, so that Load can fill them.
	payloads() []*Payload
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
	for _, p := range e.Body.payloads() {
		if err := p.Load(get); err != nil {
			return err
		}
	}
	return nil
}
