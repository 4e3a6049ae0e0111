// Package dns puts the domains of a DigitalOcean account in front of agents. It is a thin layer on godo: each function
// calls one of the client's, with the client's own option and request structs.
package dns

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/digitalocean/godo"

	aql "github.com/aqltag/aqltag/runtime"
)

// Service is the part of the API that agents may use.
type Service struct{ domains godo.DomainsService }

// NewService returns the service behind a client.
func NewService(client *godo.Client) *Service { return &Service{client.Domains} }

// ListDomains lists the domains of the account.
//
//aql:op category=READ
//aql:param per_page min=1,max=200
//aql:example {"per_page":50}
func (s *Service) ListDomains(ctx context.Context, options *godo.ListOptions) ([]godo.Domain, error) {
	domains, _, err := s.domains.List(ctx, options)
	return domains, told(err, "account", "")
}

// GetDomain reads a domain with its zone file.
//
//aql:op category=READ
//aql:example {"name":"example.com"}
func (s *Service) GetDomain(ctx context.Context, name string) (*godo.Domain, error) {
	domain, _, err := s.domains.Get(ctx, name)
	return domain, told(err, "domain", name)
}

// CreateDomain adds a domain to the account.
//
//aql:op category=CREATE
//aql:param name required,minlen=1,maxlen=253
//aql:param ip_address format=ipv4
//aql:example {"name":"example.com","ip_address":"192.0.2.10"}
func (s *Service) CreateDomain(ctx context.Context, request *godo.DomainCreateRequest) (*godo.Domain, error) {
	domain, _, err := s.domains.Create(ctx, request)
	return domain, told(err, "domain", request.Name)
}

// DeleteDomain removes a domain and all its records.
//
//aql:op category=DELETE,danger=dangerous
//aql:reason Names under the domain no longer resolve
//aql:confirm Delete '{name}' with all its records?
//aql:example {"name":"example.com"}
func (s *Service) DeleteDomain(ctx context.Context, name string) error {
	_, err := s.domains.Delete(ctx, name)
	return told(err, "domain", name)
}

// ListRecords lists the records of a domain.
//
//aql:op category=READ
//aql:example {"domain":"example.com","options":{"page":2}}
func (s *Service) ListRecords(ctx context.Context, domain string, options *godo.ListOptions) ([]godo.DomainRecord,
	error) {
	records, _, err := s.domains.Records(ctx, domain, options)
	return records, told(err, "domain", domain)
}

// CreateRecord adds a record to a domain.
//
//aql:op category=CREATE
//aql:param record required
//aql:example {"domain":"example.com","record":{"type":"A","name":"www","data":"192.0.2.10","ttl":1800}}
func (s *Service) CreateRecord(ctx context.Context, domain string,
	record *godo.DomainRecordEditRequest) (*godo.DomainRecord, error) {
	created, _, err := s.domains.CreateRecord(ctx, domain, record)
	return created, told(err, "domain", domain)
}

// UpdateRecord changes a record; what is absent from input stays as it was.
//
//aql:op category=UPDATE,ids=domain|id
//aql:example {"domain":"example.com","id":28448433,"input":{"data":"192.0.2.11"}}
func (s *Service) UpdateRecord(ctx context.Context, domain string, id int,
	input aql.Patch[godo.DomainRecord]) (*godo.DomainRecord, error) {
	record, _, err := s.domains.Record(ctx, domain, id)
	if err != nil {
		return nil, told(err, "record", strconv.Itoa(id))
	}
	if err := input.Apply(record); err != nil {
		return nil, err
	}
	changed, _, err := s.domains.EditRecord(ctx, domain, id, &godo.DomainRecordEditRequest{
		Type: record.Type, Name: record.Name, Data: record.Data, Priority: record.Priority, Port: record.Port,
		TTL: record.TTL, Weight: record.Weight, Flags: record.Flags, Tag: record.Tag,
	})
	return changed, told(err, "record", strconv.Itoa(id))
}

// DeleteRecord removes a record.
//
//aql:op category=DELETE
//aql:confirm Delete record {id} of '{domain}'?
//aql:example {"domain":"example.com","id":28448433}
func (s *Service) DeleteRecord(ctx context.Context, domain string, id int) error {
	_, err := s.domains.DeleteRecord(ctx, domain, id)
	return told(err, "record", strconv.Itoa(id))
}

// told makes of the API's refusals what agents can act on. Any other error is masked.
func told(err error, resource, id string) error {
	refused, ok := errors.AsType[*godo.ErrorResponse](err)
	if !ok || refused.Response == nil {
		return err
	}
	switch refused.Response.StatusCode {
	case http.StatusNotFound:
		return aql.NotFound(resource, id).WithCause(err)
	case http.StatusUnprocessableEntity:
		return aql.Errorf("VALIDATION_INVALID_FORMAT", "%s", refused.Message).WithCause(err)
	}
	return err
}
