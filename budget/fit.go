package budget

import "sort"

// MinOutput is the number of output tokens below which a call is not worth
// making: an answer that short cannot even be a tool call.
const MinOutput = 16

// DefaultOutput is the number of output tokens [Purse.Fit] asks for when the
// caller has no wish of its own. A reservation needs a number.
const DefaultOutput = 8192

// Fit lowers the wanted number of output tokens to what the purse can still
// pay for and returns the reservation to take for it. It changes nothing.
//
// prompt is the estimated number of prompt tokens (see [EstimateTokens]),
// wantOut the wish, where 0 or less means [DefaultOutput]. price may be nil for
// a model without a known price; that is refused when the money is limited,
// because an unknown cost is not a cost of nothing. When not even [MinOutput]
// tokens (or wantOut, if that is less) fit, the error is an *[Overdraft].
func (p *Purse) Fit(prompt, wantOut int64, price *Price) (maxOut int64, reserve Amount, err error) {
	if wantOut <= 0 {
		wantOut = DefaultOutput
	}
	prompt = max(prompt, 0)
	if price == nil {
		if p.Limits.MaxCost > 0 {
			return 0, Amount{}, &Overdraft{"max_cost_usd", "a price for the model", max(p.Left().Cost, 0).String()}
		}
		price = &Price{}
	}
	worst := func(out int64) Amount {
		return Amount{Tokens: sum(prompt, out), Cost: price.Worst(prompt, out)}
	}
	least := min(wantOut, MinOutput)
	if err := p.Check(worst(least)); err != nil {
		return 0, Amount{}, err
	}
	// Cost and tokens only grow with the output, so the first size that does not
	// fit can be searched for by halving.
	room := sort.Search(int(wantOut-least), func(i int) bool {
		return p.Check(worst(least+int64(i)+1)) != nil
	})
	maxOut = least + int64(room)
	return maxOut, worst(maxOut), nil
}

// requestOverhead is what a chat request costs beyond its text: the tokens that
// open the conversation and its answer and mark the roles of a short one.
const requestOverhead = 32

// EstimateTokens returns how many tokens a request with this many bytes of text
// (messages, tool descriptions and schemas, UTF-8) may count as. It is used
// only before a call, to reserve; afterwards the provider's own figure counts.
//
// It assumes two bytes a token and adds a fixed overhead, because a reservation
// must not lie below reality for what agents really read. Measured with the
// o200k and cl100k vocabularies, in bytes a token: Go source 3.7, English
// prose 3.6, JSON 4.0, escaped JSON 3.0, Chinese 2.6, test logs 2.3, columns of
// numbers 2.0. A third of the bytes would be too little for a test log. Text of
// nothing but hashes (1.75) or base64 (1.4) still counts as more than this; the
// purse then settles the true figure and the next call has less to spend.
func EstimateTokens(bytes int) int64 {
	n := int64(max(bytes, 0))
	return n/2 + n%2 + requestOverhead
}
