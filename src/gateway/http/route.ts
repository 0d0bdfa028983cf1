import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Json } from '../../api/json.js';
import type { Permission } from '../../protocol/permissions.js';
import type { Caller } from './bearer-token.js';
import { flowAddress, NO_SUCH_KIND, parseBody } from './flow-path.js';
import { bodyOf, type JsonBody } from './json-body.js';
import { Refusal } from './refusal.js';
import { describeRoute } from '../reference/describe-route.js';
import type { AnyRoute, Reference, Route } from './openapi.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer is a file of ours, which contains nothing that a caller sent. */
    isOurFile?: boolean;
    /** It answers with a list, which costs more than most requests. */
    isList?: boolean;
    /** It says whether the process is ready: that it is not is no line of the log, since anyone may ask without end. */
    isProbe?: boolean;
    /** Its entry in `/openapi.json`. Absent: the route is for machines that know it (Temporal's UI, Prometheus). */
    reference?: () => Reference;
  }
  interface FastifyRequest {
    /** For the log: the flow that the body names. The handler sets it. */
    flowId?: string;
  }
}

export interface RouteRequest<Params extends z.ZodObject, Query extends z.ZodType, Body extends z.ZodType> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Who gives an order: `name` is recorded. */
  readonly caller: Caller;
  readonly params: z.output<Params>;
  readonly query: z.output<Query>;
  /** An empty object if it is optional and was not sent. */
  readonly body: z.output<Body>;
}

/** Path, method and document entry of a route that checks its callers and bodies by itself. */
export function routeOptions<Body extends z.ZodType>(route: Route<z.ZodObject, z.ZodType, Body>) {
  const { method, path: url, permission, query } = route;
  // A list of any length has a limit.
  const isList = query instanceof z.ZodObject && 'limit' in query.shape;
  return { method, url, config: { permission, isList, reference: () => describeRoute(route as AnyRoute) } };
}

/**
 * Adds a route for callers with a token. Its flow, if its path names one, must be one that the caller may do this to. The
 * status is 200 unless the handler sets another one.
 */
export function addRoute<
  Params extends z.ZodObject,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
>(
  server: FastifyInstance,
  route: Route<Params, Query, Body, Answer> & {
    readonly permission: Permission;
    readonly handler: (
      request: RouteRequest<Params, Query, Body>,
    ) => Json<z.output<Answer>> | Promise<Json<z.output<Answer>>>;
  },
): void {
  const { params, query, body } = route;
  const bodySchema = body !== undefined && 'schema' in body ? Object.values(body.schema)[0] : undefined;
  const given = (request: FastifyRequest): Promise<unknown> | object =>
    (body?.required === true ? bodyOf(request) : (request.body as JsonBody | undefined | null))?.read() ?? {};
  server.route({
    ...routeOptions(route),
    handler: async (request, reply) => {
      const { caller } = request;
      const parsed = params === undefined ? {} : paramsOf(params, request);
      const { kind, reference } = parsed as { readonly kind?: unknown; readonly reference?: unknown };
      const address = flowAddress(kind, reference);
      if (address !== undefined) await server.owners.require(caller, route.permission, address);
      const content = await given(request);
      return route.handler({
        request,
        reply,
        caller,
        params: parsed,
        query: query === undefined ? undefined : parseBody(query, request.query, 'The query'),
        body: bodySchema === undefined ? content : parseBody(bodySchema, content),
      } as RouteRequest<Params, Query, Body>);
    },
  });
}

function paramsOf<Params extends z.ZodObject>(params: Params, request: FastifyRequest): z.output<Params> {
  const parsed = params.safeParse(request.params);
  if (!parsed.success) {
    const isKind = parsed.error.issues.some(({ path }) => path[0] === 'kind');
    if (isKind) throw new Refusal(404, NO_SUCH_KIND, { code: 'unknown_kind' });
    throw new Refusal(404, 'There is nothing at this address.');
  }
  return parsed.data;
}
