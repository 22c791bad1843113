package language

import (
	"fmt"
	"io"
	"sync"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
)

// manyFiles is from how many files on a person may wonder what is going on.
const manyFiles = 400

// progress counts files on a terminal. It is safe for use by several goroutines;
// one that shows nothing is nil.
type progress struct {
	mu   sync.Mutex
	out  io.Writer
	done int
	all  int
}

func newProgress(a *cli.App, all int) *progress {
	if all < manyFiles || !a.Terminal(a.Err) {
		return nil
	}
	return &progress{out: a.Err, all: all}
}

// step counts one file, and shows every hundredth.
func (p *progress) step() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.done%100 == 0 {
		fmt.Fprintf(p.out, "\rchecked %d of %d files", p.done, p.all)
	}
}

// end wipes the line.
func (p *progress) end() {
	if p != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
