/**
 * What an event says, by which it is known again. The `signature` that stands in an envelope next to `event` and `data`
 * is no part of it: two secrets sign one event in two ways, and nothing protects that member from being changed.
 */
export function contentOf(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('event' in body && 'data' in body)) return body;
  const { signature: _signature, ...content } = body as Record<string, unknown>;
  return content;
}
