package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/pawl-ci/pawl/runner/event"
)

// halfPrefix begins the names of blobs that are being written.
const halfPrefix = ".half-"

// blobs is what this process knows about a run's blobs.
type blobs struct {
	mu   sync.Mutex
	safe map[string]bool // paths of blobs and their directories known to be durable
	half int             // numbers names
}

// checkDigest keeps anything but a digest out of paths: it may come from a
// record that somebody sent.
func checkDigest(d event.Digest) error {
	if len(d) == 64 && strings.Trim(string(d), "0123456789abcdef") == "" {
		return nil
	}
	return fmt.Errorf("%q is no digest: want 64 lower-case hex digits", d)
}

func (r *Run) blobPath(d event.Digest) string {
	return filepath.Join(r.at.blobs, string(d[:2]), string(d))
}

// Put keeps content under its digest, durably. A blob that is there already is
// left alone, or written again when it has gone bad. The error is a *[WriteError]
// when the disk refused; no part of a blob is ever found under its name.
func (r *Run) Put(digest event.Digest, content []byte) error {
	if err := checkDigest(digest); err != nil {
		return err
	}
	if event.DigestOf(content) != digest {
		return fmt.Errorf("put blob %s: the content has another digest", digest)
	}
	if r.readOnly() {
		return fmt.Errorf("put blob %s: %w", digest, ErrReadOnly)
	}
	r.blobs.mu.Lock()
	defer r.blobs.mu.Unlock()
	path := r.blobPath(digest)
	if r.blobs.safe[path] {
		return nil
	}
	if err := r.put(path, digest, content); err != nil {
		return r.failed(path, err)
	}
	return nil
}

func (r *Run) readOnly() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log == nil
}

func (r *Run) put(path string, digest event.Digest, content []byte) error {
	dir := filepath.Dir(path)
	if err := r.makeBlobDir(dir); err != nil {
		return err
	}
	if _, err := r.Get(digest); err != nil {
		if err := r.writeBlob(path, content); err != nil {
			return err
		}
	}
	if err := r.syncDir(dir); err != nil {
		return err
	}
	r.blobs.safe[path] = true
	return nil
}

// makeBlobDir makes one of the 256 directories, once per process even when it is
// there: an earlier process may have died before its name was durable.
func (r *Run) makeBlobDir(dir string) error {
	if r.blobs.safe == nil {
		r.blobs.safe = make(map[string]bool)
	}
	if r.blobs.safe[dir] {
		return nil
	}
	if err := r.disk.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := r.syncDir(r.at.blobs); err != nil {
		return err
	}
	r.blobs.safe[dir] = true
	return nil
}

// writeBlob gives the blob its name once its content is durable.
func (r *Run) writeBlob(path string, content []byte) (err error) {
	r.blobs.half++
	half := filepath.Join(r.at.blobs, halfPrefix+strconv.Itoa(r.blobs.half))
	defer func() {
		if err != nil {
			_ = r.disk.RemoveAll(half)
		}
	}()
	f, err := r.disk.Create(half)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	r.mu.Lock()
	r.stats.Blobs++
	r.stats.Syncs++
	r.stats.Bytes += int64(len(content))
	r.mu.Unlock()
	return r.disk.Rename(half, path)
}

// Get returns the blob of that digest. A blob that is missing wraps
// fs.ErrNotExist; one whose content has another digest is an error too.
func (r *Run) Get(digest event.Digest) ([]byte, error) {
	if err := checkDigest(digest); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(r.blobPath(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("get blob %s: it is missing from the record of run %s: %w", digest, r.id, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("get blob %s: %w", digest, err)
	}
	if event.DigestOf(content) != digest {
		return nil, fmt.Errorf("get blob %s: its content has another digest: the record of run %s is damaged", digest, r.id)
	}
	return content, nil
}

// clearHalfBlobs removes what a process left that died while it wrote a blob.
func (r *Run) clearHalfBlobs() error {
	entries, err := os.ReadDir(r.at.blobs)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), halfPrefix) {
			continue
		}
		if err := r.disk.RemoveAll(filepath.Join(r.at.blobs, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
