//go:build libraries

package verbs

// The libraries that the measurement is about. Nothing links them: the test reads their source.
import (
	_ "github.com/bradfitz/gomemcache/memcache"
	_ "github.com/casbin/casbin/v2"
	_ "github.com/digitalocean/godo"
	_ "github.com/go-git/go-git/v5"
	_ "github.com/google/go-github/v74/github"
	_ "github.com/hashicorp/consul/api"
	_ "github.com/mailgun/mailgun-go/v4"
	_ "github.com/minio/minio-go/v7"
	_ "github.com/moby/moby/client"
	_ "github.com/nats-io/nats.go"
	_ "github.com/redis/go-redis/v9"
	_ "github.com/robfig/cron/v3"
	_ "github.com/slack-go/slack"
	_ "github.com/spf13/afero"
	_ "github.com/stripe/stripe-go/v82/charge"
	_ "github.com/stripe/stripe-go/v82/customer"
	_ "github.com/stripe/stripe-go/v82/invoice"
	_ "github.com/stripe/stripe-go/v82/paymentintent"
	_ "github.com/stripe/stripe-go/v82/payout"
	_ "github.com/stripe/stripe-go/v82/refund"
	_ "github.com/stripe/stripe-go/v82/subscription"
	_ "github.com/stripe/stripe-go/v82/transfer"
	_ "go.etcd.io/bbolt"
)
