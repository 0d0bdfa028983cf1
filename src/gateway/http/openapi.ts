import type { OpenAPIV3_1 } from 'openapi-types';
import type { z } from 'zod';
import type { Permission } from '../../protocol/permissions.js';

type Schema = OpenAPIV3_1.SchemaObject;

/** A route in the OpenAPI document: its operation, and the components that only it and its like refer to. */
export interface Reference {
  readonly operation: OpenAPIV3_1.OperationObject;
  readonly schemas: Readonly<Record<string, Schema>>;
}

/** A schema under the name that it has in the document: `{ Flow }`. */
type Named<Schema extends z.ZodType> = Readonly<Record<string, Schema>>;

/** A route, declared once: its token, its validation and its entry in the document come from this. */
export interface Route<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST';
  /** With `:parameters`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** The permission that the token needs; null if it needs none. */
  readonly permission: Permission | null;
  /** Of the path. A value that does not fit is answered 404. */
  readonly params?: Params;
  readonly query?: Query;
  readonly body?:
    | { readonly schema: Named<Body>; readonly required: boolean; readonly example?: z.input<Body> }
    /** Validated by the handler, and shown by the first of these schemas, which may refer to the others. */
    | { readonly required: true; readonly described: () => DescribedBody };
  readonly answers: Readonly<Record<number, { readonly says: string; readonly schema: Named<Answer> }>>;
  /** Statuses with a specific meaning here. */
  readonly refusals?: Readonly<Record<number, string>>;
}

interface DescribedBody {
  readonly schemas: Readonly<Record<string, OpenAPIV3_1.SchemaObject>>;
  readonly example?: unknown;
}

export type AnyRoute = Route<z.ZodObject, z.ZodType, z.ZodType<unknown, never>>;

export const TAGS = {
  flows: 'Start flows, look at them, wait for them, decide.',
  events: 'What arrived from the service and the settlement provider, and its state.',
  callbacks: 'Signed callbacks to callers, and their delivery.',
  cards: 'Card data, which never enters a flow.',
  inbound: 'Endpoints for the service and the settlement provider.',
  operations: 'For those who run the gateway.',
} as const;
type Tag = keyof typeof TAGS;
