// Package recipe reads recipes, presets that run one workflow in another way, and
// applies them: a workflow and a recipe give a workflow. Variables, prompts,
// models, limits and tools can be set; nodes and edges stay what they are, so two
// recipes of one workflow can be compared.
//
// It stands on floor 4, is pure, and imports data, front, ir, diag, budget and
// score.
package recipe
