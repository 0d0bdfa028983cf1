import type { FlowView } from '../../flows/messages.js';
import type { FlowState } from '../../flows/vocabulary.js';
import type { InboxRow } from '../../store/inbox.js';
import type { CallbacksJson, ListedCallbacksJson } from '../../gateway/callbacks/callbacks-json.js';
import { type GatewayAccess, requestGateway } from './request.js';

/** A flow in a list: what the server knows without asking a worker. */
export interface ListedFlow extends Pick<FlowView, 'kind' | 'reference' | 'flowId' | 'state' | 'startedAt'> {
  readonly closedAt: string | null;
}

/** An event as the gateway shows it; the body only to whom it may be shown. */
export type ShownEvent = Omit<InboxRow, 'contentHash' | 'body'> & { readonly body?: unknown };

export interface EventPage {
  readonly events: readonly ShownEvent[];
  /** For `after`: where the next page begins; null at the end. */
  readonly next: string | null;
}

export interface Replay {
  readonly dryRun: boolean;
  /** What it does, as a sentence. */
  readonly would: string;
  readonly flowState: FlowState | null;
}

export interface ListQuery {
  readonly kind?: string | undefined;
  readonly state?: string | undefined;
  readonly reference?: string | undefined;
  readonly limit?: number | undefined;
}

export interface EventQuery {
  readonly state?: string | undefined;
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

export interface CallbackQuery {
  readonly state?: string | undefined;
  readonly limit?: number | undefined;
}

/** The gateway's flow operations, one function each. Answers are taken as the gateway's own, and not checked again. */
export type GatewayClient = ReturnType<typeof createGatewayClient>;

export function createGatewayClient(access: GatewayAccess) {
  const get = <T>(path: string, query: object = {}, withinMs?: number) =>
    requestGateway(access, {
      method: 'GET',
      path,
      query: query as Record<string, string | number | undefined>,
      ...(withinMs === undefined ? {} : { withinMs }),
    }) as Promise<T>;
  const post = <T>(path: string, body: unknown) =>
    requestGateway(access, { method: 'POST', path, body: JSON.stringify(body) }) as Promise<T>;
  const noteOf = (note: string | undefined) => (note === undefined ? {} : { note });

  return {
    url: access.url,
    /** The input as JSON text: it is passed on as it was written. */
    start: (kind: string, input: string) =>
      requestGateway(access, {
        method: 'POST',
        path: `/flows/${encodeURIComponent(kind)}`,
        body: input,
      }) as Promise<FlowView>,
    list: (query: ListQuery) => get<{ readonly flows: readonly ListedFlow[] }>('/flows', query),
    show: (flowId: string) => get<FlowView>(`/flows/${flowId}`),
    /** The flow as soon as it ended or parked, or as it is after that time (at most 300 s). */
    wait: (flowId: string, timeoutSeconds: number) =>
      get<FlowView>(`/flows/${flowId}/wait`, { timeoutSeconds }, timeoutSeconds * 1_000 + 5_000),
    cancel: (flowId: string, note?: string) => post<FlowView>(`/flows/${flowId}/cancel`, noteOf(note)),
    approve: (flowId: string, note?: string) => post<FlowView>(`/flows/${flowId}/approve-quote`, noteOf(note)),
    resolve: (flowId: string, order: { action: string; note: string; eventId?: string }) =>
      post<FlowView>(`/flows/${flowId}/resolve`, order),
    /** The order as JSON text: it is passed on as it was written. */
    pay: (flowId: string, order: string) =>
      requestGateway(access, { method: 'POST', path: `/flows/${flowId}/pay`, body: order }) as Promise<FlowView>,
    refundInvoice: (flowId: string, invoice: string) => post<FlowView>(`/flows/${flowId}/refund-invoice`, { invoice }),
    eventsOf: (flowId: string, query: EventQuery = {}) => get<EventPage>(`/flows/${flowId}/events`, query),
    events: (query: EventQuery) => get<EventPage>('/events', query),
    callbacks: (query: CallbackQuery) =>
      get<{ readonly callbacks: readonly ListedCallbacksJson[] }>('/callbacks', query),
    callbacksOf: (flowId: string) => get<CallbacksJson>(`/flows/${flowId}/callbacks`),
    resendCallback: (flowId: string) => post<CallbacksJson>(`/flows/${flowId}/callbacks/resend`, {}),
    event: (id: string) => get<ShownEvent>(`/events/${encodeURIComponent(id)}`),
    replay: (id: string, order: { trust: boolean; dryRun: boolean }) =>
      post<Replay>(`/events/${encodeURIComponent(id)}/replay`, order),
  };
}
