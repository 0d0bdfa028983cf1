import type { MoneyOperationName } from '../../src/contract/index.js';
import type { CallOptions, ServiceClient } from '../../src/service-client/index.js';
import type { ClaimKey } from '../../src/store/claim.js';
import type { Store } from '../../src/store/store.js';
import { KINDS } from '../harness/kinds.js';

/** Steps around which a process can be held, so that it dies or sleeps exactly there. */
type Step = 'reserve' | 'post' | 'recordAnswer' | 'receive' | 'lease' | 'markDelivered';

/** `{moment: 'before', step: 'post', word: 'lost'}` holds POSTs of references that begin with `lost`, before they leave. */
export interface Hold {
  readonly moment: 'before' | 'after';
  readonly step: Step;
  readonly word: string;
  /** Default: any operation. */
  readonly operation?: string;
}

/** Messages of a process; the test counts them. */
export type Said =
  | { readonly kind: 'ready'; readonly url?: string }
  | { readonly kind: 'held'; readonly hold: Hold; readonly reference: string }
  | { readonly kind: 'claim'; readonly step: Step; readonly as: string; readonly reference: string };

interface CrashPoints {
  /** Releases everything that is held now or would be held later. */
  release(): void;
  /** The store, whose steps of claims and inbox can be held. */
  store(store: Store): Store;
  /** The service, whose money POSTs can be held. */
  service(service: ServiceClient): ServiceClient;
}

/**
 * Holds a process at chosen steps, by wrapping its dependencies: the product has no hooks. A held step reports that and
 * waits until the test has killed the process, or released it.
 */
export function createCrashPoints(holds: readonly Hold[], say: (said: Said) => void): CrashPoints {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const state = { released: false };
  /** Of the inbox rows that this process received. */
  const referenceOf = new Map<string, string>();

  const at = async (moment: Hold['moment'], step: Step, reference: string, operation?: string): Promise<void> => {
    const hold = holds.find(
      (candidate) =>
        candidate.moment === moment &&
        candidate.step === step &&
        reference.startsWith(candidate.word) &&
        (candidate.operation === undefined || candidate.operation === operation),
    );
    if (hold === undefined || state.released) return;
    say({ kind: 'held', hold, reference });
    await released;
  };
  const around = async <T>(step: Step, reference: string, work: () => Promise<T>, operation?: string): Promise<T> => {
    await at('before', step, reference, operation);
    const result = await work();
    await at('after', step, reference, operation);
    return result;
  };
  const ofClaim = <T>(step: Step, { reference, operation }: ClaimKey, work: () => Promise<T>): Promise<T> =>
    around(step, reference, work, operation);

  return {
    release() {
      state.released = true;
      release();
    },
    store: (store) => ({
      ...store,
      claims: {
        ...store.claims,
        async reserve(key, ...asks) {
          const found = await ofClaim('reserve', key, () => store.claims.reserve(key, ...asks));
          say({ kind: 'claim', step: 'reserve', as: found.kind, reference: key.reference });
          return found;
        },
        recordAnswer: (key, ...rest) => ofClaim('recordAnswer', key, () => store.claims.recordAnswer(key, ...rest)),
      },
      inbox: {
        ...store.inbox,
        receive(event) {
          const reference = event.reference ?? '';
          referenceOf.set(event.id, reference);
          return around('receive', reference, () => store.inbox.receive(event));
        },
        lease: (options) => around('lease', '', () => store.inbox.lease(options)),
        markDelivered: (flowId, ids) =>
          around('markDelivered', referenceOf.get(ids[0] ?? '') ?? '', () => store.inbox.markDelivered(flowId, ids)),
      },
    }),
    service: (service) => ({
      ...service,
      ...Object.fromEntries(
        moneyPosts.map((operation) => {
          const post = service[operation] as (body: never, options?: CallOptions) => Promise<unknown>;
          const held = (body: Body, options?: CallOptions) =>
            around('post', referenceIn(body), () => post(body as never, options), operation);
          return [operation, held];
        }),
      ),
    }),
  };
}

const moneyPosts = KINDS.flatMap(({ posts }) => Object.keys(posts) as MoneyOperationName[]);

interface Body {
  readonly provider_reference_id?: string;
  readonly referenceId?: string;
  readonly reference_id?: string;
}

const referenceIn = (body: Body): string => body.provider_reference_id ?? body.referenceId ?? body.reference_id ?? '';
