// Package trees puts the administration of a Trillian transparency log in front of agents: the methods of the interface
// that protoc generated, adopted by their names, and carried out by the server that Trillian serves over gRPC.
package trees

import _ "github.com/google/trillian"

//aql:adopt trillian.TrillianAdminServer.CreateTree category=CREATE
//aql:param tree required
//aql:adopt trillian.TrillianAdminServer.ListTrees category=READ
//aql:adopt trillian.TrillianAdminServer.GetTree category=READ
//aql:adopt trillian.TrillianAdminServer.UpdateTree category=EXECUTE,op=change_tree,danger=reversible
//aql:adopt trillian.TrillianAdminServer.DeleteTree category=DELETE
//aql:confirm Delete tree {tree_id}?
