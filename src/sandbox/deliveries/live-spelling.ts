import { liveNumber } from '../transactions/reference-numbers.js';

/**
 * "The same event may say `reference_id` or `referenceId`, and `reference_number` as "MP250101001" or a number"
 * (service-notes.md). `chance` decides. Pure.
 */
export function asLiveSpells(data: object, chance: number): object {
  const [referenceName, numberName] =
    chance < 0.5 ? ['reference_id', 'reference_number'] : ['referenceId', 'referenceNumber'];
  return Object.fromEntries(
    Object.entries(data).map(([member, value]: [string, unknown]) => {
      if (member === 'reference_id' || member === 'referenceId') return [referenceName, value];
      if (member !== 'reference_number' && member !== 'referenceNumber') return [member, value];
      return [numberName, chance < 0.75 && typeof value === 'number' ? liveNumber(value) : value];
    }),
  );
}
