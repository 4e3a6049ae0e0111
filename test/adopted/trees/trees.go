// Package trees puts the administration of a Trillian transparency log in front of agents. Its requests and results are
// what protoc made of the service's definition; the server is the one that Trillian serves over gRPC.
package trees

import (
	"context"
	"strings"

	"github.com/google/trillian"
	"github.com/google/trillian/server/admin"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	aql "github.com/aqltag/aqltag/runtime"
)

// Service administers trees.
type Service struct{ server *admin.Server }

// NewService returns the service that a server carries out.
func NewService(server *admin.Server) *Service { return &Service{server} }

// CreateTree creates a tree.
//
//aql:op category=CREATE
//aql:param tree required
//aql:example {"tree":{"tree_state":1,"tree_type":1,"display_name":"certificates","max_root_duration":{"seconds":3600}}}
func (s *Service) CreateTree(ctx context.Context, request *trillian.CreateTreeRequest) (*trillian.Tree, error) {
	tree, err := s.server.CreateTree(ctx, request)
	return tree, told(err)
}

// ListTrees lists all trees.
//
//aql:op category=READ
//aql:example {}
func (s *Service) ListTrees(ctx context.Context, request *trillian.ListTreesRequest) (*trillian.ListTreesResponse,
	error) {
	trees, err := s.server.ListTrees(ctx, request)
	return trees, told(err)
}

// GetTree reads a tree.
//
//aql:op category=READ
//aql:param tree_id required,min=1
//aql:example {"tree_id":42}
func (s *Service) GetTree(ctx context.Context, request *trillian.GetTreeRequest) (*trillian.Tree, error) {
	tree, err := s.server.GetTree(ctx, request)
	return tree, told(err)
}

// UpdateTree changes a tree; what is absent from input stays as it was.
//
//aql:op category=UPDATE,ids=tree_id
//aql:param tree_id min=1
//aql:example {"tree_id":42,"input":{"display_name":"old certificates","tree_state":2}}
func (s *Service) UpdateTree(ctx context.Context, treeID int64, input aql.Patch[trillian.Tree]) (*trillian.Tree,
	error) {
	request := &trillian.UpdateTreeRequest{Tree: new(trillian.Tree), UpdateMask: new(fieldmaskpb.FieldMask)}
	if err := input.Apply(request.Tree); err != nil {
		return nil, err
	}
	request.Tree.TreeId = treeID
	for _, path := range input.Paths() {
		field, _, _ := strings.Cut(path, ".")
		request.UpdateMask.Paths = append(request.UpdateMask.Paths, field)
	}
	tree, err := s.server.UpdateTree(ctx, request)
	return tree, told(err)
}

// DeleteTree marks a tree as deleted.
//
//aql:op category=DELETE
//aql:param tree_id required,min=1
//aql:confirm Delete tree {tree_id}?
//aql:example {"tree_id":42}
func (s *Service) DeleteTree(ctx context.Context, request *trillian.DeleteTreeRequest) (*trillian.Tree, error) {
	tree, err := s.server.DeleteTree(ctx, request)
	return tree, told(err)
}

// told lets agents see what gRPC clients would: the message of a refusal, and nothing of any other error.
func told(err error) error {
	switch state, _ := status.FromError(err); state.Code() {
	case codes.OK:
		return nil
	case codes.InvalidArgument:
		return aql.Errorf("VALIDATION_INVALID_FORMAT", "%s", state.Message()).WithCause(err)
	}
	return err
}
