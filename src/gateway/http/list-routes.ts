import type { FastifyInstance } from 'fastify';

export interface Route {
  readonly method: string;
  readonly url: string;
}

/** Fills with every route that is added from now on; those that fastify adds by itself (HEAD) and OPTIONS aside. */
export function listRoutes(server: FastifyInstance): readonly Route[] {
  const routes: Route[] = [];
  server.addHook('onRoute', ({ method, url }) => {
    const methods = Array.isArray(method) ? method : [method];
    for (const one of methods) if (one !== 'HEAD' && one !== 'OPTIONS') routes.push({ method: one, url });
  });
  return routes;
}
