// Package recipes is a service of huma: its handlers take the parts of an HTTP request, and return those of a response.
package recipes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// Ingredient is one of the things that a recipe needs.
type Ingredient struct {
	Name  string `json:"name" minLength:"1"`
	Grams int    `json:"grams" minimum:"1" maximum:"5000"`
	Note  string `json:"note,omitempty"`
}

// Recipe tells how to cook something.
type Recipe struct {
	Title       string       `json:"title" minLength:"1" maxLength:"80" doc:"The name of the dish"`
	Serves      int          `json:"serves,omitempty" minimum:"1" default:"2"`
	Ingredients []Ingredient `json:"ingredients" minItems:"1"`
	Course      string       `json:"course" enum:"starter,main,dessert"`
}

// Stored is a recipe with its number.
type Stored struct {
	Number int `json:"number"`
	Recipe
}

// Page is which part of a list is asked for.
type Page struct {
	Limit int `query:"limit" minimum:"1" maximum:"50" default:"10" doc:"How many at most"`
}

// ListInput is what List takes.
type ListInput struct {
	Page
	Course  string `query:"course" enum:"starter,main,dessert"`
	TraceID string `header:"X-Trace-Id"`
}

// ListOutput is what List returns.
type ListOutput struct {
	Total int `header:"X-Total"`
	Body  []Stored
}

// GetInput is what Get takes.
type GetInput struct {
	Number int `path:"number" minimum:"1"`
}

// Output is a recipe.
type Output struct{ Body Stored }

// CreateInput is what Create takes.
type CreateInput struct{ Body Recipe }

// CreateOutput is what Create returns.
type CreateOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     *Stored
}

// RenameInput is what Rename takes.
type RenameInput struct {
	Number int `path:"number"`
	Body   struct {
		Title string `json:"title" minLength:"1" maxLength:"80"`
	}
}

// StatsOutput is what Stats returns.
type StatsOutput struct {
	Body struct {
		Count int `json:"count"`
	}
}

// Server keeps recipes in memory.
type Server struct {
	mutex sync.Mutex
	all   map[int]Recipe
	last  int
}

// List lists the recipes of a course, or all.
func (s *Server) List(_ context.Context, in *ListInput) (*ListOutput, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	out := &ListOutput{Total: len(s.all), Body: []Stored{}}
	for _, number := range slices.Sorted(maps.Keys(s.all)) {
		if r := s.all[number]; (in.Course == "" || in.Course == r.Course) && len(out.Body) < in.Limit {
			out.Body = append(out.Body, Stored{number, r})
		}
	}
	return out, nil
}

// Get reads a recipe.
func (s *Server) Get(_ context.Context, in *GetInput) (*Output, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	r, ok := s.all[in.Number]
	if !ok {
		return nil, huma.Error404NotFound("no such recipe")
	}
	return &Output{Stored{in.Number, r}}, nil
}

// Create records a recipe.
func (s *Server) Create(_ context.Context, in *CreateInput) (*CreateOutput, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, r := range s.all {
		if strings.EqualFold(r.Title, in.Body.Title) {
			return &CreateOutput{Status: 409}, nil
		}
	}
	if s.all == nil {
		s.all = make(map[int]Recipe)
	}
	s.last++
	s.all[s.last] = in.Body
	return &CreateOutput{201, fmt.Sprintf("/recipes/%d", s.last), &Stored{s.last, in.Body}}, nil
}

// Rename gives a recipe another title.
func (s *Server) Rename(_ context.Context, in *RenameInput) (*Output, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	r, ok := s.all[in.Number]
	if !ok {
		return nil, huma.Error404NotFound("no such recipe")
	}
	r.Title = in.Body.Title
	s.all[in.Number] = r
	return &Output{Stored{in.Number, r}}, nil
}

// Delete removes a recipe.
func (s *Server) Delete(_ context.Context, in *GetInput) (*struct{}, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, ok := s.all[in.Number]; !ok {
		return nil, huma.Error404NotFound("no such recipe")
	}
	delete(s.all, in.Number)
	return nil, nil
}

// Stats counts the recipes.
func (s *Server) Stats(context.Context, *struct{}) (*StatsOutput, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	out := &StatsOutput{}
	out.Body.Count = len(s.all)
	return out, nil
}
