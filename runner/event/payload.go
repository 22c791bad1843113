package event

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// InlineLimit is the size in bytes up to which a payload is kept in the log's
// line itself; a larger one lies in a blob beside the log.
const InlineLimit = 4096

// Digest is the lower-case hex SHA-256 of a blob's bytes.
type Digest string

// DigestOf returns the digest of b.
func DigestOf(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest(hex.EncodeToString(sum[:]))
}

// Payload is a JSON value of any size. Exactly one of Inline and Blob is set in
// a stored payload.
type Payload struct {
	Inline json.RawMessage `json:"inline,omitempty"`
	Blob   Digest          `json:"blob,omitempty"`
	Size   int             `json:"size,omitempty"` // bytes of the value when it lies in a blob

	loaded json.RawMessage
}

// Inline makes a payload of raw, which must be valid JSON and must not be changed
// afterwards. A large one moves to a blob when its event is stored.
func Inline(raw json.RawMessage) Payload { return Payload{Inline: raw, loaded: raw} }

// Raw is the value. Payloads read from disk must have been loaded before; Raw
// of one that was not is nil.
func (p *Payload) Raw() json.RawMessage {
	if p.loaded == nil {
		p.loaded = p.Inline
	}
	return p.loaded
}

// IsZero reports whether the payload holds nothing at all.
func (p *Payload) IsZero() bool { return p.Inline == nil && p.Blob == "" }

// store moves a value above [InlineLimit] out of the line into a blob. put must
// be durable when it returns.
func (p *Payload) store(put func(Digest, []byte) error) error {
	if p == nil || len(p.Inline) <= InlineLimit {
		return nil
	}
	digest := DigestOf(p.Inline)
	if err := put(digest, p.Inline); err != nil {
		return fmt.Errorf("store blob %s: %w", digest, err)
	}
	p.loaded, p.Blob, p.Size, p.Inline = p.Inline, digest, len(p.Inline), nil
	return nil
}

// Load fills Raw from get when the value lies in a blob, and checks its digest.
func (p *Payload) Load(get func(Digest) ([]byte, error)) error {
	if p.Blob == "" || p.loaded != nil {
		return nil
	}
	raw, err := get(p.Blob)
	if err != nil {
		return fmt.Errorf("read blob %s: %w", p.Blob, err)
	}
	if DigestOf(raw) != p.Blob {
		return fmt.Errorf("read blob %s: content does not match its name: the record is damaged", p.Blob)
	}
	p.loaded = raw
	return nil
}
