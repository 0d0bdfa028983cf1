import type { Request, Result, Step } from '../../workflows/engine/known.js';
import { lifeOf } from './lives.js';
import type { Budget, Setting, World } from './world.js';

/** A state of the world, and how its moves are listed. */
export interface Here {
  readonly setting: Setting;
  readonly w: World;
  readonly request: Request;
  /** Happens if nothing goes wrong and nobody interferes. */
  readonly calm: (says: string, to: () => World) => void;
  /** May happen without anything going wrong. */
  readonly can: (says: string, to: () => World) => void;
  readonly fault: (says: string, to: () => World) => void;
  readonly finish: (step: Step, result: Result, next: World) => World;
}

export const less = (world: World, what: keyof Budget): World => ({
  ...world,
  left: { ...world.left, [what]: world.left[what] - 1 },
});

/** What the service does with one POST, and what it answers if that answer arrives. */
export function executed(
  setting: Setting,
  w: World,
): { post: World['post']; answer: 'accepted' | 'duplicate'; isOther: boolean } {
  const { post } = w;
  const { record } = post;
  // The service refuses to take the same money twice.
  if (record?.byOthers !== undefined) return { post, answer: 'duplicate', isOther: false };
  if (record === null) {
    const created = {
      ...post,
      record: { ours: true, word: lifeOf(setting.plan, w.at).begins, wasFailed: false },
      executions: post.executions + 1,
    };
    return { post: created, answer: 'accepted', isOther: false };
  }
  if (setting.repeat === 'same-result') return { post, answer: 'accepted', isOther: !record.ours };
  if (setting.repeat === 'rejected' || !record.ours) return { post, answer: 'duplicate', isOther: false };
  return { post: { ...post, executions: post.executions + 1 }, answer: 'accepted', isOther: false };
}

/** Two POSTs have left: DECLINED is of the second one. */
export const isOfCopy = ({ sends }: World['post']): boolean => sends > 1;
