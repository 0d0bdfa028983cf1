/** A settlement has one or two of them. */
const UNIT_BYTES = 4 * 1_024;

/** What an event without proof counts for in the limit of its address: nobody fills the disk with few large ones either. */
export const unitsOf = (raw: Uint8Array): number => Math.max(1, Math.ceil(raw.length / UNIT_BYTES));
