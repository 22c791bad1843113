// Package script is a model that answers from a file: a list of exchanges, each
// with what a request must look like and what is answered. It is served over
// HTTP as an OpenAI-compatible API, so that whoever talks to it takes the same
// path as with a real provider. `pawl demo`, `pawl run --model-script` and tests
// use it; it needs no key and no network, and costs nothing.
//
// It cannot pass for a model: every answer names the model "… (script)" and
// carries the fingerprint "pawl-script". It is an honest peer otherwise: a
// request that a provider would refuse is refused.
//
// The package stands on floor 3, below the client, and imports source and
// budget, none of the client's code: the two meet on the wire. Answers depend on
// the script and the requests alone; there is no clock and no randomness in them.
package script
