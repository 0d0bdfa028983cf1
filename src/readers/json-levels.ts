/** Of objects and lists within one another, in JSON from outside. Deeper JSON is unreadable: readers further inside recurse. */
export const MOST_LEVELS = 32;
