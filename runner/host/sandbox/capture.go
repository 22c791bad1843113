package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// drainFor is how long after the end of a process its output is still waited
// for, when something that could not be killed holds the pipe open.
const drainFor = 500 * time.Millisecond

// chunk is how many bytes are read at once.
const chunk = 128 << 10

var chunks = sync.Pool{New: func() any { return new([chunk]byte) }}

// capture reads both outputs of a process as fast as they come.
type capture struct {
	read, write [2]*os.File // stdout, stderr
	readers     sync.WaitGroup

	mu   sync.Mutex // guards what follows
	own  [2]*keeper
	both *keeper
}

// newCapture opens the pipes and hands them to cmd.
func newCapture(s *Spec, cmd *exec.Cmd) (*capture, error) {
	limit := s.OutputCap
	if limit <= 0 {
		limit = DefaultCap
	}
	c := &capture{both: newKeeper(limit, s.Notable)}
	for i := range c.own {
		c.own[i] = newKeeper(limit, s.Notable)
		var err error
		if c.read[i], c.write[i], err = os.Pipe(); err != nil {
			c.close()
			return nil, fmt.Errorf("open a pipe for the output: %w", err)
		}
		widen(c.write[i])
	}
	cmd.Stdout, cmd.Stderr = c.write[0], c.write[1]
	return c, nil
}

// begin starts to read. The process has its own ends of the pipes by now.
func (c *capture) begin() {
	for i, r := range c.read {
		_ = c.write[i].Close()
		c.readers.Go(func() { c.drain(r, c.own[i]) })
	}
}

func (c *capture) drain(r *os.File, own *keeper) {
	buf := chunks.Get().(*[chunk]byte)
	defer chunks.Put(buf)
	for {
		n, err := r.Read(buf[:])
		if n > 0 {
			c.mu.Lock()
			own.add(buf[:n])
			c.both.add(buf[:n])
			c.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// finish waits for what is still in the pipes and returns all three outputs.
func (c *capture) finish() (out, err, both Output) {
	done := make(chan struct{})
	go func() { c.readers.Wait(); close(done) }()
	if !within(done, drainFor) {
		for _, r := range c.read {
			_ = r.SetReadDeadline(time.Now())
		}
	}
	// Where pipes have no deadlines a reader may stay behind until the pipe is
	// let go of; what it still reads counts for nothing.
	if within(done, drainFor) {
		c.close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.own[0].output(), c.own[1].output(), c.both.output()
}

// within reports whether done was closed before d had passed.
func within(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

func (c *capture) close() {
	for i := range c.read {
		for _, f := range []*os.File{c.read[i], c.write[i]} {
			if f != nil {
				_ = f.Close()
			}
		}
	}
}
