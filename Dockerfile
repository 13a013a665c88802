# The site and, unless SUPABASE_URL is set, its embedded backend. docs/hosting.md says how to run it.
FROM node:24-slim AS build
WORKDIR /site
COPY package.json package-lock.json ./
COPY patches patches
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /site
COPY package.json package-lock.json ./
COPY patches patches
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:24-slim
# Everywhere inside the container; which machines reach it is up to the published port.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /site
# Owned by root: the process may read the site and write only /data and /tmp.
COPY --from=dependencies /site/node_modules node_modules
COPY --from=build /site/build build
COPY --from=build /site/dist dist
COPY package.json ./
COPY app/server/run.js app/server/run.js
COPY supabase supabase
# The mails name the company, and the start counts what is still a sample.
COPY content content
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself, so that SIGTERM reaches it: it drains within DRAIN_SECONDS and ends the backend.
CMD ["node", "app/server/run.js", "start"]
