import { decode } from 'light-bolt11-decoder';

/** The content of a BOLT 11 invoice. Its checksum was verified, its signature was not: the payer's node does that. */
export interface LightningInvoice {
  /** `bc` is the main network. */
  readonly network: string;
  /** Null: the payer chooses. */
  readonly amountMsat: string | null;
  readonly paymentHash: string;
  readonly expiresAtMs: number;
}

/** "x … default is 3600 (1 hour) if not specified" (BOLT 11). */
const DEFAULT_EXPIRY_SECONDS = 3_600;

/** Undefined if the text is no invoice. */
export function readLightningInvoice(text: string): LightningInvoice | undefined {
  let sections: ReturnType<typeof decode>['sections'];
  try {
    ({ sections } = decode(text.trim().replace(/^lightning:/i, '')));
  } catch {
    return undefined;
  }
  const valueOf = (name: string): unknown => {
    const section = sections.find((candidate) => candidate.name === name);
    return section !== undefined && 'value' in section ? section.value : undefined;
  };
  const network = (valueOf('coin_network') as { bech32?: string } | undefined)?.bech32;
  const createdAt = valueOf('timestamp');
  const paymentHash = valueOf('payment_hash');
  if (network === undefined || typeof createdAt !== 'number' || typeof paymentHash !== 'string') return undefined;
  const expirySeconds = valueOf('expiry') ?? DEFAULT_EXPIRY_SECONDS;
  const amountMsat = valueOf('amount');
  return {
    network,
    amountMsat: typeof amountMsat === 'string' ? amountMsat : null,
    paymentHash,
    expiresAtMs: (createdAt + Number(expirySeconds)) * 1_000,
  };
}
