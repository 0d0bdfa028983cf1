/** A fault around one POST. */
export interface Fault {
  /** For the table. */
  readonly name: string;
  /** Set in the sandbox for the first request of the reference. */
  readonly sandbox?: Readonly<Record<string, unknown>> & { readonly kind: string };
  /** What a worker that was killed has left behind: its claim, and whether the service has executed its request. */
  readonly killed?: { readonly in: 'reserved' | 'sending' | 'answered'; readonly executed: boolean };
  /** A request was or may have been sent, and the service never had it: that cannot be seen from here. */
  readonly neverArrived?: true;
  /** The service says itself that it did not execute it. */
  readonly isRefused?: true;
}

/** `late-commit`: well within the settle window, long after the client has given up. */
const LATE_MS = 400;

/** One for each cell, so that every operation meets most of them; the table shows what they have in common. */
export const GARBAGE = ['html', 'truncated', 'wrong-shape', 'no-reason', 'empty', 'not-an-object'] as const;

export const FAULTS: readonly Fault[] = [
  { name: 'none' },
  { name: 'answer lost', sandbox: { kind: 'answer-lost' } },
  // The sandbox breaks off before it executes: to the caller that is the same.
  { name: 'half-sent, then reset', sandbox: { kind: 'reset-before' }, neverArrived: true },
  { name: '5xx before it was executed', sandbox: { kind: 'error-before', status: 503 }, neverArrived: true },
  { name: '5xx after it was executed', sandbox: { kind: 'error-after', status: 502 } },
  { name: 'garbage', sandbox: { kind: 'garbage' } },
  { name: 'executed late', sandbox: { kind: 'late-commit', delayMs: LATE_MS } },
  { name: '429', sandbox: { kind: 'rate-limited', retryAfterSeconds: 1 } },
  { name: '401', sandbox: { kind: 'unauthorized' } },
  { name: 'refused in its own body', sandbox: { kind: 'refused' }, isRefused: true },
  { name: "a firewall's 403 before it was executed", sandbox: { kind: 'page', commit: false }, neverArrived: true },
  { name: "a firewall's 403 after it was executed", sandbox: { kind: 'page' } },
  { name: "a proxy's 429 after it was executed", sandbox: { kind: 'page', status: 429 } },
  { name: 'killed in `reserved`', killed: { in: 'reserved', executed: false } },
  {
    name: 'killed in `sending`, before it was executed',
    killed: { in: 'sending', executed: false },
    neverArrived: true,
  },
  { name: 'killed in `sending`, after it was executed', killed: { in: 'sending', executed: true } },
  { name: 'killed in `answered`', killed: { in: 'answered', executed: true } },
];

/** How the service treats a repeated reference, and the matching `DUPLICATE_REFERENCE`. */
export const REPEAT_MODES = [
  { repeatMode: 'same-result', setting: 'same-result' },
  { repeatMode: 'conflict', setting: 'rejected' },
  { repeatMode: 'rejected', setting: 'rejected' },
  { repeatMode: 'execute-again', setting: 'unknown' },
] as const;
export type RepeatMode = (typeof REPEAT_MODES)[number];
