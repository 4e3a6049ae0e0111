// Package pets is a service whose handlers implement the strict server that oapi-codegen generates.
package pets

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// Server keeps pets in memory.
type Server struct {
	mutex sync.Mutex
	all   map[int64]Pet
	last  int64
}

var _ StrictServerInterface = (*Server)(nil)

// ListPets returns the pets with a tag, or all.
func (s *Server) ListPets(_ context.Context, request ListPetsRequestObject) (ListPetsResponseObject, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if size := request.Params.PageSize; size != nil && *size > 100 {
		return ListPetsdefaultJSONResponse{Failure{"a page has at most 100 pets"}, 400}, nil
	}
	list := []Pet{}
	for _, id := range slices.Sorted(maps.Keys(s.all)) {
		pet := s.all[id]
		if tag := request.Params.Tag; tag == nil || pet.Tags != nil && slices.Contains(*pet.Tags, *tag) {
			list = append(list, pet)
		}
	}
	return ListPets200JSONResponse{Body: list}, nil
}

// CreatePet records a pet.
func (s *Server) CreatePet(_ context.Context, request CreatePetRequestObject) (CreatePetResponseObject, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, pet := range s.all {
		if pet.Name == request.Body.Name {
			return CreatePet409ApplicationProblemPlusJSONResponse{"the name is taken"}, nil
		}
	}
	if s.all == nil {
		s.all = make(map[int64]Pet)
	}
	s.last++
	s.all[s.last] = Pet{Id: s.last, Name: request.Body.Name, Tags: request.Body.Tags}
	return CreatePet201JSONResponse(s.all[s.last]), nil
}

// GetPet reads a pet.
func (s *Server) GetPet(_ context.Context, request GetPetRequestObject) (GetPetResponseObject, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	pet, ok := s.all[request.PetId]
	if !ok {
		return GetPet404Response{}, nil
	}
	return GetPet200JSONResponse{ThePetJSONResponse(pet)}, nil
}

// UpdatePet changes what the body has.
func (s *Server) UpdatePet(_ context.Context, request UpdatePetRequestObject) (UpdatePetResponseObject, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	pet, ok := s.all[request.PetId]
	switch {
	case !ok:
		return UpdatePet4XXJSONResponse{Failure{"there is no such pet"}, 404}, nil
	case request.Body.Name == nil && request.Body.Tags == nil:
		return UpdatePet204Response{}, nil
	case request.Body.Name != nil:
		pet.Name = *request.Body.Name
	}
	if request.Body.Tags != nil {
		pet.Tags = request.Body.Tags
	}
	s.all[request.PetId] = pet
	return UpdatePet200JSONResponse(pet), nil
}

// DeletePet removes a pet.
func (s *Server) DeletePet(_ context.Context, request DeletePetRequestObject) (DeletePetResponseObject, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, ok := s.all[request.PetId]; !ok {
		return DeletePet404TextResponse("there is no such pet"), nil
	}
	delete(s.all, request.PetId)
	return DeletePet204Response{}, nil
}

// AdoptPet gives a pet a home.
func (s *Server) AdoptPet(_ context.Context, request AdoptPetRequestObject) (AdoptPetResponseObject, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	pet, ok := s.all[request.PetId]
	switch {
	case !ok:
		return AdoptPetdefaultJSONResponse{Failure{"there is no such pet"}, 404}, nil
	case request.Body.City != nil && *request.Body.City == "nowhere":
		return nil, errors.New("the register of cities is down")
	case request.Body.Keeper == nil:
		return AdoptPetdefaultJSONResponse{Failure{"keeper is missing"}, 422}, nil
	}
	pet.Keeper = request.Body.Keeper
	s.all[request.PetId] = pet
	return AdoptPet204Response{}, nil
}
