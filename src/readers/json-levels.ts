/**
 * Objects and lists within one another, of any JSON from outside. What is deeper is unreadable: each reader of it further
 * inside is recursive, and none of them would have to be asked how deep it goes.
 */
export const MOST_LEVELS = 32;
