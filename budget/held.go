package budget

// Held is the reservation under key; zero when there is none.
func (p *Purse) Held(key string) Amount { return p.held[key] }
