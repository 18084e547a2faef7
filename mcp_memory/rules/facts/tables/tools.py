"""Names of software and words of its making, by which talk about work is told from talk about anything else."""

from __future__ import annotations

from mcp_memory.language.vocabulary import word_set

TOOLS = word_set(
    # languages and their tool chains
    "python javascript typescript java kotlin go rust golang ruby perl haskell scala elixir erlang clojure ocaml"
    " fortran php c++ c# f# objective-c dart lua zig wasm webassembly html html5 css css3 sass scss less tailwind"
    " bash zsh fish"
    " powershell sql graphql json yaml toml xml markdown latex jvm jdk node nodejs node.js deno bun npm pnpm yarn pip"
    " pipenv poetry uv conda hatch hatch-vcs setuptools cargo rustup gradle maven sbt cmake bazel make ninja webpack"
    " vite rollup esbuild parcel turbopack turborepo babel swc eslint prettier biome ruff black flake8 pylint mypy"
    " pyright isort clippy rustfmt gofmt golangci-lint sccache ccache xtask es2021 es6 ecmascript"
    # frameworks and libraries
    " react preact vue svelte sveltekit angular ember solidjs next next.js nextjs nuxt nuxt.js remix astro gatsby htmx"
    " alpine.js jquery bootstrap redux zustand mobx rxjs d3 three.js chart.js storybook electron tauri flutter riverpod"
    " expo ionic cordova swiftui django flask fastapi starlette tornado sanic rails sinatra laravel symfony wordpress"
    " drupal spring quarkus micronaut express express.js koa fastify nestjs hono actix axum tokio serde gin echo fiber"
    " phoenix .net blazor asp.net pydantic sqlalchemy alembic prisma drizzle typeorm sequelize knex hibernate celery"
    " dramatiq rq sidekiq resque bullmq airflow dagster prefect dbt luigi spark flink beam pandas polars numpy scipy"
    " pytorch tensorflow keras jax scikit-learn sklearn opencv langchain llamaindex unity unreal godot bevy pytest"
    " unittest jest vitest mocha chai cypress playwright selenium puppeteer rspec junit testcontainers locust k6"
    " gunicorn"
    " uvicorn daphne puma lodash axios moment dayjs zod trpc grpc protobuf avro thrift openapi swagger click"
    " typer i18next"
    " flask-login flask-migrate flask-wtf django-axes lazysizes workbox leaflet mapbox openlayers"
    # stores, queues and servers
    " postgres postgresql pg psql mysql mariadb sqlite oracle mssql mongodb mongo dynamodb cassandra scylladb couchdb"
    " redis valkey memcached elasticsearch opensearch solr algolia typesense meilisearch qdrant milvus pinecone"
    " weaviate"
    " pgvector pgbouncer influxdb influx timescaledb timescale clickhouse duckdb snowflake bigquery redshift neo4j"
    " firestore supabase firebase hasura rabbitmq kafka redpanda nats zeromq mqtt mosquitto emqx hivemq sqs sns kinesis"
    " nginx apache caddy traefik haproxy envoy istio tomcat minio ceph nfs s3 parquet lancedb etcd consul vault"
    " zookeeper"
    # operations
    " docker podman kubernetes k8s k3s helm kustomize argocd argo flux terraform opentofu pulumi ansible puppet chef"
    " vagrant packer nomad aws azure gcp ec2 ecs eks gke fargate lambda cloudfront cloudflare cloudwatch route53"
    " hetzner"
    " ovh digitalocean linode vultr heroku vercel netlify render render.com fly.io railway akamai fastly bunny jenkins"
    " circleci travis teamcity buildkite drone github gitlab gitea forgejo bitbucket git svn mercurial dependabot"
    " renovate"
    " sonarqube sentry glitchtip datadog grafana prometheus loki tempo jaeger zipkin opentelemetry kibana"
    " logstash fluentd"
    " splunk newrelic pagerduty opsgenie statuspage keycloak auth0 okta cognito saml oauth oauth2 oidc jwt ldap cron"
    " systemd cert-manager letsencrypt certbot wireguard openvpn tailscale cert ssh tls ssl http/2 http/3 http"
    " rest soap"
    " websocket websockets webrtc sse linux ubuntu debian fedora centos rhel alpine arch nixos macos windows"
    " android ios"
    " ipados freebsd"
    # services and programs
    " stripe paypal adyen klarna braintree mollie twilio sendgrid mailgun postmark ses mailchimp mailjet segment"
    " amplitude"
    " mixpanel posthog plausible matomo ga4 contentful strapi sanity storyblok shopify magento woocommerce"
    " lokalise crowdin"
    " formspree openweather openai gpt-4 claude gemini llama mistral jira linear asana trello clickup notion confluence"
    " slack mattermost discord zulip figma sketch miro vscode intellij pycharm webstorm goland neovim nvim vim"
    " emacs helix"
    " sublime xcode zed cursor copilot postman insomnia wkhtmltopdf gotenberg puppeteer pandoc ffmpeg imagemagick"
    " tesseract"
    " geogebra excel jupyter colab tableau metabase superset looker launchdarkly unleash flagsmith"
)
"""Software, services and formats, in lower case."""
WORK_WORDS = word_set(
    "api apis app apps backend backends frontend frontends server servers database databases db schema migration"
    " migrations deploy deploys deployed deployment deployments release releases staging prod production repo repos"
    " repository branch branches commit commits merge merged endpoint endpoints config configs timeout timeouts retries"
    " cluster pod pods container containers cache caching queue queues broker worker workers pipeline pipelines"
    " ci cd build"
    " builds bug bugs bugfix hotfix sprint sprints codebase code framework library libraries dependency dependencies"
    " module modules package packages service services microservice microservices monolith auth login sdk cli ui ux url"
    " http https port ports log logs logging metrics monitoring alert alerts incident ticket tickets linter lint"
    " compiler"
    " script scripts test tests unittest hosting webhook webhooks payload latency throughput backup backups rollback"
    " refactor rewrite feature-flag firmware parser scheduler importer exporter replica replicas tenant tenants"
    " architecture launch rollout roadmap backlog standup qa architecture website site portfolio project"
    " dashboard prototype mvp"
)
"""Words of talk about software and its making."""
COMMANDS = word_set(
    "npm npx pnpm yarn bun deno node make just task cargo rustup go python python3 pip pipx uv uvx poetry hatch tox nox"
    " pytest ruff mypy docker docker-compose podman kubectl helm terraform ansible ansible-playbook git gh bash sh"
    " gradle gradlew mvn sbt dotnet rake bundle rails php composer artisan flask django-admin alembic flutter dart pod"
    " swift xcodebuild nx turbo lerna vagrant packer psql mysql redis-cli aws gcloud az heroku fly vercel netlify"
    " ssh scp"
    " rsync curl systemctl journalctl brew mix iex lein stack cabal ninja cmake bazel meson"
)
"""First words of commands."""
KINDS = {
    "database": word_set(
        "postgres postgresql pg mysql mariadb sqlite oracle mssql mongodb mongo dynamodb cassandra scylladb"
        " couchdb influxdb"
        " timescaledb clickhouse duckdb snowflake bigquery redshift neo4j firestore supabase firebase"
    ),
    "language": word_set(
        "python javascript typescript java kotlin go rust golang ruby perl haskell scala elixir erlang clojure"
        " ocaml php c++"
        " c# dart lua zig swift"
    ),
    "framework": word_set(
        "react vue svelte sveltekit angular ember next.js nuxt remix astro django flask fastapi rails sinatra"
        " laravel symfony"
        " spring quarkus express nestjs phoenix flutter electron tauri blazor"
    ),
    "editor": word_set(
        "vscode code intellij pycharm webstorm goland neovim nvim vim emacs helix sublime xcode zed cursor"
    ),
    "ci": word_set("jenkins circleci travis teamcity buildkite drone actions"),
    "provider": word_set("stripe paypal adyen klarna braintree mollie"),
    "broker": word_set("rabbitmq kafka redpanda nats mosquitto emqx hivemq sqs"),
}
"""The names of some kinds of software, by the word that a question has for the kind: "Which database do we use?"."""


def is_of_kind(name: str, kind: str) -> bool:
    """Return whether the name of some software is known to be of a kind of `KINDS`."""
    return any(word.lower() in KINDS[kind] for word in name.split())
