# syntax=docker/dockerfile:1
FROM node:24-bookworm-slim AS build
WORKDIR /app
# The bundler's binary is an optional package. What else is optional stays in this stage.
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.ts scripts/bundle.ts scripts/
COPY src src
RUN node scripts/build.ts

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional && npm cache clean --force
COPY bin bin
COPY contracts/artifacts contracts/artifacts
COPY dashboard/built dashboard/built
COPY config config
COPY strategies strategies
COPY --from=build /app/dist dist
# The program is root's and read-only to the user that runs it; only the database's folder is that user's own.
RUN mkdir -p /data /identity /config && chown node:node /data /identity && chmod 700 /identity
# The command is `swapd`, and it acts on the configuration that is mounted.
RUN ln -s /app/bin/swapd.js /usr/local/bin/swapd
ENV SWAPD_CONFIG=/config/swapd.yaml
# Where `swapd init` lets a configuration keep its databases.
ENV SWAPD_DATA=/data
USER node
VOLUME /data
# Markers of the databases, on a volume of their own.
VOLUME /identity
ENV SWAPD_IDENTITY=/identity
# The daemon's own health: it ticks and its work goes on. That the node is there is /readyz.
ENV SWAPD_HEALTH_URL=http://127.0.0.1:9464/healthz
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(process.env.SWAPD_HEALTH_URL).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["swapd"]
CMD ["start", "--wait"]
