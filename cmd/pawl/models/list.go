package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/model"
	"github.com/pawl-ci/pawl/runner/host/model/provider"
)

func modelsCommand(a *cli.App) *cobra.Command {
	var baseURL, most string
	cmd := &cobra.Command{
		Use:   "models [PROVIDER...]",
		Short: "List the models that can be asked from here",
		Long: "Asks each provider whose key is set, and local servers that answer, which models\n" +
			"they offer. It costs nothing. A model is named in a workflow as PROVIDER/MODEL.",
		Example: "  pawl models\n  pawl models ollama --max-params 8B\n  pawl models --base-url http://127.0.0.1:8080/v1 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			limit := model.ParseParameters(most)
			if most != "" && limit == 0 {
				return cli.Usage(fmt.Errorf("--max-params %q: want a size such as 8B or 500M", most), "")
			}
			return listModels(cmd.Context(), a, args, baseURL, limit)
		},
	}
	cmd.Flags().StringVar(&baseURL, "base-url", "", "`URL` of one OpenAI-compatible API to ask instead")
	cmd.Flags().StringVar(&most, "max-params", "", "leave out models that have more than `N` parameters (8B), where the server says")
	return cmd
}

// offer is what one provider said.
type offer struct {
	Provider string         `json:"provider"` // "" for --base-url
	BaseURL  string         `json:"base_url"`
	Models   []model.Listed `json:"models"`
	Error    string         `json:"error,omitempty"`
	hint     string
	failed   error
}

func listModels(ctx context.Context, a *cli.App, names []string, baseURL string, most float64) error {
	s := &Access{baseURL: baseURL, env: a.Env, version: a.Version, flags: Defaults()}
	offers, err := s.offers(ctx, names)
	if err != nil {
		return err
	}
	for i := range offers {
		offers[i].Models = smaller(offers[i].Models, most)
	}
	if a.JSON {
		err = a.WriteJSON(offers)
	} else {
		err = printOffers(a.Out, offers)
	}
	if err != nil {
		return err
	}
	for _, o := range offers {
		if o.failed != nil {
			return cli.Host(o.failed, o.hint)
		}
	}
	return nil
}

// offers asks the named providers, or all that can be asked.
func (s *Access) offers(ctx context.Context, names []string) ([]offer, error) {
	if s.baseURL != "" {
		if err := checkURL(s.baseURL); err != nil {
			return nil, err
		}
		return []offer{s.ask(ctx, "", "any", false)}, nil
	}
	var offers []offer
	for _, name := range names {
		if _, known := provider.ByName(name); !known {
			return nil, cli.Usage(fmt.Errorf("there is no provider %s", name), "they are: "+strings.Join(providerNames(), ", "))
		}
		offers = append(offers, s.ask(ctx, name, name+"/any", false))
	}
	if len(names) > 0 {
		return offers, nil
	}
	for _, p := range provider.All() {
		if o := s.ask(ctx, p.Name, p.Name+"/any", true); !o.absent() {
			offers = append(offers, o)
		}
	}
	if len(offers) == 0 {
		return nil, cli.Usage(errors.New("no provider's key is set, and no local server answers"), "set OPENAI_API_KEY or another provider's key, or give --base-url")
	}
	return offers, nil
}

// absent: nobody asked for this provider, and it is not there.
func (o offer) absent() bool { return o.failed == nil && o.Models == nil }

// ask lists the models of one endpoint. What nobody asked for by name may be
// missing.
func (s *Access) ask(ctx context.Context, name, any string, optional bool) offer {
	at, err := s.endpoint(any)
	if err == nil && optional && at.Provider != name {
		return offer{} // another server answers for its models
	}
	if err != nil {
		if optional {
			return offer{}
		}
		return offer{Provider: name, Models: []model.Listed{}, Error: err.Error(), failed: err, hint: "set it and ask again"}
	}
	cfg := s.config(at)
	cfg.Sizes, cfg.Patience = onLoopback(at.BaseURL) || name == "ollama", -1
	o := offer{Provider: name, BaseURL: at.BaseURL}
	o.Models, err = model.New(cfg).List(ctx)
	var failure *runner.ModelError
	if errors.As(err, &failure) {
		if p, _ := provider.ByName(name); optional && p.Local && failure.Class == runner.Unreachable {
			return offer{}
		}
		o.Models, o.Error, o.failed, o.hint = []model.Listed{}, failure.Detail, failure, failure.Hint
	}
	return o
}

func providerNames() []string {
	var names []string
	for _, p := range provider.All() {
		names = append(names, p.Name)
	}
	return names
}

// smaller leaves out models that are known to have more parameters than most
// thousand million; 0 leaves out none.
func smaller(all []model.Listed, most float64) []model.Listed {
	kept := all[:0:0]
	for _, m := range all {
		if most == 0 || m.Parameters <= most {
			kept = append(kept, m)
		}
	}
	return kept
}

func printOffers(out io.Writer, offers []offer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, o := range offers {
		fmt.Fprintf(w, "%s\t%s\n", cmp.Or(o.Provider, "models"), o.BaseURL)
		if o.Error != "" {
			fmt.Fprintf(w, "  %s\n", line(o.Error))
		}
		for _, m := range o.Models {
			fmt.Fprintf(w, "  %s\t%s\n", line(qualified(o.Provider, m.Name)), sizeText(m))
		}
	}
	return w.Flush()
}

// qualified is the name that a workflow uses.
func qualified(provider, name string) string {
	if provider == "" {
		return name
	}
	return provider + "/" + name
}

func sizeText(m model.Listed) string {
	var parts []string
	if m.Parameters > 0 {
		parts = append(parts, fmt.Sprintf("%gB parameters", m.Parameters))
	}
	if m.Bytes > 0 {
		parts = append(parts, fmt.Sprintf("%.1f GB", float64(m.Bytes)/1e9))
	}
	return strings.Join(parts, ", ")
}
