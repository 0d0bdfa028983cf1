import { z } from 'zod';
import { LIVE_OPERATIONS, type LiveOperation } from '../protocol/live-operations.js';

const PROFILES = ['interface', 'live'] as const;
type ServiceProfile = (typeof PROFILES)[number];

const isProfile = (text: string | undefined): text is ServiceProfile => PROFILES.some((one) => one === text);

/** `SERVICE_PROFILE`: one for all, or `operation=profile` pairs (the others are as the interface), or both. */
export const serviceProfile = () =>
  z.string().transform((text, context): readonly LiveOperation[] => {
    const entries = text.split(',').map((entry) => entry.split('=').map((part) => part.trim()));
    const forAll = entries.find((entry) => entry.length === 1)?.[0];
    const given = new Map<LiveOperation, ServiceProfile>();
    for (const [left, right] of entries) {
      const profile = right ?? left;
      const operation = right === undefined ? undefined : LIVE_OPERATIONS.find((name) => name === left);
      if (!isProfile(profile)) context.addIssue(`must say one of ${PROFILES.join(', ')}`);
      else if (right !== undefined && operation === undefined) {
        context.addIssue(
          `names no operation of the live service before one of its "=" (known: ${LIVE_OPERATIONS.join(', ')})`,
        );
      } else if (operation !== undefined) given.set(operation, profile);
    }
    return LIVE_OPERATIONS.filter((name) => (given.get(name) ?? forAll) === 'live');
  });
