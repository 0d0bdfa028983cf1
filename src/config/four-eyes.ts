import { z } from 'zod';
import { FOUR_EYES_ACTIONS } from '../protocol/four-eyes.js';

/** `FOUR_EYES`: comma-separated actions, `mark-*` for all that begin so, or `none`. */
export const fourEyesActions = () =>
  z.string().transform((text, context): readonly string[] => {
    const entries = text.split(',').map((entry) => entry.trim());
    if (entries.length === 1 && entries[0] === 'none') return [];
    const actions = entries.flatMap((entry, index) => {
      const named = FOUR_EYES_ACTIONS.filter((action) =>
        entry.endsWith('*') ? action.startsWith(entry.slice(0, -1)) : action === entry,
      );
      if (named.length === 0) {
        context.addIssue(
          `must be "none" or actions of ${FOUR_EYES_ACTIONS.join(', ')}, and its entry ${index + 1} is not`,
        );
      }
      return named;
    });
    return [...new Set(actions)];
  });
