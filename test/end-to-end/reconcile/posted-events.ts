import { at, parsed } from './json.js';
import type { Witnesses } from './witnesses.js';

/** An event that somebody posted to a gateway, and what each attempt was answered. */
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

/** By the service and its forgers, by the driver itself, and by the sandbox where the driver had it forge one. */
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

/** Undefined for a path where no events come in. */
function placeOf(path: string): Place | undefined {
  const [, door, kind, reference] = path.split('/');
  if (door === 'callbacks') return { source: 'callback', flowId: `${kind}/${decodeURIComponent(reference ?? '')}` };
  if (door === 'webhooks') return { source: 'webhook', flowId: null };
  const isSettlement = door === 'settlements' || path.endsWith('/webhook/provider/settlement');
  return isSettlement ? { source: 'settlement', flowId: null } : undefined;
}
