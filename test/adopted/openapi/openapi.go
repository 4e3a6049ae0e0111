// Package openapi puts a strict server of oapi-codegen in front of agents: the methods of its generated interface,
// adopted by their names.
package openapi

import _ "github.com/aqltag/aqltag/test/adopted/services/pets"

//aql:adopt pets.StrictServerInterface.ListPets category=READ
//aql:adopt pets.StrictServerInterface.CreatePet category=CREATE
//aql:adopt pets.StrictServerInterface.GetPet category=READ
//aql:adopt pets.StrictServerInterface.UpdatePet category=UPDATE
//aql:adopt pets.StrictServerInterface.DeletePet category=DELETE
//aql:adopt pets.StrictServerInterface.AdoptPet category=EXECUTE
