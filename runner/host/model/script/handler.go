package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// maxBody bounds a request in bytes.
const maxBody = 32 << 20

// Handler serves a script:
//
//	POST /v1/chat/completions   answers, as one body or (stream: true) as events
//	GET  /v1/models             lists the script as a model
//	GET  /__script/journal      lists the requests seen, see [Entry]
//
// It may serve many requests at once.
type Handler struct {
	script *Script
	mux    *http.ServeMux

	mu      sync.Mutex
	uses    []int // by exchange
	journal []Entry
	dropped int
}

// Entry is one request in the journal. The request's headers are not kept, so
// no key is.
type Entry struct {
	Node     string          `json:"node,omitempty"`
	Visit    int             `json:"visit,omitempty"`
	Turn     int             `json:"turn,omitempty"`
	Model    string          `json:"model,omitempty"`
	Key      string          `json:"idempotency_key,omitempty"`
	Exchange int             `json:"exchange,omitempty"` // number of the one that answered, from 1
	Status   int             `json:"status,omitempty"`   // of the answer; 0 for a broken one
	Fault    Kind            `json:"fault,omitempty"`
	Problem  string          `json:"problem,omitempty"` // why the request was refused
	Request  json.RawMessage `json:"request,omitempty"` // the body, when it was JSON
}

// Journal is what GET /__script/journal returns.
type Journal struct {
	Script   string  `json:"script"`
	Dropped  int     `json:"dropped,omitempty"` // older requests that are no longer kept
	Requests []Entry `json:"requests"`
}

// maxJournal bounds the requests that are kept.
const maxJournal = 4096

// NewHandler returns a handler that has used no exchange of s yet.
func NewHandler(s *Script) *Handler {
	h := &Handler{script: s, mux: http.NewServeMux(), uses: make([]int, len(s.Exchanges))}
	h.mux.HandleFunc("POST /v1/chat/completions", h.complete)
	h.mux.HandleFunc("GET /v1/models", h.models)
	h.mux.HandleFunc("GET /__script/journal", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, encode(h.Journal()))
	})
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, refusal{"", "not_found", fmt.Sprintf(
			"a script serves POST /v1/chat/completions and GET /v1/models, not %s %s", r.Method, clip(r.URL.Path, 100))})
	})
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Journal returns the requests seen so far, oldest first.
func (h *Handler) Journal() Journal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Journal{Script: h.script.Name, Dropped: h.dropped, Requests: append([]Entry{}, h.journal...)}
}

func (h *Handler) record(e Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.journal) == maxJournal {
		h.journal, h.dropped = append([]Entry{}, h.journal[maxJournal/2:]...), h.dropped+maxJournal/2
	}
	h.journal = append(h.journal, e)
}

func (h *Handler) models(w http.ResponseWriter, _ *http.Request) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	writeJSON(w, http.StatusOK, encode(struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", []model{{h.script.label(h.script.Name), "model", 0, Fingerprint}}}))
}

func (h *Handler) complete(w http.ResponseWriter, r *http.Request) {
	entry := Entry{Key: r.Header.Get("Idempotency-Key")}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		h.reject(w, entry, http.StatusRequestEntityTooLarge, &refusal{"", "too_large", "the request is larger than 32 MiB"})
		return
	case err != nil:
		return // the client has gone
	}
	if json.Valid(body) {
		entry.Request = body
	}
	req, bad := readRequest(body, r.Header)
	if bad != nil {
		h.reject(w, entry, http.StatusBadRequest, bad)
		return
	}
	entry.Node, entry.Visit, entry.Turn, entry.Model = req.node, req.visit, req.turn, req.Model
	number, reply, why := h.choose(req)
	if reply == nil {
		h.reject(w, entry, http.StatusBadRequest, &refusal{"", "no_exchange", why})
		return
	}
	entry.Exchange = number
	h.answer(w, r, entry, reply, req, body)
}

func (h *Handler) reject(w http.ResponseWriter, entry Entry, status int, why *refusal) {
	entry.Status, entry.Problem = status, why.message
	h.record(entry)
	writeError(w, status, *why)
}

func (h *Handler) answer(w http.ResponseWriter, r *http.Request, entry Entry, reply *Reply, req *chatRequest, body []byte) {
	a := h.script.prepare(reply, req, body)
	entry.Status = http.StatusOK
	if f := reply.Fault; f != nil {
		entry.Status, entry.Fault = f.Status, f.Kind
	}
	h.record(entry)
	if !wait(r, reply.Delay) {
		return
	}
	if reply.Fault != nil {
		h.fail(w, r, reply.Fault, a, req)
		return
	}
	w.Header().Set("Content-Type", req.contentType())
	write(w, http.StatusOK, a.body(req))
}

func (r *chatRequest) contentType() string {
	if r.Stream {
		return "text/event-stream"
	}
	return "application/json"
}

// body renders the answer in the form that was asked for.
func (a *answer) body(r *chatRequest) []byte {
	if r.Stream {
		return a.stream(r.StreamOptions != nil && r.StreamOptions.IncludeUsage)
	}
	return encode(a.wire())
}

// wait reports whether the client is still there after d.
func wait(r *http.Request, d time.Duration) bool {
	if d == 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (h *Handler) fail(w http.ResponseWriter, r *http.Request, f *Fault, a answer, req *chatRequest) {
	switch f.Kind {
	case Hang:
		<-r.Context().Done()
	case Garbage:
		w.Header().Set("Content-Type", "text/html")
		write(w, http.StatusOK, []byte("<html><body>this is not what you asked for</body></html>\n"))
	case Empty:
		writeJSON(w, http.StatusOK, encode(a.envelope("chat.completion")))
	case Cut:
		a.text = "an answer that breaks off before it has said what it was asked for"
		whole := a.body(req)
		w.Header().Set("Content-Type", req.contentType())
		w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
		write(w, http.StatusOK, whole[:len(whole)/2])
		_ = http.NewResponseController(w).Flush() // the connection is dropped in any case
		panic(http.ErrAbortHandler)
	case Reset:
		reset(w)
	default:
		h.httpError(w, f)
	}
}

// reset drops the connection without an answer.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // best effort: without it the client sees an end of file
	}
	_ = conn.Close() // nothing can be done about a connection that does not close
}

func (h *Handler) httpError(w http.ResponseWriter, f *Fault) {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	kind, message := f.Type, f.Message
	if kind == "" {
		kind = typeOf(f.Status)
	}
	if message == "" {
		message = fmt.Sprintf("script %q answers %d %s", h.script.Name, f.Status, http.StatusText(f.Status))
	}
	writeJSON(w, f.Status, errorBody(message, kind, "", f.Code))
}

func typeOf(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}

func writeError(w http.ResponseWriter, status int, why refusal) {
	writeJSON(w, status, errorBody(why.message, typeOf(status), why.param, why.code))
}

func errorBody(message, kind, param, code string) []byte {
	orNull := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	type detail struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	return encode(struct {
		Error detail `json:"error"`
	}{detail{message, kind, orNull(param), orNull(code)}})
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	write(w, status, body)
}

func write(w http.ResponseWriter, status int, body []byte) {
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
}
