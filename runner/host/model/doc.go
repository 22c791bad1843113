// Package model answers a conversation's turns through an OpenAI-compatible API.
//
// A [Client] is one endpoint with one key. It makes a second attempt only where
// the provider has certainly not worked: no connection, 429, 500, 502, 503, 529.
// Whenever it may have worked – nothing came in time, the answer broke off or
// makes no sense – the error says so, and the engine decides, because another
// attempt costs. Every error is a *runner.ModelError of one line that names the
// model and the host and never holds the key.
//
// Requests are deterministic: the same request is the same bytes, and a longer
// conversation begins with the bytes of the shorter one, so that providers'
// prompt caches hit.
//
// The package stands on floor 4 and imports runner, budget and redact. It reads
// no environment: base URL, key and proxy are given. Decorators wrap
// runner.Model and need nothing of this client.
package model
