package todo

import (
	"context"
	"time"
)

// PurgeCompletedRequest tells which of the completed todos to remove.
type PurgeCompletedRequest struct {
	_ struct{} `aql:"category=DELETE,danger=dangerous"`
	// Spares todos completed in the last so many days
	OlderThanDays int `json:"older_than_days" aql:"required,min=0"`
}

// PurgeResult tells what a purge did.
type PurgeResult struct {
	Purged int `json:"purged"` // Number of todos removed
}

// PurgeCompleted removes the completed todos for good.
//
//aql:example {"older_than_days":30} Keeps what was completed in the last month
//aql:reason Removes many todos in one go
//aql:confirm type={older_than_days} Remove all todos completed {older_than_days} or more days ago, for good?
func (s *Service) PurgeCompleted(ctx context.Context, req PurgeCompletedRequest) (*PurgeResult, error) {
	const day = int64(24 * time.Hour / time.Microsecond)
	// SQL subtracts without overflow, however many days are asked for.
	result, err := s.db.ExecContext(ctx, `DELETE FROM todos WHERE completed_at <= ? - ? * ?`, s.now().UnixMicro(),
		req.OlderThanDays, day)
	if err != nil {
		return nil, err
	}
	purged, err := result.RowsAffected()
	return &PurgeResult{Purged: int(purged)}, err
}
