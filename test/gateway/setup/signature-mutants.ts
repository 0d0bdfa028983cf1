import type { Random } from '../../harness/random.js';
import { signed } from './sign.js';

export interface Mutant {
  readonly headers: Record<string, string | string[]>;
  readonly body: string | Buffer;
}

type Genuine = ReturnType<typeof signed>;
type Mutation = (genuine: Genuine, body: string, random: Random) => Mutant;

const withSignature = (genuine: Genuine, signature: string | string[], body: string | Buffer): Mutant => ({
  headers: { ...genuine, 'webhook-signature': signature },
  body,
});
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_. ';

/** Each turns a genuine delivery into one that must not be accepted. */
const MUTATIONS: readonly Mutation[] = [
  (genuine, body, random) => {
    const text = genuine['webhook-signature'];
    const at = random.below(text.length);
    const letter =
      BASE64.split('').find((candidate, n) => candidate !== text[at] && n >= random.below(BASE64.length)) ?? '!';
    return withSignature(genuine, text.slice(0, at) + letter + text.slice(at + 1), body);
  },
  (genuine, body, random) => withSignature(genuine, genuine['webhook-signature'].slice(0, random.below(46)), body),
  (genuine, body, random) =>
    withSignature(genuine, genuine['webhook-signature'] + 'A'.repeat(1 + random.below(40)), body),
  (genuine, body) => withSignature(genuine, [genuine['webhook-signature'], genuine['webhook-signature']], body),
  (genuine, body) => withSignature(genuine, genuine['webhook-signature'].replace('v1,', 'v1a,'), body),
  (genuine, body) => withSignature(genuine, genuine['webhook-signature'].replace('v1,', 'V1,'), body),
  (genuine, body) => withSignature(genuine, genuine['webhook-signature'].replace('v1,', ''), body),
  (genuine, body) => withSignature(genuine, genuine['webhook-signature'].replace(',', ', '), body),
  (genuine, body) => withSignature(genuine, `${genuine['webhook-signature']}  ${genuine['webhook-signature']}`, body),
  (genuine, body) => {
    const bytes = Buffer.from(genuine['webhook-signature'].slice(3), 'base64');
    return withSignature(genuine, `v1,${bytes.toString('hex')}`, body);
  },
  (genuine, body) => withSignature(genuine, genuine['webhook-signature'].replace(/=$/, ''), body),
  (genuine, body) => withSignature(genuine, `${genuine['webhook-signature']}\u00e9`, body),
  (genuine, body) => ({
    headers: { ...genuine },
    body: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(body)]),
  }),
  (genuine, body) => ({ headers: { ...genuine }, body: `${body}\n` }),
  (genuine, body, random) => {
    const bytes = Buffer.from(body);
    const at = random.below(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(7));
    return { headers: { ...genuine }, body: bytes };
  },
  (genuine, body) => ({ headers: { ...genuine, 'webhook-id': `${genuine['webhook-id']}x` }, body }),
  (genuine, body) => ({ headers: { ...genuine, 'webhook-id': '' }, body }),
  (genuine, body) => ({ headers: { ...genuine, 'webhook-id': [genuine['webhook-id'], genuine['webhook-id']] }, body }),
  (genuine, body, random) => {
    const timestamp = String(Number(genuine['webhook-timestamp']) + 1 + random.below(1_000));
    return { headers: { ...genuine, 'webhook-timestamp': timestamp }, body };
  },
  (genuine, body, random) => {
    const other = random.pick(['abc', '.0', ' 1', 'e0', '\u00e9', ',1']);
    return { headers: { ...genuine, 'webhook-timestamp': genuine['webhook-timestamp'] + other }, body };
  },
  (genuine, body) => ({ headers: { ...genuine, 'webhook-timestamp': `0${genuine['webhook-timestamp']}` }, body }),
  (genuine, body) => ({ headers: { ...genuine, 'webhook-timestamp': [genuine['webhook-timestamp'], '1'] }, body }),
];

/** `count` mutants of fresh genuine deliveries, every mutation in turn. */
export function* signatureMutants(secret: string, body: string, count: number, random: Random): Generator<Mutant> {
  for (let n = 0; n < count; n += 1) {
    const mutation = MUTATIONS[n % MUTATIONS.length] as Mutation;
    yield mutation(signed(secret, body), body, random);
  }
}
