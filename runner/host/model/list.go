package model

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-ci/pawl/runner"
)

// Listed is a model that an endpoint offers.
type Listed struct {
	Name       string  `json:"name"`
	Owner      string  `json:"owner,omitempty"`
	Bytes      int64   `json:"bytes,omitempty"`      // on disk, when the server says
	Parameters float64 `json:"parameters,omitempty"` // in thousands of millions, when the server says
}

// List asks the endpoint which models it offers, sorted by name. It costs
// nothing. An error is a *runner.ModelError. Servers that say how large their
// models are, as Ollama does, are asked for that too.
func (c *Client) List(ctx context.Context) ([]Listed, error) {
	e := c.setup()
	if e.err != nil {
		return nil, e.err
	}
	var page struct {
		Data []struct {
			ID    string `json:"id"`
			Owner string `json:"owned_by"`
		} `json:"data"`
	}
	if err := c.get(ctx, e.http, c.cfg.BaseURL+"/models", &page); err != nil {
		return nil, err
	}
	all := make([]Listed, 0, len(page.Data))
	for _, m := range page.Data {
		// Some list their models as paths.
		all = append(all, Listed{Name: strings.TrimPrefix(m.ID, "models/"), Owner: m.Owner})
	}
	c.measure(ctx, e.http, all)
	slices.SortFunc(all, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// measure adds sizes where the server has Ollama's own list beside the API.
func (c *Client) measure(ctx context.Context, via *http.Client, all []Listed) {
	var tags struct {
		Models []struct {
			Name    string `json:"name"`
			Size    int64  `json:"size"`
			Details struct {
				Parameters string `json:"parameter_size"`
			} `json:"details"`
		} `json:"models"`
	}
	root, found := strings.CutSuffix(c.cfg.BaseURL, "/v1")
	if !found || !c.cfg.Sizes || c.get(ctx, via, root+"/api/tags", &tags) != nil {
		return
	}
	for _, m := range tags.Models {
		if i := slices.IndexFunc(all, func(l Listed) bool { return l.Name == m.Name }); i >= 0 {
			all[i].Bytes, all[i].Parameters = m.Size, ParseParameters(m.Details.Parameters)
		}
	}
}

// ParseParameters reads a number of parameters as people write it, "7.6B" or
// "360M", in thousands of millions; 0 when it is none.
func ParseParameters(text string) float64 {
	text = strings.ToUpper(strings.TrimSpace(text))
	unit := 1.0
	switch {
	case strings.HasSuffix(text, "T"):
		unit = 1000
	case strings.HasSuffix(text, "M"):
		unit = 0.001
	case strings.HasSuffix(text, "K"):
		unit = 0.000001
	}
	n, err := strconv.ParseFloat(strings.TrimRight(text, "TBMK"), 64)
	if err != nil || !(n >= 0) || n*unit > 1e9 {
		return 0
	}
	return n * unit
}

// get fetches a JSON document that costs nothing; it is tried once.
func (c *Client) get(ctx context.Context, via *http.Client, address string, into any) error {
	call := c.newCall(ctx, via, &runner.ModelRequest{Model: "list"})
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return call.broken(err)
	}
	r.Header.Set("User-Agent", c.cfg.UserAgent)
	switch {
	case c.cfg.APIKey == "":
	case c.cfg.KeyHeader != "":
		r.Header.Set(c.cfg.KeyHeader, c.cfg.APIKey)
	default:
		r.Header.Set("Authorization", "Bearer "+c.cfg.APIKey)
	}
	resp, err := via.Do(r)
	if err != nil {
		return call.broken(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		keepErrorBody(resp)
		return call.status(resp)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, c.cfg.MaxBody)).Decode(into); err != nil {
		return call.malformed(fmt.Sprintf("the list at %s is not JSON", path(address)), err)
	}
	return nil
}

func path(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Path
	}
	return "(no path)"
}
