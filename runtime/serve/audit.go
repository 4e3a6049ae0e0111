package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aqltag/aqltag/runtime/audit"
)

// auditSize is the default of Options.AuditSize.
const auditSize = 64 << 20

// openAudit opens the file of -audit; nil: there is none.
func (s settings) openAudit(ctx context.Context, options Options, log *slog.Logger) (*audit.Log, error) {
	if s.audit == "" {
		if s.auditKey != "" {
			return nil, errors.New("-audit-key: there is no -audit, so nothing is written with the key")
		}
		return nil, nil
	}
	file := audit.FileOptions{
		MaxSize: max(cmp.Or(options.AuditSize, auditSize), 0), Keep: options.AuditKeep, Logger: log,
	}
	var err error
	if file.Key, err = s.keyOfAudit(&options); err != nil {
		return nil, err
	}
	sink, err := audit.OpenFile(ctx, s.audit, file)
	if err != nil {
		return nil, fmt.Errorf("-audit: %w", err)
	}
	return audit.New(audit.Options{Sinks: []audit.Sink{sink}, Wait: true, Logger: log}), nil
}

// keyOfAudit returns the key of the file of -audit; nil: it has none.
func (s settings) keyOfAudit(options *Options) ([]byte, error) {
	if s.auditKey == "" {
		return options.AuditKey, nil
	}
	return readKey("audit-key", s.auditKey)
}
