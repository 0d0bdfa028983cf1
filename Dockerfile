# Temporal's native part needs glibc, which Alpine lacks.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /towline
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production TOWLINE_HOME=/var/lib/towline
RUN install --directory --owner=node --group=node --mode=0700 "$TOWLINE_HOME"
WORKDIR /towline
COPY --from=build /towline/package.json ./
COPY --from=build /towline/node_modules node_modules
COPY --from=build /towline/dist dist
COPY --from=build /towline/examples examples
COPY --from=build /towline/tools/nearby.mjs tools/nearby.mjs
USER node
VOLUME /var/lib/towline
EXPOSE 8400 8404
# For a gateway: it can store events durably, whether or not it reaches Temporal.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8400/readyz/intake').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--enable-source-maps", "dist/src/cli/main.js"]
CMD ["gateway"]
