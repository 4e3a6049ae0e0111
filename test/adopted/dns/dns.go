// Package dns puts the domains of a DigitalOcean account in front of agents. Every operation is a method of godo,
// adopted by its name. The methods are those of the type behind godo's interface: the interface has no names for its
// arguments.
package dns

import _ "github.com/digitalocean/godo"

//aql:adopt (*godo.DomainsServiceOp).List category=READ,op=list_domains
//aql:adopt (*godo.DomainsServiceOp).Get category=READ,op=get_domain
//aql:adopt (*godo.DomainsServiceOp).Create category=CREATE,op=create_domain
//aql:adopt (*godo.DomainsServiceOp).Delete category=DELETE,op=delete_domain,danger=dangerous
//aql:adopt (*godo.DomainsServiceOp).Records category=READ,op=list_records
//aql:adopt (*godo.DomainsServiceOp).Record category=READ,op=get_record
//aql:adopt (*godo.DomainsServiceOp).CreateRecord category=CREATE
//aql:adopt (*godo.DomainsServiceOp).EditRecord category=UPDATE,op=update_record,ids=domain|id
//aql:update get=Record
//aql:adopt (*godo.DomainsServiceOp).DeleteRecord category=DELETE
//aql:confirm Delete record {id} of '{domain}'?
