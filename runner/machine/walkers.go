package machine

// Walkers is how many tokens are at work or may go on: those that wait for a
// person, or at a join for others, are left out.
func (s *State) Walkers() int {
	n := len(s.ready)
	seen := make(map[*Token]bool, len(s.open))
	for _, o := range s.open {
		if o.token != nil && !seen[o.token] {
			seen[o.token] = true
			n++
		}
	}
	return n
}
