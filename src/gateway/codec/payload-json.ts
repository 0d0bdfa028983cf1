import type { Payload } from '@temporalio/common';
import { z } from 'zod';

/** Payloads as the codec server protocol writes them: proto JSON, bytes in base64. */
const base64 = () => z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, 'is not base64');
const PayloadJson = z.object({
  metadata: z.record(z.string(), base64()).nullish(),
  data: base64().nullish(),
});
export const PayloadsJson = z.object({ payloads: z.array(PayloadJson).max(1_000).default([]) });
export type PayloadsJson = z.infer<typeof PayloadsJson>;

export function payloadsOf({ payloads }: PayloadsJson): Payload[] {
  return payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, text]) => [name, bytes(text)])),
    data: bytes(data ?? ''),
  }));
}

export function payloadsJson(payloads: readonly Payload[]): { payloads: object[] } {
  const shown = payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)])),
    data: text(data ?? new Uint8Array()),
  }));
  return { payloads: shown };
}

function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}

function text(value: Uint8Array): string {
  return Buffer.from(value).toString('base64');
}
