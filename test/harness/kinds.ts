import { FLOW_KINDS, type FlowKind } from '../../src/protocol/vocabulary.js';
import type { KindUnderTest } from './kind.js';

export type NamedKind = KindUnderTest & { readonly kind: FlowKind };

/** Every kind. One without its file fails here, by the name of the file. */
export const KINDS: readonly NamedKind[] = await Promise.all(
  FLOW_KINDS.map(async (kind) => {
    const { default: described } = (await import(new URL(`../kinds/${kind}.ts`, import.meta.url).href)) as {
      default: KindUnderTest;
    };
    return { kind, ...described };
  }),
);

/** Records of what the sandbox's control starts, as another client of the service would. */
export const ELSEWHERE: readonly string[] = KINDS.flatMap(({ begunBy, record }) => (begunBy ? [record] : []));

export const likeKinds = (like: KindUnderTest['like']): readonly NamedKind[] =>
  KINDS.filter((kind) => kind.like === like);
