# Temporal's native part needs glibc, which Alpine lacks.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /towline
COPY package.json package-lock.json .npmrc ./
# Behind a proxy that ends TLS: docker build --secret id=ca,src=ca.pem .
RUN --mount=type=secret,id=ca \
    if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi; npm ci --include=dev
COPY . .
# The workflows are bundled here, so that the image needs neither webpack nor swc.
RUN npm run build && node tools/trim.mjs /towline

FROM node:24.21.0-bookworm-slim
# Nothing is made by itself that production must be given: keys, tokens, a database.
ENV NODE_ENV=production DEVELOPMENT=false TOWLINE_HOME=/var/lib/towline
RUN install --directory --owner=node --group=node --mode=0700 "$TOWLINE_HOME"
WORKDIR /towline
COPY --from=build /towline/package.json ./
COPY --from=build /towline/node_modules node_modules
COPY --from=build /towline/dist dist
COPY --from=build /towline/examples examples
# The console shows them.
COPY --from=build /towline/docs/parked-flows.md /towline/docs/runbook.md docs/
COPY --from=build /towline/tools/nearby.mjs tools/nearby.mjs
USER node
EXPOSE 8400 8404
# For a gateway: it can store events durably, whether or not it reaches Temporal.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.GATEWAY_PORT || 8400}/readyz/intake`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--enable-source-maps", "dist/src/cli/main.js"]
CMD ["gateway"]
