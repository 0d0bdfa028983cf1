import { at, parsed } from './json.js';
import type { Witnesses } from './witnesses.js';

/** An event that was posted to a gateway, and the answer to each attempt. */
export interface PostedEvent {
  readonly source: string;
  /** Of a callback: the flow of its path. */
  readonly flowId: string | null;
  readonly body: string;
  readonly reference: string;
  readonly status: string;
  readonly isGenuine: boolean;
  readonly answers: readonly (number | null)[];
}

export const isAnswered2xx = (status: number | null | undefined): boolean =>
  typeof status === 'number' && status >= 200 && status < 300;

/** Posted by the service and its forgers, by the driver itself, and by the sandbox if the driver had it forge one. */
export function postedEvents({ deliveries, calls, gatewayUrl }: Witnesses): readonly PostedEvent[] {
  const byService = deliveries.flatMap(({ path, ...delivery }) => {
    const place = placeOf(path);
    return place === undefined ? [] : [{ ...delivery, ...place }];
  });
  const byDriver = calls.flatMap(({ of, path, body, answer }): PostedEvent[] => {
    const place = of === 'gateway' ? placeOf(path) : undefined;
    if (place !== undefined && body !== undefined) return [driven(place, body, answer?.status)];
    if (of !== 'sandbox' || path !== '/forge' || answer === undefined) return [];
    const url = String(at(answer.body, 'url'));
    const forged = url.startsWith(gatewayUrl) ? placeOf(new URL(url).pathname) : undefined;
    const status = at(answer.body, 'answer.status');
    return forged === undefined ? [] : [driven(forged, JSON.stringify(at(answer.body, 'sent')), status)];
  });
  return [...byService, ...byDriver];
}

function driven(place: Place, body: string, status: unknown): PostedEvent {
  return {
    ...place,
    body,
    reference: 'the driver',
    status: String(at(parsed(body), 'status')),
    isGenuine: false,
    answers: [typeof status === 'number' ? status : null],
  };
}

interface Place {
  readonly source: string;
  readonly flowId: string | null;
}

/** Undefined for a path that takes no events. */
function placeOf(path: string): Place | undefined {
  const [, endpoint, kind, reference] = path.split('/');
  if (endpoint === 'callbacks') return { source: 'callback', flowId: `${kind}/${decodeURIComponent(reference ?? '')}` };
  if (endpoint === 'webhooks') return { source: 'webhook', flowId: null };
  const isSettlement = endpoint === 'settlements' || path.endsWith('/webhook/provider/settlement');
  return isSettlement ? { source: 'settlement', flowId: null } : undefined;
}
