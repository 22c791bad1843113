package runner

import "sync"

// mailbox takes the results of effects in the order in which they ended. Nobody
// who puts one in has to wait, so that all that ended during one append is there
// for the next.
type mailbox struct {
	mu   sync.Mutex
	full sync.Cond
	held []result
}

func newMailbox() *mailbox {
	m := &mailbox{}
	m.full.L = &m.mu
	return m
}

func (m *mailbox) put(r result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held = append(m.held, r)
	m.full.Signal()
}

// take waits for a result and returns all that are there.
func (m *mailbox) take() []result {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.held) == 0 {
		m.full.Wait()
	}
	all := m.held
	m.held = nil
	return all
}
